package significance

import (
	"context"
	"fmt"
	"math"
	"slices"

	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

func init() {
	rows := metrics.Input{Role: "in", About: "one row for each value (a picture's score, a label as 0 or 1, a rating), with a column of numbers and one that names its group"}
	value := metrics.Option{Name: "value", Default: "value", About: "the column of the values"}
	group := metrics.Option{Name: "group", Default: "group", About: "the column whose groups are compared"}
	unit := metrics.Option{Name: "unit", About: "the column of what is independent, for example prompt_id: its rows are averaged and resampled together; empty = every row"}
	against := metrics.Option{Name: "against", About: "the group that all others are compared with; empty = all pairs"}
	draws := func(n, about string) metrics.Option { return metrics.Option{Name: "draws", Default: n, About: about} }
	level := metrics.Option{Name: "level", Default: "0.95", About: "the intervals' nominal probability"}
	design := metrics.Option{Name: "design", Default: "independent", Values: []string{"independent", "paired"}, About: "groups of other units, or the same units in both"}
	alpha := metrics.Option{Name: "alpha", Default: "0.05", About: "the chance of a false finding"}
	register := func(m metrics.Metric, options ...metrics.Option) {
		m.Version, m.Options, m.Inputs = 1, options, []metrics.Input{rows}
		metrics.Register(m)
	}
	register(metrics.Metric{
		Info: metrics.Info{Name: "permutation-test", Title: "whether two groups' means differ by chance, with corrections for the family and effect sizes", Unit: "probability", Range: "(0, 1]", Direction: "lower is less like chance",
			Citation: "Fisher, The Design of Experiments, 1935; Holm 1979; Benjamini and Hochberg 1995"},
		Columns: columns("=group_a", "=group_b", "mean_a", "mean_b", "difference", "p", "p_holm", "p_bh", "cohens_d", "cliffs_delta", "n_a", "n_b", "n_left_out", "n_missing", "n_tests", "draws", "=exact", "=design", "=reason"),
		Compute: permutation,
	}, value, group, unit, design, against,
		draws("10000", "permutations where not all are looked at"))
	register(metrics.Metric{
		Info:    metrics.Info{Name: "effect-size", Title: "how large the difference of two groups is", Unit: "the values'; standard deviations; share", Range: "(-∞, ∞); h [-π, π]; delta [-1, 1]", Direction: "0 is no difference; ratio 1", Citation: "Cohen 1988; Cliff 1993"},
		Columns: columns("=group_a", "=group_b", "mean_a", "mean_b", "difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "cohens_d", "cohens_h", "cliffs_delta", "n_a", "n_b", "n_missing", "=interval"),
		Compute: effects,
	}, value, group, unit, against, draws("1000", "bootstrap draws of units; 0 = no intervals"), level)
	register(metrics.Metric{
		Info:    metrics.Info{Name: "smallest-gap", Title: "the smallest difference that these numbers of units can show", Unit: "the values'", Range: "[0, ∞)", Direction: "lower sees more", Citation: "Cohen 1988"},
		Columns: columns("=group_a", "=group_b", "difference", "gap", "=within", "sd", "share_b", "share_below", "share_above", "n_a", "n_b", "n_left_out", "n_missing", "alpha", "power", "=design"),
		Compute: gaps,
	}, value, group, unit, design, against, alpha, metrics.Option{Name: "power", Default: "0.8", About: "the chance of seeing a gap that is there"})
	register(metrics.Metric{
		Info:    metrics.Info{Name: "adjust-p", Title: "p-values corrected for the family of their tests", Unit: "probability", Range: "[0, 1]", Direction: "lower is less like chance", Citation: "Holm 1979; Benjamini and Hochberg 1995"},
		Compute: adjust,
	}, metrics.Option{Name: "p", Default: "p", About: "the column of the p-values"}, alpha)
	register(metrics.Metric{
		Info:    metrics.Info{Name: "clustered-mean", Title: "mean, or ratio of two sums, with an interval over whole units", Unit: "the values'", Range: "the values'", Direction: "none", Citation: "Efron and Tibshirani 1993"},
		Columns: columns("value", "value_low", "value_high", "n_rows", "n_units", "n_missing", "=interval"), Compute: clustered,
	}, value, metrics.Option{Name: "over", About: "the column of denominators: Σ value / Σ over; empty = the mean"}, unit, draws("2000", "bootstrap draws of units; 0 = no intervals"), level)
}

// columns are the grouping columns followed by others.
func columns(names ...string) func(metrics.Args) []client.ColumnSpec {
	return func(a metrics.Args) []client.ColumnSpec {
		var by []string
		for _, b := range a.By {
			by = append(by, "="+b)
		}
		return tabular.Specs(append(by, names...)...)
	}
}

// head starts a row with the grouping columns' values.
func head(by []string, values ...any) (out []any) {
	for _, b := range by {
		out = append(out, b)
	}
	return append(out, values...)
}

// less are the differences of pairs.
func less(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - y[i]
	}
	return out
}

func mean(x []float64) float64 { return sum(x) / float64(len(x)) }

// eachPair calls row with every pair of every part.
func eachPair(call metrics.Call, row func(by []string, a, b sample) error) error {
	parts, err := read(call)
	if err != nil {
		return err
	}
	for _, p := range parts {
		pairs, err := p.pairs(call.Options["against"])
		if err != nil {
			return err
		}
		for _, pair := range pairs {
			if err := row(p.by, pair[0], pair[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizes are Cohen's d and Cliff's delta, NaN where there are none.
func sizes(a, b []float64) (d, delta float64) {
	d, delta = math.NaN(), math.NaN()
	if x, err := CohensD(a, b); err == nil {
		d = x
	}
	if x, err := CliffsDelta(a, b); err == nil {
		delta = x
	}
	return d, delta
}

func permutation(ctx context.Context, call metrics.Call) (*client.Frame, error) {
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	paired, err := isPaired(call)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	var p []float64
	var tested []int
	err = eachPair(call, func(by []string, a, b sample) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		left := 0
		if paired {
			a, b, left = matched(a, b)
		}
		x, y := a.values(), b.values()
		d, delta := sizes(x, y)
		r, reason := Result{P: math.NaN()}, ""
		switch {
		case len(x) == 0 && len(y) == 0:
			reason = "no unit has a value in both groups"
		case len(x) == 0:
			reason = "no values of " + a.name
		case len(y) == 0:
			reason = "no values of " + b.name
		case paired:
			r, err = Paired(less(x, y), draws, uint64(call.Seed))
		default:
			r, err = Means(x, y, draws, uint64(call.Seed))
		}
		if err != nil {
			return err
		}
		exact := "no"
		if r.Exact {
			exact = "yes"
		}
		if reason == "" {
			p, tested = append(p, r.P), append(tested, len(rows))
		}
		rows = append(rows, head(by, a.name, b.name, mean(x), mean(y), mean(x)-mean(y), r.P, math.NaN(), math.NaN(), d, delta, len(x), len(y), left, a.missing+b.missing, 0, r.Draws, exact, call.Options["design"], reason))
		return nil
	})
	if err != nil {
		return nil, err
	}
	holm, bh, err := adjusted(p)
	if err != nil {
		return nil, err
	}
	first := len(call.By)
	for i, at := range tested {
		rows[at][first+6], rows[at][first+7], rows[at][first+14] = holm[i], bh[i], len(p)
	}
	return tabular.Result("permutation-test", call, rows)
}

// isPaired reads the option design.
func isPaired(call metrics.Call) (bool, error) {
	if call.Options["design"] == "paired" && call.Options["unit"] == "" {
		return false, fmt.Errorf("option design=paired: name the column of what is paired with the option unit, for example unit=prompt_id")
	}
	return call.Options["design"] == "paired", nil
}

func adjusted(p []float64) (holm, bh []float64, err error) {
	if holm, err = Holm(p); err != nil {
		return nil, nil, err
	}
	bh, err = BenjaminiHochberg(p)
	return holm, bh, err
}

// binary says whether all values are 0 or 1.
func binary(groups ...[]float64) bool {
	for _, g := range groups {
		if len(g) == 0 || slices.ContainsFunc(g, func(v float64) bool { return v != 0 && v != 1 }) {
			return false
		}
	}
	return true
}

// settings of the bootstrap; nil without draws.
func bootstrap(call metrics.Call) (*interval.Bootstrap, string, error) {
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, "", err
	}
	level, err := tabular.Number(call, "level")
	if err != nil {
		return nil, "", err
	}
	if !(level > 0 && level < 1) {
		return nil, "", fmt.Errorf("option level=%q: give a probability between 0 and 1", call.Options["level"])
	}
	if draws == 0 {
		return nil, "", nil
	}
	over := "rows"
	if u := call.Options["unit"]; u != "" {
		over = u
	}
	return &interval.Bootstrap{Seed: uint64(call.Seed), Count: max(2, draws), Level: level}, fmt.Sprintf("%.3g %% bootstrap interval over %s", 100*level, over), nil
}

func effects(_ context.Context, call metrics.Call) (*client.Frame, error) {
	boot, name, err := bootstrap(call)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	err = eachPair(call, func(by []string, a, b sample) error {
		x, y := a.values(), b.values()
		d, delta := sizes(x, y)
		h := math.NaN()
		if binary(x, y) {
			h = CohensH(mean(x), mean(y))
		}
		blank := math.NaN()
		difference, ratio := interval.Interval{Value: mean(x) - mean(y), Low: blank, High: blank}, interval.Interval{Value: mean(x) / mean(y), Low: blank, High: blank}
		if math.IsInf(ratio.Value, 0) {
			ratio.Value = blank
		}
		if boot != nil && len(x) > 1 && len(y) > 1 {
			parts, clusters := sums(a, b, call.Options["unit"] != "")
			if difference, err = interval.BootstrapOf(parts, clusters, func(s []float64) float64 { return s[0]/s[1] - s[2]/s[3] }, *boot); err != nil {
				return fmt.Errorf("%s%s, %s: %w", prefix(by), a.name, b.name, err)
			}
			if ratio, err = interval.BootstrapOf(parts, clusters, func(s []float64) float64 { return s[0] / s[1] / (s[2] / s[3]) }, *boot); err != nil {
				return fmt.Errorf("%s%s, %s: %w", prefix(by), a.name, b.name, err)
			}
		}
		rows = append(rows, head(by, a.name, b.name, mean(x), mean(y), difference.Value, difference.Low, difference.High, ratio.Value, ratio.Low, ratio.High, d, h, delta, len(x), len(y), a.missing+b.missing, name))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tabular.Result("effect-size", call, rows)
}

// sums are the rows behind two means: Σ a, number of a, Σ b, number of b; units that both groups have are one cluster.
func sums(a, b sample, named bool) (parts [][]float64, clusters []string) {
	parts = make([][]float64, 4)
	for side, s := range []sample{a, b} {
		for _, u := range s.units {
			row := []float64{0, 0, 0, 0}
			row[2*side], row[2*side+1] = u.value, 1
			for p := range parts {
				parts[p] = append(parts[p], row[p])
			}
			if named {
				clusters = append(clusters, u.name)
			}
		}
	}
	return parts, clusters
}

func gaps(_ context.Context, call metrics.Call) (*client.Frame, error) {
	alpha, err := tabular.Number(call, "alpha")
	if err != nil {
		return nil, err
	}
	power, err := tabular.Number(call, "power")
	if err != nil {
		return nil, err
	}
	if !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1) {
		return nil, fmt.Errorf("options alpha=%g and power=%g must lie between 0 and 1", alpha, power)
	}
	paired, err := isPaired(call)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	err = eachPair(call, func(by []string, a, b sample) error {
		left := 0
		if paired {
			a, b, left = matched(a, b)
		}
		x, y := a.values(), b.values()
		n, m := len(x), len(y)
		sd, gap, share, below, above, within := math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), ""
		if n > 0 && m > 0 && n+m > 2 {
			_, s1 := spread(x)
			_, s2 := spread(y)
			sd = math.Sqrt((s1 + s2) / float64(n+m-2))
			if paired { // of n pairs: as two groups of 2n, whose 1/2n + 1/2n is 1/n
				_, s := spread(less(x, y))
				sd, n, m = math.Sqrt(s/float64(n-1)), 2*n, 2*m
			}
			if gap = 0; sd > 0 { // where no value differs from its group's, any gap is seen
				if gap, err = SmallestMeanGap(sd, n, m, alpha, power); err != nil {
					return err
				}
			}
			if within = "no"; math.Abs(mean(x)-mean(y)) < gap {
				within = "yes"
			}
		}
		if binary(x, y) && !paired {
			share = mean(y)
			if below, above, err = SmallestShareGap(share, n, m, alpha, power); err != nil {
				return err
			}
		}
		rows = append(rows, head(by, a.name, b.name, mean(x)-mean(y), gap, within, sd, share, below, above, len(x), len(y), left, a.missing+b.missing, alpha, power, call.Options["design"]))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tabular.Result("smallest-gap", call, rows)
}
