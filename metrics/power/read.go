package power

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/chain"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/significance"
)

// results reads an audit's result.
func (o Options) results(f *table.Frame) ([]Result, error) {
	subjects, err := chain.Subjects(f, o.Subject)
	if err != nil {
		return nil, fmt.Errorf("the audit's result: %w", err)
	}
	low, high := o.Value+"_low", o.Value+"_high"
	needed := []string{o.Value, low, high}
	if o.P != "" {
		needed = []string{o.Value, o.P}
	}
	values := map[string][]float64{}
	for _, name := range []string{o.Value, low, high, o.P} {
		c, err := f.Need(name, table.KindNumber)
		switch {
		case err == nil:
			values[name] = c.Numbers
		case slices.Contains(needed, name):
			return nil, fmt.Errorf("the audit's result: %w", err)
		default:
			values[name] = slices.Repeat([]float64{math.NaN()}, f.Len())
		}
	}
	out, seen := make([]Result, f.Len()), map[string]bool{}
	for i, s := range subjects {
		if seen[s] {
			return nil, fmt.Errorf("the audit's result has two rows for %q: name more columns in the option "+
				"subject (%s)", s, table.NameList(f.Specs()))
		}
		seen[s] = true
		out[i] = Result{Subject: s, Estimate: values[o.Value][i], Low: values[low][i], High: values[high][i],
			P: math.NaN()}
		if o.P == "" { // comparisons with NaN are false
			out[i].Found = o.counts(out[i].Estimate) && (out[i].High < o.Null || out[i].Low > o.Null)
		}
	}
	if o.P == "" {
		return out, nil
	}
	return out, o.test(out, values[o.P])
}

// counts reports whether an estimate is on the requested side of Null and at least Least from it.
func (o Options) counts(e float64) bool {
	return (e < o.Null && o.Sign != "above" || e > o.Null && o.Sign != "below") && math.Abs(e-o.Null) >= o.Least
}

// test marks findings by their p-values, corrected over all rows that have one.
func (o Options) test(out []Result, p []float64) error {
	var tested []int
	var family []float64
	for i, v := range p {
		if !math.IsNaN(v) {
			tested, family = append(tested, i), append(family, v)
		}
	}
	var err error
	switch o.Correct {
	case "holm":
		family, err = significance.Holm(family)
	case "bh":
		family, err = significance.BenjaminiHochberg(family)
	}
	if err != nil {
		return fmt.Errorf("the audit's result, column %q: %w", o.P, err)
	}
	for i, at := range tested {
		out[at].P, out[at].Found = family[i], o.counts(out[at].Estimate) && family[i] <= o.Alpha
	}
	return nil
}

// injected returns the sizes of the injected disparities by subject, or nil if they are not known.
func (o Options) injected(f *table.Frame) (map[string]float64, error) {
	if f == nil {
		return nil, nil
	}
	subjects, err := chain.Subjects(f, o.Subject)
	if err != nil {
		if subjects = f.Texts("subject"); subjects == nil {
			return nil, fmt.Errorf("table %q: %w; it needs these columns, or subject", "injected", err)
		}
	}
	out := map[string]float64{}
	for i, s := range subjects {
		out[s] = f.Numbers("size")[i]
	}
	return out, nil
}

// cellsOf divides the pool, and the other pool if there is one, into cells of units.
func cellsOf(call *metrics.Call, by []string, unit string) ([]Cell, error) {
	cells, err := unitsOf(tabular.Read(call, "in"), by, unit)
	if err != nil || call.Inputs["other"] == nil {
		return cells, err
	}
	others, err := unitsOf(tabular.Read(call, "other"), by, unit)
	if err != nil {
		return nil, err
	}
	for i := range cells {
		at, found := slices.BinarySearchFunc(others, cells[i].Name,
			func(c Cell, name string) int { return cmp.Compare(c.Name, name) })
		if found {
			cells[i].Others = others[at].Units
		}
	}
	return cells, nil
}

// unitsOf returns the cells of a table in the order of their names, with their units in the order of the table.
func unitsOf(in *tabular.Reader, by []string, unit string) ([]Cell, error) {
	groups, names := in.Groups(by), in.Texts(unit)
	if in.Err != nil {
		return nil, in.Err
	}
	var out []Cell
	for _, g := range groups {
		c := Cell{Name: "the table"}
		var parts []string
		for i, v := range g.By {
			parts = append(parts, by[i]+"="+v)
		}
		if len(parts) > 0 {
			c.Name = "cell " + strings.Join(parts, ", ")
		}
		at := map[string]int{}
		for _, row := range g.Rows {
			if names == nil {
				c.Units = append(c.Units, []int{row})
				continue
			}
			i, known := at[names[row]]
			if !known {
				i = len(c.Units)
				at[names[row]], c.Units = i, append(c.Units, nil)
			}
			c.Units[i] = append(c.Units[i], row)
		}
		if len(g.Rows) > 0 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Cell) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// exchanged permutes the values of a text column among the rows of each group of the columns within.
func exchanged(f *table.Frame, column string, within []string, seed int64) (*table.Frame, error) {
	c, err := f.Need(column, table.KindText)
	if err != nil {
		return nil, fmt.Errorf("option exchange: %w", err)
	}
	for _, name := range within {
		if !f.Has(name) || name == column {
			return nil, fmt.Errorf("option within: %q is not another column of the pool; columns: %s", name,
				table.NameList(f.Specs()))
		}
	}
	groups := map[string][]int{}
	for row := range f.Len() {
		key := f.Key(row, within...)
		groups[key] = append(groups[key], row)
	}
	texts := make([]string, f.Len())
	for key, rows := range groups {
		for i, from := range rand.New(seeded(seed, len(rows), "exchange "+key)).Perm(len(rows)) {
			texts[rows[i]] = c.Texts[rows[from]]
		}
	}
	return f.With(table.TextColumn(column, texts)), nil
}

// stack appends the rows of the other pool to those of the pool; columns are the pool's.
func stack(pool, other *table.Frame) (*table.Frame, error) {
	if other.Len() == 0 {
		return pool, nil
	}
	out := &table.Frame{}
	for i := range pool.Columns {
		c := pool.Columns[i] // its slices belong to this sample
		more, err := other.Need(c.Name, c.Kind)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", "other", err)
		}
		c.Append(more)
		out.Columns = append(out.Columns, c)
	}
	return out, nil
}
