package power

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Needed is the metric power-needed: from the table of [Curve], the smallest size from which on found is at least a power (0.8), for each audit, subject and share; n has no value where the largest size does
// not reach it. estimate is the mean at the largest size, n_largest. Rows of controls and families are left out. Nothing is interpolated: ask [Curve] for more sizes. Settings: [AtPower].
func Needed(curve datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("power-needed", curve, settings)
}

// AtPower is the share of draws in which a gap is to be found; 0.8 by default.
func AtPower(p float64) metrics.Setting { return tabular.Set("power", format(p)) }

func init() {
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: "power-needed", Title: "how many images per cell an audit needs to find a gap, from a power curve", Unit: "images per cell", Range: "[1, ∞)", Direction: "lower sees more", Citation: "package metrics/power"},
		Version: 1,
		Inputs:  []metrics.Input{{Role: "in", Columns: datasets.Columns("audit:text", "kind:text", "subject:text", "share:number", "n:number", "found:number", "planted:number", "estimate:number", "n_rows:number"), About: "what power gave, of one audit or several"}},
		Options: []metrics.Option{{Name: "power", Default: "0.8", About: "the share of draws in which the gap is to be found"}},
		Columns: tabular.Fixed("=audit", "=subject", "share", "planted", "estimate", "n", "n_rows", "n_largest", "power"),
		Compute: needed,
	})
}

func needed(_ context.Context, call metrics.Call) (*client.Frame, error) {
	power, err := tabular.Number(call, "power")
	if err != nil {
		return nil, err
	}
	if !(power > 0 && power <= 1) {
		return nil, fmt.Errorf("option power=%g: give a share above 0, at most 1", power)
	}
	f := call.Inputs["in"]
	type line struct {
		audit, subject string
		share          float64
	}
	var order []line
	rows := map[line][]int{}
	for i, kind := range f.Texts("kind") {
		if kind != "planted" && kind != "subject" {
			continue
		}
		l := line{f.Texts("audit")[i], f.Texts("subject")[i], f.Numbers("share")[i]}
		if rows[l] == nil {
			order = append(order, l)
		}
		rows[l] = append(rows[l], i)
	}
	n, found := f.Numbers("n"), f.Numbers("found")
	var out [][]any
	for _, l := range order {
		at := rows[l]
		slices.SortFunc(at, func(a, b int) int { return cmp.Compare(n[b], n[a]) }) // the largest first
		size, drawn, largest := math.NaN(), math.NaN(), at[0]
		for _, i := range at {
			if found[i] < power {
				break
			}
			size, drawn = n[i], f.Numbers("n_rows")[i]
		}
		out = append(out, []any{l.audit, l.subject, l.share, f.Numbers("planted")[largest], f.Numbers("estimate")[largest], size, drawn, n[largest], power})
	}
	return tabular.Result("power-needed", call, out)
}
