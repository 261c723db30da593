package crossed

import (
	"math"
	"slices"

	"antipode/datasets/operation"
	"antipode/metrics/interval"
)

// Over says of what a gap's interval takes other values into account. A single level has no interval.
type Over struct {
	Name    string             `column:"over" help:"rows: other images and answers for the same values; a column: other values of it; all: of all columns"`
	Gap     operation.Estimate `column:"gap" unit:"the values'" help:"mean of the group − mean of the other groups' means"`
	Flagged bool               `column:"flagged" help:"the interval, which holds for all groups at once, excludes 0"`
	Same    float64            `column:"same_sign" range:"[0, 1]" help:"share of the column's values within which the gap has the same sign"` // NaN but for a factor
	Levels  int                `column:"n_levels" help:"values of the column; of all, the smallest number"`
}

// Names of the rows of [Design.Gaps] that are not factors.
const (
	Rows = "rows" // other rows alone: every level could be had again
	All  = "all"  // other levels of all factors
)

// Gaps compares the mean of each group, a level of the first factor, with the mean of the other groups' means. The
// first result takes the rows for a sample, each of the next ones the levels of another factor, and the last one those
// of all other factors, by the variance of sums within clusters; with few levels the quantile is that of Student's
// distribution with one degree of freedom fewer than levels. Intervals hold for all groups at once (Šidák).
//
// A gap has no interval, and is not flagged, where one group has a single row, and over factors of which every group
// has one level. If some groups do, the interval over that factor is at least that over rows.
//
// The result has for each group, in the order in which they occur, its row for each way.
func (d *Design) Gaps(level float64) [][]Over {
	groups, counts := d.cells[1], d.rows(1)
	sums := d.sums(1, func(row int) float64 { return d.values[row] })
	n := float64(len(counts))
	level = math.Pow(level, 1/n)
	out := make([][]Over, len(counts))
	for g := range out {
		weight := func(group int) float64 {
			if group == g {
				return 1
			}
			return -1 / (n - 1)
		}
		gap := 0.0
		for k, sum := range sums {
			gap += weight(k) * sum / counts[k]
		}
		influence := func(row int) float64 {
			k := groups[row]
			return weight(k) * (d.values[row] - sums[k]/counts[k]) / counts[k]
		}
		add := func(name string, levels int, variance, same float64) {
			o := Over{Name: name, Gap: operation.Exact(gap), Same: same, Levels: levels}
			if levels > 1 && !slices.Contains(counts, 1) {
				half := interval.Student(level, float64(levels-1)) * math.Sqrt(variance)
				o.Gap.Low, o.Gap.High, o.Flagged = gap-half, gap+half, math.Abs(gap) > half
			}
			out[g] = append(out[g], o)
		}
		squares, rows := 0.0, float64(len(d.values))
		for row := range d.values {
			squares += influence(row) * influence(row)
		}
		squares *= rows / (rows - 1)
		most, all, least := squares, 0.0, len(d.values)
		add(Rows, least, most, math.NaN())
		for set := 2; set < len(d.cells); set += 2 {
			v, clusters := 0.0, float64(d.counts[set])
			for _, s := range d.sums(set, influence) {
				v += s * s * clusters / (clusters - 1)
			}
			all += v * float64(2*(size(set)%2)-1)
			if size(set) > 1 {
				continue
			}
			if d.closure(1)&set != 0 {
				v = math.NaN() // nothing tells the levels from the groups
			} else if slices.Contains(d.perGroup(set), 1) {
				v = max(v, squares)
			}
			most, least = max(most, v), min(least, d.counts[set])
			add(d.name(set), d.counts[set], v, d.same(set, weight, gap))
		}
		if len(d.factors) > 2 {
			add(All, least, max(most, all), math.NaN())
		}
	}
	return out
}

// perGroup returns the number of a factor's levels that each group has.
func (d *Design) perGroup(set int) []int {
	out, seen := make([]int, d.counts[1]), make([]bool, d.counts[set|1])
	for row, cell := range d.cells[set|1] {
		if !seen[cell] {
			seen[cell] = true
			out[d.cells[1][row]]++
		}
	}
	return out
}

// same returns the share of a factor's levels in which a gap has the sign that it has altogether.
func (d *Design) same(set int, weight func(group int) float64, gap float64) float64 {
	groups := make([]int, d.counts[set|1])
	levels := make([]int, d.counts[set|1])
	for row, cell := range d.cells[set|1] {
		groups[cell], levels[cell] = d.cells[1][row], d.cells[set][row]
	}
	rows := d.rows(set | 1)
	gaps, there := make([]float64, d.counts[set]), make([]int, d.counts[set])
	for cell, sum := range d.sums(set|1, func(row int) float64 { return d.values[row] }) {
		gaps[levels[cell]] += weight(groups[cell]) * sum / rows[cell]
		there[levels[cell]]++
	}
	same, complete := 0.0, 0.0
	for k, x := range gaps {
		if there[k] == d.counts[1] {
			complete++
			if x*gap > 0 {
				same++
			}
		}
	}
	return same / complete
}
