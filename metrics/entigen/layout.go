package entigen

import (
	"context"
	"fmt"
	"math"
	"strconv"

	data "antipode/datasets/entigen"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// compared is a printed value with what the ratings, or labels by CLIP, give.
type compared struct {
	data.PrintedCell
	value  float64
	usable int
	equal  bool
	most   int // pictures that could have been usable
}

func compare(call metrics.Call) ([]compared, error) {
	by := map[string]map[key]*cell{"human": {}, "clip": {}}
	for judge, role := range map[string]string{"human": "in", "clip": "clip"} {
		if call.Inputs[role] == nil {
			continue
		}
		one := call
		one.Inputs = map[string]*client.Frame{"in": call.Inputs[role]}
		all, err := cells(one)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", role, err)
		}
		for _, c := range all {
			by[judge][c.key] = c
		}
	}
	both := call.Options["judges"] == "both"
	var out []compared
	for _, p := range data.PrintedTables() {
		if (p.Judge != "human" && !both) || (call.Options["table"] != "all" && call.Options["table"] != strconv.Itoa(p.Table)) {
			continue
		}
		k := key{p.Category, p.Prompt, p.Axis, p.Model}
		if p.Table == 3 {
			k.axis = data.PerceivedGender
			if p.Category == data.Culture {
				k.axis = data.PerceivedScene
			}
		}
		c := by[p.Judge][k]
		if c == nil && p.Judge == "clip" {
			out = append(out, compared{PrintedCell: p, value: math.NaN()})
			continue
		}
		if c == nil {
			return nil, fmt.Errorf("the rows hold no rating of %s, which the paper's Table %d reports", k, p.Table)
		}
		d := DiversityOf(c.counts)
		r := compared{PrintedCell: p, value: d.Value, usable: d.Usable, most: d.Asked}
		if p.Table == 3 {
			q, _ := good(c)
			r.value = q.Usable
		}
		printed, err := ParsePrinted(p.Text)
		if err != nil {
			return nil, err
		}
		r.equal = printed.Agrees(r.value)
		out = append(out, r)
	}
	return out, nil
}

func paperCells(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := compare(call)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, c := range all {
		equal := 0
		if c.equal {
			equal = 1
		}
		feasible := ""
		if printed, err := ParsePrinted(c.Text); err == nil && c.Table != 3 {
			feasible = "no"
			if _, ok := Feasible(printed, c.most); ok {
				feasible = "yes"
			}
		}
		out = append(out, []any{c.Table, c.Category, c.Prompt, c.Axis, c.Model, c.Text, c.value, c.usable, equal, feasible, call.Options["rule"]})
	}
	return result("entigen-cells", call, out)
}

// short are the models' names in the paper's table heads.
var short = map[string]string{data.MinDALLE: "minD", data.DALLEMini: "D-mini", data.SD: "SD"}

// layoutHeads are the columns of a table after prompt and what its sentence is about: axis, judge and model.
func layoutHeads(table string, both bool) (heads []string) {
	gender, skin := data.PerceivedGender, data.PerceivedSkin
	groups := map[string][][2]string{"1": {{gender, "human"}, {skin, "human"}}, "2": {{data.PerceivedScene, "human"}}, "3": {{"", "human"}}}
	groups["6"] = groups["1"]
	judged := groups[table]
	if both && (table == "1" || table == "6") {
		judged = append([][2]string{{gender, "clip"}}, judged...)
	}
	for _, g := range judged {
		for _, m := range []string{data.MinDALLE, data.DALLEMini, data.SD} {
			heads = append(heads, layoutHead(g[0], g[1], m))
		}
	}
	return heads
}

func layoutHead(axis, judge, model string) string {
	switch {
	case axis == "":
		return short[model]
	case judge == "clip":
		return axis + " (CLIP), " + short[model]
	}
	return axis + ", " + short[model]
}

func layoutColumns(args metrics.Args) []client.ColumnSpec {
	table := args.Options["table"]
	if table == "" {
		table = "1"
	}
	names := []string{"=prompt_id", "=kind"}
	if table == "3" {
		names = append([]string{"=category"}, names...)
	}
	for _, h := range layoutHeads(table, args.Options["judges"] == "both") {
		names = append(names, "="+h)
	}
	return noted(names...)
}

func layout(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := compare(call)
	if err != nil {
		return nil, err
	}
	decimals, err := tabular.Count(call, "decimals")
	if err != nil {
		return nil, err
	}
	specs := layoutColumns(metrics.Args{Options: call.Options})
	var out [][]any
	last := ""
	for _, c := range all {
		if row := c.Category + "/" + c.Prompt; row != last {
			last = row
			out = append(out, make([]any, len(specs)))
		}
		values := map[string]string{"category": c.Category, "prompt_id": c.Prompt, "kind": data.Kind(c.Prompt), "note": Note}
		text := rounded(c.value, decimals, call.Options["rounding"] == "cut")
		if !c.equal {
			text += " (printed " + c.Text + ")"
		}
		values[layoutHead(c.Axis, c.Judge, c.Model)] = text
		for i, spec := range specs {
			if v, known := values[spec.Name]; known {
				out[len(out)-1][i] = v
			}
		}
	}
	return tabular.Frame(specs, out)
}

// rounded is a value with so many decimals, rounded (ties to even digits, as Go prints) or cut.
func rounded(v float64, decimals int, cut bool) string {
	if math.IsNaN(v) {
		return "not available"
	}
	if cut {
		unit := math.Pow(10, float64(decimals))
		v = math.Trunc(v*unit+1e-9) / unit
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
