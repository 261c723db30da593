package entigen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Gaps is the metric entigen-gaps (Bansal et al., EMNLP 2022: 246 prompts of 9 pictures): of each prompt and model, n_used pictures in [0, ∞) of n_asked, n_refused, n_missing, and the gap in words.
// prompts is the table of [data.Prompts], a row for each picture asked for.
//
// Options: show (all prompts, or gaps alone).
func Gaps(pictures, prompts datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("entigen-gaps", map[string]datasets.Table{"in": pictures, "prompts": prompts}, settings)
}

func init() {
	columns := datasets.Columns("model:text", "category:text", "prompt_id:text", "attribute:text")
	other(metrics.Metric{Info: metrics.Info{Name: "entigen-gaps", Title: "pictures there are of those asked for, by prompt and model", Unit: "pictures", Range: "[0, ∞)", Direction: "none"},
		Inputs: []metrics.Input{{Role: "in", Columns: columns, About: "one row for each picture; also outcome (refused, failed and skipped rows hold none)"},
			{Role: "prompts", Columns: columns[1:], About: "one row for each picture asked for; also model, where they are asked of one model alone"}},
		Columns: tabular.Fixed("=model", "=category", "=prompt_id", "=attribute", "n_asked", "n_refused", "n_used", "n_missing", "=gap"), Compute: gaps}, "prompts and pictures",
		metrics.Option{Name: "show", Default: "all", About: "all prompts, or those with other than the pictures asked for", Values: []string{"all", "gaps"}})
}

func gaps(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f, asked := call.Inputs["in"], call.Inputs["prompts"]
	var models []string
	for _, m := range f.Texts("model") {
		if !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	type cell struct{ model, category, prompt, attribute string }
	type tally struct{ asked, refused, used int }
	by := map[cell]*tally{}
	var order []cell
	at := func(c cell) *tally {
		if by[c] == nil {
			by[c] = &tally{}
			order = append(order, c)
		}
		return by[c]
	}
	own := asked.Texts("model")
	for i, p := range asked.Texts("prompt_id") {
		of := models
		if own != nil && own[i] != "" {
			of = own[i : i+1]
		}
		for _, m := range of {
			at(cell{m, asked.Texts("category")[i], p, asked.Texts("attribute")[i]}).asked++
		}
	}
	slices.SortStableFunc(order, func(a, b cell) int { return strings.Compare(a.model, b.model) })
	outcomes := f.Texts("outcome")
	for i, p := range f.Texts("prompt_id") {
		t := at(cell{f.Texts("model")[i], f.Texts("category")[i], p, f.Texts("attribute")[i]})
		switch {
		case outcomes == nil || !slices.Contains(lost, outcomes[i]):
			t.used++
		case outcomes[i] == "refused":
			t.refused++
		}
	}
	var out [][]any
	for _, c := range order {
		t := by[c]
		gap := ""
		switch d := t.asked - t.used; {
		case t.asked == 0:
			gap = "not asked for"
		case d > 0:
			gap = fmt.Sprintf("%d missing", d)
		case d < 0:
			gap = fmt.Sprintf("%d too many", -d)
		}
		if gap == "" && call.Options["show"] == "gaps" {
			continue
		}
		out = append(out, []any{c.model, c.category, c.prompt, c.attribute, t.asked, t.refused, t.used, max(0, t.asked-t.used), gap})
	}
	return tabular.Result("entigen-gaps", call, out)
}
