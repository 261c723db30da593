package crossed

import (
	"fmt"
	"math/bits"

	"antipode/datasets/operation"

	"gonum.org/v1/gonum/stat/distuv"
)

// Residual is the name of the component that is not due to one factor or a pair of them.
const Residual = "residual"

// Component is a part of the variance of a design's values.
type Component struct {
	Name string `column:"component" help:"a column, a pair of columns (×), one in another (in), or residual"`
	// Variance is an unbiased estimate, which can be negative; its interval is at least 0, NaN without one.
	Variance operation.Estimate `column:"variance" unit:"the values', squared" range:"[0, ∞)"`
	Share    float64            `column:"share" range:"[0, 1]" help:"of the sum of all components"` // above 0
	Levels   int                `column:"n_levels" help:"different values, or pairs of values"`     // or rows: residual
}

func size(set int) int { return bits.OnesCount(uint(set)) }

// Components divides the variance of the values among the factors, the pairs of factors and the residual.
//
// Half the mean squared difference of two rows that share the levels of the factors S, and of no other, is the sum of
// all components but those of S and of its pairs. Where all combinations of levels have equally many rows, the
// estimates that follow are those of the analysis of variance. A component whose rows never share just its factors is
// not told from the residual and left out: a pair of factors of which no two rows share the levels, a factor whose
// levels all occur once.
//
// An interval is chi-square, of the component plus what the mean of one of its cells has of smaller ones, with as many
// degrees of freedom as the cells leave (Satterthwaite 1946). It treats the smaller components as known.
func (d *Design) Components(level float64) ([]Component, error) {
	mean := 0.0
	for _, v := range d.values {
		mean += v / float64(len(d.values))
	}
	squares, pairs := make([]float64, len(d.cells)), make([]float64, len(d.cells)) // of rows that share a set
	for set := range d.cells {
		first, second := d.sums(set, func(i int) float64 { return d.values[i] - mean }),
			d.sums(set, func(i int) float64 { return (d.values[i] - mean) * (d.values[i] - mean) })
		for cell, n := range d.rows(set) {
			squares[set] += (n*second[cell] - first[cell]*first[cell]) / 2
			pairs[set] += n * (n - 1) / 2
		}
	}
	exactly := func(set int) (half float64, n float64) { // of rows that share a set and no more
		for more := range d.cells {
			if more&set == set {
				sign := float64(1 - 2*(size(more&^set)%2))
				half, n = half+sign*squares[more], n+sign*pairs[more]
			}
		}
		return half / n, n
	}
	total, n := exactly(0)
	if n == 0 {
		return nil, fmt.Errorf("no two rows differ in all columns: %s; leave one of them out", d.name(len(d.cells)-1))
	}
	var sets []int
	var out []Component
	rest, free := total, float64(len(d.values)-1)
	degrees := map[int]float64{}
	for _, set := range d.sets() {
		half, n := exactly(d.closure(set))
		if n == 0 {
			continue
		}
		v, f := total-half, float64(d.counts[set]-1)
		for i, other := range sets {
			if other&d.closure(set) == other {
				v, f = v-out[i].Variance.Value, f-degrees[other]
			}
		}
		sets, out = append(sets, set), append(out, Component{Name: d.name(set), Levels: d.counts[set],
			Variance: operation.Exact(v)})
		degrees[set], rest, free = f, rest-v, free-f
	}
	for i, set := range sets {
		smaller := d.within(set, rest, nil)
		for k, other := range sets {
			if other != set && other&set == set {
				smaller += d.within(set, out[k].Variance.Value, d.cells[other])
			}
		}
		out[i].Variance = chiSquare(out[i].Variance.Value, smaller, degrees[set], level)
	}
	out = append(out, Component{Name: Residual, Variance: chiSquare(rest, 0, free, level), Levels: len(d.values)})
	sum := 0.0
	for i := range out {
		out[i].Share = max(out[i].Variance.Value, 0)
		sum += out[i].Share
	}
	for i := range out {
		out[i].Share /= sum
	}
	return out, nil
}

// within returns what a component has in the variance of the mean of a cell, on average over the cells of a set: it has
// one value in each of parts, or, without parts, one in each row.
func (d *Design) within(set int, variance float64, parts []int) (sum float64) {
	rows := d.rows(set)
	seen := map[int]float64{}
	for row, cell := range d.cells[set] { // Σ (n of the part)² = Σ over its rows of 2·(rows before) + 1
		part := row
		if parts != nil {
			part = parts[row]
		}
		sum += (2*seen[part] + 1) / (rows[cell] * rows[cell] * float64(len(rows)))
		seen[part]++
	}
	return max(variance, 0) * sum
}

// chiSquare returns a component, which is estimated together with smaller ones, with its interval.
func chiSquare(variance, smaller, free, level float64) operation.Estimate {
	out := operation.Exact(variance)
	if free >= 1 {
		of, together := distuv.ChiSquared{K: free}, max(variance+smaller, 0)*free
		out.Low = max(together/of.Quantile((1+level)/2)-smaller, 0)
		out.High = max(together/of.Quantile((1-level)/2)-smaller, 0)
	}
	return out
}
