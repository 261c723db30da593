package crossed

import (
	"fmt"
	"slices"
)

// Factor divides the rows of a [Design] by their levels.
type Factor struct {
	Name   string
	Levels []string // of each row
}

// Design is values with the levels of their factors. A set of factors is a bit mask; the rows that have the same levels
// of all factors of a set are one of its cells.
type Design struct {
	values  []float64
	factors []Factor
	cells   [][]int // of each set: the cell of each row, from 0
	counts  []int   // of each set: the number of cells
}

// Len returns the number of values.
func (d *Design) Len() int { return len(d.values) }

// MostFactors is the largest number of factors of a design, which has 2^n sets of them.
const MostFactors = 6

// NewDesign returns a design of finite values. A factor that has one level is an error, and so are two that divide the
// rows in the same way.
func NewDesign(values []float64, factors ...Factor) (*Design, error) {
	if len(factors) > MostFactors {
		return nil, fmt.Errorf("%d factors are too many; name at most %d", len(factors), MostFactors)
	}
	d := &Design{values: values, factors: factors, cells: make([][]int, 1<<len(factors)),
		counts: make([]int, 1<<len(factors))}
	d.cells[0], d.counts[0] = make([]int, len(values)), 1
	for i, f := range factors {
		if len(f.Levels) != len(values) {
			return nil, fmt.Errorf("%d levels of %s for %d values", len(f.Levels), f.Name, len(values))
		}
		for set := range 1 << i {
			d.cells[set|1<<i], d.counts[set|1<<i] = divide(d.cells[set], f.Levels)
		}
		if d.counts[1<<i] < 2 {
			return nil, fmt.Errorf("%s has fewer than two values: nothing can be said about other ones; leave it out",
				f.Name)
		}
		for k := range i {
			if n := d.counts[1<<i|1<<k]; n == d.counts[1<<i] && n == d.counts[1<<k] {
				return nil, fmt.Errorf("%s and %s divide the rows in the same way; name one of them", factors[k].Name,
					f.Name)
			}
		}
	}
	return d, nil
}

// divide divides the rows of each cell by their levels.
func divide(cells []int, levels []string) (out []int, n int) {
	type key struct {
		cell  int
		level string
	}
	known := map[key]int{}
	out = make([]int, len(cells))
	for row, cell := range cells {
		k := key{cell, levels[row]}
		at, ok := known[k]
		if !ok {
			at = len(known)
			known[k] = at
		}
		out[row] = at
	}
	return out, len(known)
}

// closure returns the set with all factors that have one level in each of its cells.
func (d *Design) closure(set int) int {
	for i := range d.factors {
		if d.counts[set|1<<i] == d.counts[set] {
			set |= 1 << i
		}
	}
	return set
}

// sums adds up a value of each row by the cells of a set.
func (d *Design) sums(set int, of func(row int) float64) []float64 {
	out := make([]float64, d.counts[set])
	for row, cell := range d.cells[set] {
		out[cell] += of(row)
	}
	return out
}

// rows returns the number of rows in each cell of a set.
func (d *Design) rows(set int) []float64 { return d.sums(set, func(int) float64 { return 1 }) }

// name names a set: "template × seed", or "seed in template" of a factor that is nested in another one.
func (d *Design) name(set int) string {
	out, separator := "", ""
	for i, f := range d.factors {
		if set&(1<<i) != 0 {
			out, separator = out+separator+f.Name, " × "
		}
	}
	if set&(set-1) == 0 {
		for i, f := range d.factors {
			if set&(1<<i) == 0 && d.closure(set)&(1<<i) != 0 {
				out += " in " + f.Name
			}
		}
	}
	return out
}

// sets returns the factors, and the pairs of them that are not nested in each other, those with fewer factors in their
// closures first.
func (d *Design) sets() (out []int) {
	for i := range d.factors {
		out = append(out, 1<<i)
	}
	for i := range d.factors {
		for k := range i {
			pair := 1<<i | 1<<k
			if d.counts[pair] > max(d.counts[1<<i], d.counts[1<<k]) {
				out = append(out, pair)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return size(d.closure(a)) - size(d.closure(b)) })
	return out
}
