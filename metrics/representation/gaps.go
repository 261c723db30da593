package representation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// GapOptions are the options of [Gaps].
type GapOptions struct {
	Show string `json:"show" default:"all" values:"all,gaps" help:"all prompts, or those with missing or extra images"`
}

// Gaps is the table operation entigen-gaps (Bansal et al., EMNLP 2022: 246 prompts of 9 images): for each prompt and
// model the images requested (n_asked), refused, available (n_used) and missing. prompts is the table of
// [data.Prompts], a row for each requested image.
func Gaps(images, prompts datasets.Table, options ...GapOptions) datasets.Table {
	return gaps.Table(map[string]datasets.Table{"in": images, "prompts": prompts}, options...)
}

type gapRow struct {
	Model     string `column:"model"`
	Category  string `column:"category"`
	Prompt    string `column:"prompt_id"`
	Attribute string `column:"attribute"`
	Asked     int    `column:"n_asked" unit:"images"`
	Refused   int    `column:"n_refused" unit:"images"`
	Used      int    `column:"n_used" unit:"images"`
	Missing   int    `column:"n_missing" unit:"images"`
	Gap       string `column:"gap"`
}

var gaps = listing(2, metrics.Definition[GapOptions, gapRow]{
	Name: "entigen-gaps", Title: "images available of those requested, by prompt and model",
	Citation: "prompts and images",
	Inputs: []metrics.Input{
		{Role: "in", Columns: columnsOf("model:text category:text prompt_id:text attribute:text"),
			About: "a row for each image, with outcome"},
		{Role: "prompts", Columns: columnsOf("category:text prompt_id:text attribute:text"),
			About: "a row for each requested image, with model if only one model is to generate it"}},
	Compute: func(_ context.Context, call *metrics.Call, o GapOptions) ([]gapRow, error) {
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
		if len(order) == 0 && asked.Len() > 0 {
			call.Notef("the table of images is empty: no image says which model was asked")
		}
		slices.SortStableFunc(order, func(a, b cell) int { return strings.Compare(a.model, b.model) })
		for i, p := range f.Texts("prompt_id") {
			t := at(cell{f.Texts("model")[i], f.Texts("category")[i], p, f.Texts("attribute")[i]})
			switch {
			case tabular.Outcome(f, i) == "":
				t.used++
			case f.Texts("outcome")[i] == "refused":
				t.refused++
			}
		}
		var out []gapRow
		for _, c := range order {
			t := by[c]
			gap := ""
			switch d := t.asked - t.used; {
			case t.asked == 0:
				gap = "not requested"
			case d > 0:
				gap = fmt.Sprintf("%d missing", d)
			case d < 0:
				gap = fmt.Sprintf("%d too many", -d)
			}
			if gap == "" && o.Show == "gaps" {
				continue
			}
			out = append(out, gapRow{c.model, c.category, c.prompt, c.attribute, t.asked, t.refused, t.used,
				max(0, t.asked-t.used), gap})
		}
		return out, nil
	},
})
