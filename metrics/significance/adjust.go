package significance

import (
	"context"
	"fmt"
	"math"

	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

func adjust(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	c, err := f.Need(call.Options["p"], client.Number)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	alpha, err := tabular.Number(call, "alpha")
	if err != nil {
		return nil, err
	}
	split, heads, err := splits(call)
	if err != nil {
		return nil, err
	}
	families := make([][]int, len(heads))
	for row, v := range c.Numbers {
		switch {
		case math.IsNaN(v):
		case v < 0 || v > 1:
			return nil, client.BadRow{Row: row + 1, ID: idOf(f, row), Column: c.Name, Reason: fmt.Sprintf("%g is no probability", v)}
		default:
			families[split[row]] = append(families[split[row]], row)
		}
	}
	holm, bh, tests := make([]float64, f.Len()), make([]float64, f.Len()), make([]float64, f.Len())
	for i := range holm {
		holm[i], bh[i] = math.NaN(), math.NaN()
	}
	for _, family := range families {
		p := make([]float64, len(family))
		for i, row := range family {
			p[i] = c.Numbers[row]
		}
		h, b, err := adjusted(p)
		if err != nil {
			return nil, err
		}
		for i, row := range family {
			holm[row], bh[row], tests[row] = h[i], b[i], float64(len(family))
		}
	}
	found := func(p []float64) []string {
		out := make([]string, len(p))
		for i, v := range p {
			switch {
			case v <= alpha:
				out[i] = "yes"
			case v > alpha:
				out[i] = "no"
			}
		}
		return out
	}
	return f.With(client.NumberColumn("p_holm", holm), client.NumberColumn("p_bh", bh), client.TextColumn("found_holm", found(holm)), client.TextColumn("found_bh", found(bh)),
		client.NumberColumn("n_tests", tests)), nil
}

func clustered(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	if err := distinct(f); err != nil {
		return nil, err
	}
	boot, name, err := bootstrap(call)
	if err != nil {
		return nil, err
	}
	c, err := f.Need(call.Options["value"], client.Number)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	var over *client.Column
	if o := call.Options["over"]; o != "" {
		if over, err = f.Need(o, client.Number); err != nil {
			return nil, fmt.Errorf("table %q: %w", "in", err)
		}
	}
	var units []string
	if u := call.Options["unit"]; u != "" {
		if units, err = column(f, u); err != nil {
			return nil, err
		}
	}
	split, heads, err := splits(call)
	if err != nil {
		return nil, err
	}
	type totals struct {
		values, over []float64
		units        []string
		missing      int
	}
	groups := make([]totals, len(heads))
	for row := range f.Len() {
		g := &groups[split[row]]
		v, err := number(f, c, row)
		if err != nil {
			return nil, err
		}
		by := 1.
		if over != nil {
			if by, err = number(f, over, row); err != nil {
				return nil, err
			}
		}
		if math.IsNaN(v) || math.IsNaN(by) {
			g.missing++
			continue
		}
		g.values, g.over = append(g.values, v), append(g.over, by)
		if units != nil {
			g.units = append(g.units, units[row])
		}
	}
	var rows [][]any
	for i, g := range groups {
		n := len(g.values)
		if units != nil {
			known := map[string]bool{}
			for _, u := range g.units {
				known[u] = true
			}
			n = len(known)
		}
		v := interval.Interval{Value: sum(g.values) / sum(g.over), Low: math.NaN(), High: math.NaN()}
		if math.IsInf(v.Value, 0) {
			v.Value = math.NaN()
		}
		if boot != nil && n > 1 {
			if v, err = interval.BootstrapRatio(g.values, g.over, g.units, *boot); err != nil {
				return nil, fmt.Errorf("%s%w", prefix(heads[i]), err)
			}
		}
		rows = append(rows, head(heads[i], v.Value, v.Low, v.High, len(g.values), n, g.missing, name))
	}
	return tabular.Result("clustered-mean", call, rows)
}
