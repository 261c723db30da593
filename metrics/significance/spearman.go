package significance

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// Spearman returns the rank correlation of two scores of the same units, in [−1, 1]: the Pearson correlation of their
// ranks, where equal values have the mean of their ranks (Spearman 1904). It is NaN if all values of a score are equal.
//
// Errors: scores of different length, fewer than two units, a value that is NaN or infinite.
func Spearman(x, y []float64) (float64, error) {
	if len(x) != len(y) {
		return 0, fmt.Errorf("significance: %d and %d values for the same units", len(x), len(y))
	}
	if len(x) < 2 {
		return 0, fmt.Errorf("significance: %d units; a correlation needs two or more", len(x))
	}
	for i, v := range [][]float64{x, y} {
		if err := finite(v, []string{"the first score", "the second score"}[i]); err != nil {
			return 0, err
		}
	}
	return spearman(x, y), nil
}

func spearman(x, y []float64) float64 {
	a, b := ranks(x), ranks(y)
	center := float64(len(x)+1) / 2
	var xy, xx, yy float64
	for i := range a {
		dx, dy := a[i]-center, b[i]-center
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return max(-1, min(1, xy/math.Sqrt(xx*yy))) // NaN remains
}

// ranks returns the rank of each value, from 1; equal values have the mean of their ranks.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return out
}

// CorrelationOptions are the options of [RankCorrelation].
type CorrelationOptions struct {
	X  string   `json:"x,omitempty" required:"true" help:"number column of the one score"`
	Y  string   `json:"y,omitempty" required:"true" help:"number column of the other"`
	By []string `json:"by,omitempty" help:"text columns that split the table"`
	metrics.Intervals
}

// correlationRow is a row of [RankCorrelation].
type correlationRow struct {
	Split    metrics.Group
	X        string           `column:"x"`
	Y        string           `column:"y"`
	Spearman metrics.Estimate `column:"spearman" range:"[-1, 1]"`
	N        int              `column:"n" unit:"rows"`
	Missing  int              `column:"n_missing" unit:"rows" help:"rows without one of the two values"`
	Reason   string           `column:"reason" help:"why there is no correlation"`
	Interval string           `column:"interval"`
}

var rankCorrelation = metrics.Define(metrics.Definition[CorrelationOptions, correlationRow]{
	Name: "rank-correlation", Title: "whether two scores rank the rows alike", Version: 2, Unit: "rank correlation",
	Range: "[-1, 1]", Direction: "1 is the same order, -1 the reverse, 0 none",
	Citation: "Spearman, American Journal of Psychology 15, 1904",
	Inputs:   []metrics.Input{{Role: "in", About: "a row for each unit (an image, a region) with both scores"}},
	Compute:  correlation,
})

// RankCorrelation is the metric rank-correlation: [Spearman] of two number columns with a bootstrap interval over rows.
// Rows without one of the two values are left out and counted. Where all values of a score are equal, or fewer than two
// rows are left, there is no correlation and a reason; with fewer than four rows there is no interval.
func RankCorrelation(t datasets.Table, options ...CorrelationOptions) datasets.Table {
	return rankCorrelation.Of(t, options...)
}

func correlation(ctx context.Context, call *metrics.Call, o CorrelationOptions) (out []correlationRow, err error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	a, b, splits := finiteNumbers(in, o.X), finiteNumbers(in, o.Y), in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	for _, split := range splits {
		row := correlationRow{Split: split.By, X: o.X, Y: o.Y, Spearman: metrics.Exact(math.NaN())}
		var x, y []float64
		for _, i := range split.Rows {
			if math.IsNaN(a[i]) || math.IsNaN(b[i]) {
				row.Missing++
				continue
			}
			x, y = append(x, a[i]), append(y, b[i])
		}
		if row.N = len(x); row.N < 2 {
			row.Reason = "fewer than two rows have both values"
		} else if row.Spearman.Value = spearman(x, y); math.IsNaN(row.Spearman.Value) {
			row.Reason = "all values of a score are equal"
		} else if row.N > 3 && o.Resamples > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s := &row.Spearman
			if s.Low, s.High, err = spearmanInterval(s.Value, x, y, o.Intervals); err != nil {
				return nil, err
			}
			row.Interval = o.Label("rows")
		}
		out = append(out, row)
	}
	return out, nil
}

// spearmanInterval returns the interval of the correlation over resamples of the rows; it overwrites x and y. Resamples
// in which all values of a score are equal are left out. The rows' order does not matter.
func spearmanInterval(value float64, x, y []float64, o metrics.Intervals) (low, high float64, err error) {
	pairs := make([][2]float64, len(x))
	for i := range x {
		pairs[i] = [2]float64{x[i], y[i]}
	}
	slices.SortFunc(pairs, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	boot, err := interval.NewBootstrap(o.Bootstrap("rank correlation"), len(pairs))
	if err != nil {
		return 0, 0, err
	}
	low, high = boot.Of(value, func(units []int) float64 {
		for i, u := range units {
			x[i], y[i] = pairs[u][0], pairs[u][1]
		}
		return spearman(x, y)
	})
	return low, high, nil
}
