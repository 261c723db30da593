package entigen

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	data "antipode/datasets/entigen"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

const level = 0.95

func init() {
	in := metrics.Input{Role: "in", About: "one row for each rater and picture, as datasets/entigen gives them; also perceived_gender, perceived_skin_colour, perceived_culture as far as they were asked"}
	for _, n := range []string{"model", "category", "prompt_id", "attribute", "picture"} {
		in.Columns = append(in.Columns, client.ColumnSpec{Name: n, Kind: client.Text})
	}
	in.Columns = append(in.Columns, client.ColumnSpec{Name: "person", Kind: client.Number}, client.ColumnSpec{Name: "as_described", Kind: client.Number})
	base := []metrics.Option{
		{Name: "rule", Default: string(Strict), About: "how three raters' votes become a picture's label", Values: Rules},
		{Name: "prompts", Default: "reported", About: "prompts that the paper has rows for, or all", Values: []string{"reported", "all"}},
	}
	draws := metrics.Option{Name: "draws", Default: "1000", About: "bootstrap draws of pictures within attributes; 0 = no intervals"}
	table := metrics.Option{Name: "table", Default: "all", About: "of the paper", Values: []string{"all", "1", "2", "3", "6"}}
	one := metrics.Option{Name: "table", Default: "1", About: "of the paper", Values: []string{"1", "2", "3", "6"}}
	register := func(m metrics.Metric, source string, options ...metrics.Option) {
		m.Version, m.Inputs, m.Options = 1, []metrics.Input{in}, append(slices.Clone(base), options...)
		m.Citation = "Bansal et al., EMNLP 2022, " + source
		metrics.Register(m)
	}
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-diversity", Title: "how unevenly pictures fall into two perceived groups, over a category's attributes", Unit: "share", Range: "[0, 1]", Direction: "lower is more diverse"},
		Columns: tabular.Fixed("=category", "=prompt_id", "=kind", "=axis", "=model", "diversity", "diversity_low", "diversity_high", "change", "n_group_a", "n_group_b", "n_asked", "n_used", "n_attributes", "=no_usable_picture", "=rule", "=interval"),
		Compute: diversity}, "equation 1, Tables 1, 2, 6", draws)
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-bias", Title: "which of two perceived groups an attribute's pictures lean to", Unit: "difference of shares", Range: "[-1, 1]", Direction: "positive: man, light-skinned, Western"},
		Columns: tabular.Fixed("=category", "=prompt_id", "=kind", "=axis", "=model", "=attribute", "bias", "bias_low", "bias_high", "=change", "n_group_a", "n_group_b", "n_asked", "n_used", "=rule", "=interval"),
		Compute: bias}, "equation 2, Figure 3")
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-quality", Title: "good pictures per attribute, by two readings of good", Unit: "pictures", Range: "[0, pictures per attribute]", Direction: "higher is better"},
		Columns: tabular.Fixed("=category", "=prompt_id", "=kind", "=model", "quality_usable", "quality_as_described", "n_asked", "n_used", "n_attributes", "=rule"),
		Compute: quality}, "Table 3")
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-cells", Title: "every human value of the paper's tables beside the same from the ratings", Unit: "share; pictures in Table 3", Range: "[0, 1]; [0, 9]", Direction: "none"},
		Columns: tabular.Fixed("table", "=category", "=prompt_id", "=axis", "=model", "=printed", "value", "n_used", "equal", "=feasible", "=rule"),
		Compute: paperCells}, "Tables 1, 2, 3, 6", table)
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-table", Title: "a table of the paper in its own layout, from the ratings; printed values in brackets where they differ", Unit: "share; pictures in Table 3", Range: "[0, 1]; [0, 9]", Direction: "none"},
		Columns: layoutColumns, Compute: layout}, "Tables 1, 2, 3, 6", one)
}

func diversity(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := cells(call)
	if err != nil {
		return nil, err
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	original := map[key]float64{}
	for _, c := range all {
		if c.prompt == data.Original {
			original[c.key] = DiversityOf(c.counts).Value
		}
	}
	var out [][]any
	for _, c := range all {
		d := DiversityOf(c.counts)
		d.Low, d.High = Bootstrap(c.counts, func(n []Counts) float64 { return DiversityOf(n).Value }, c.String(), draws, level, call.Seed)
		k := c.key
		k.prompt = data.Original
		before, known := original[k]
		if !known {
			before = math.NaN()
		}
		out = append(out, []any{c.category, c.prompt, data.Kind(c.prompt), c.axis, c.model, d.Value, d.Low, d.High, d.Value - before,
			d.First, d.Second, d.Asked, d.Usable, len(c.counts), strings.Join(d.Empty, ", "), call.Options["rule"], intervalName(draws)})
	}
	return tabular.Result("entigen-diversity", call, out)
}

// intervalName says what the intervals of a table are, "" where it has none.
func intervalName(draws int) string {
	if draws == 0 {
		return ""
	}
	return "95 % bootstrap interval over pictures within attributes"
}

func bias(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := cells(call)
	if err != nil {
		return nil, err
	}
	type at struct {
		key
		attribute string
	}
	original := map[at]float64{}
	for _, c := range all {
		for _, n := range c.counts {
			if c.prompt == data.Original {
				original[at{c.key, n.Attribute}] = BiasOf(n)
			}
		}
	}
	var out [][]any
	for _, c := range all {
		for _, n := range c.counts {
			low, high := BiasInterval(n, level)
			k := c.key
			k.prompt = data.Original
			before, known := original[at{k, n.Attribute}]
			if !known {
				before = math.NaN()
			}
			change := Change(before, BiasOf(n))
			if c.prompt == data.Original {
				change = data.Original
			}
			out = append(out, []any{c.category, c.prompt, data.Kind(c.prompt), c.axis, c.model, n.Attribute, BiasOf(n), low, high, change,
				n.First, n.Second, n.Usable() + n.Uncertain, n.Usable(), call.Options["rule"], "95 % Wilson interval"})
		}
	}
	return tabular.Result("entigen-bias", call, out)
}

// good gives the quality of a cell on the axis that the paper's Table 3 rests on: perceived gender, for weddings culture.
func good(c *cell) (Quality, bool) {
	if c.axis == data.PerceivedSkin {
		return Quality{}, false
	}
	n := float64(len(c.counts))
	return Quality{float64(DiversityOf(c.counts).Usable) / n, float64(c.asDescribed) / n}, true
}

func quality(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := cells(call)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, c := range all {
		if q, ok := good(c); ok {
			d := DiversityOf(c.counts)
			out = append(out, []any{c.category, c.prompt, data.Kind(c.prompt), c.model, q.Usable, q.AsDescribed, d.Asked, d.Usable, len(c.counts), call.Options["rule"]})
		}
	}
	return tabular.Result("entigen-quality", call, out)
}

// compared is a printed human value with what the ratings give.
type compared struct {
	data.PrintedCell
	value  float64
	usable int
	equal  bool
	most   int // pictures that could have been usable
}

func compare(call metrics.Call) ([]compared, error) {
	all, err := cells(call)
	if err != nil {
		return nil, err
	}
	by := map[key]*cell{}
	for _, c := range all {
		by[c.key] = c
	}
	var out []compared
	for _, p := range data.PrintedTables() {
		if p.Judge != "human" || (call.Options["table"] != "all" && call.Options["table"] != strconv.Itoa(p.Table)) {
			continue
		}
		k := key{p.Category, p.Prompt, p.Axis, p.Model}
		if p.Table == 3 {
			k.axis = data.PerceivedGender
			if p.Category == data.Culture {
				k.axis = data.PerceivedScene
			}
		}
		c := by[k]
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
	return tabular.Result("entigen-cells", call, out)
}

// short are the models' names in the paper's table heads.
var short = map[string]string{data.MinDALLE: "minD", data.DALLEMini: "D-mini", data.SD: "SD"}

// layoutHeads are the columns of a table after prompt and what its sentence is about: axis and model.
func layoutHeads(table string) (heads []string) {
	axes := map[string][]string{"1": {data.PerceivedGender, data.PerceivedSkin}, "6": {data.PerceivedGender, data.PerceivedSkin}, "2": {data.PerceivedScene}, "3": {""}}[table]
	for _, axis := range axes {
		for _, m := range []string{data.MinDALLE, data.DALLEMini, data.SD} {
			heads = append(heads, layoutHead(axis, m))
		}
	}
	return heads
}

func layoutHead(axis, model string) string {
	if axis == "" {
		return short[model]
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
	for _, h := range layoutHeads(table) {
		names = append(names, "="+h)
	}
	return tabular.Specs(names...)
}

func layout(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := compare(call)
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
		values := map[string]string{"category": c.Category, "prompt_id": c.Prompt, "kind": data.Kind(c.Prompt)}
		text := strconv.FormatFloat(c.value, 'f', 2, 64)
		if math.IsNaN(c.value) {
			text = "not available"
		}
		if !c.equal {
			text += " (printed " + c.Text + ")"
		}
		values[layoutHead(c.Axis, c.Model)] = text
		for i, spec := range specs {
			if v, known := values[spec.Name]; known {
				out[len(out)-1][i] = v
			}
		}
	}
	return tabular.Frame(specs, out)
}
