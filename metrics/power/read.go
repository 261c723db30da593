package power

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/significance"
)

// rule says which rows of an audit's result are findings.
type rule struct {
	subject  []string
	value, p string
	sign     string
	null     float64
	least    float64 // how far from null an estimate must be
	alpha    float64
	correct  string
}

func readRule(call metrics.Call) (r rule, err error) {
	r = rule{subject: datasets.SplitColumns(call.Options["subject"]), value: call.Options["value"], p: call.Options["p"], sign: call.Options["sign"], correct: call.Options["correct"]}
	if len(r.subject) == 0 || r.value == "" {
		return r, fmt.Errorf("name the columns of the audit's result that say what a row is about (option subject) and how large it is (option value)")
	}
	if r.null, err = tabular.Number(call, "null"); err != nil {
		return r, err
	}
	if r.least, err = tabular.Number(call, "least"); err != nil {
		return r, err
	}
	if r.alpha, err = tabular.Number(call, "alpha"); err == nil && !(r.alpha > 0 && r.alpha < 1) {
		err = fmt.Errorf("option alpha=%g: give a probability between 0 and 1", r.alpha)
	}
	return r, err
}

// read gives the readings of an audit's result.
func (r rule) read(f *client.Frame) ([]Reading, error) {
	subjects, err := subjectsOf(f, r.subject)
	if err != nil {
		return nil, fmt.Errorf("the audit's result: %w", err)
	}
	low, high := r.value+"_low", r.value+"_high"
	needed := []string{r.value, low, high}
	if r.p != "" {
		needed = []string{r.value, r.p}
	}
	values := map[string][]float64{}
	for _, name := range []string{r.value, low, high, r.p} {
		c, err := f.Need(name, client.Number)
		switch {
		case err == nil:
			values[name] = c.Numbers
		case slices.Contains(needed, name):
			return nil, fmt.Errorf("the audit's result: %w", err)
		default:
			values[name] = slices.Repeat([]float64{math.NaN()}, f.Len())
		}
	}
	out, seen := make([]Reading, f.Len()), map[string]bool{}
	for i, s := range subjects {
		if seen[s] {
			return nil, fmt.Errorf("the audit's result has two rows for %q: name more columns in the option subject (%s)", s, client.NameList(f.Specs()))
		}
		seen[s] = true
		out[i] = Reading{Subject: s, Estimate: values[r.value][i], Low: values[low][i], High: values[high][i], P: math.NaN()}
		if r.p == "" { // a comparison with NaN, no end, finds nothing
			out[i].Found = r.counts(out[i].Estimate) && (out[i].High < r.null || out[i].Low > r.null)
		}
	}
	if r.p == "" {
		return out, nil
	}
	return out, r.test(out, values[r.p])
}

// counts says whether an estimate lies on the side asked for, and far enough.
func (r rule) counts(e float64) bool {
	return (e < r.null && r.sign != "above" || e > r.null && r.sign != "below") && math.Abs(e-r.null) >= r.least
}

// test marks findings by their p-values, corrected over all rows that have one.
func (r rule) test(out []Reading, p []float64) error {
	var tested []int
	var family []float64
	for i, v := range p {
		if !math.IsNaN(v) {
			tested, family = append(tested, i), append(family, v)
		}
	}
	var err error
	switch r.correct {
	case "holm":
		family, err = significance.Holm(family)
	case "bh":
		family, err = significance.BenjaminiHochberg(family)
	}
	if err != nil {
		return fmt.Errorf("the audit's result, column %q: %w", r.p, err)
	}
	for i, at := range tested {
		out[at].P, out[at].Found = family[i], r.counts(out[at].Estimate) && family[i] <= r.alpha
	}
	return nil
}

// plants are the sizes of what is wrong, by subject; nil where that is not known.
func (r rule) plants(f *client.Frame) (map[string]float64, error) {
	if f == nil {
		return nil, nil
	}
	subjects, err := subjectsOf(f, r.subject)
	if err != nil {
		if subjects = f.Texts("subject"); subjects == nil {
			return nil, fmt.Errorf("table %q: %w; give it these columns, or subject", "planted", err)
		}
	}
	out := map[string]float64{}
	for i, s := range subjects {
		out[s] = f.Numbers("size")[i]
	}
	return out, nil
}

// subjectsOf names each row by the values of its columns.
func subjectsOf(f *client.Frame, columns []string) ([]string, error) {
	out := make([]string, f.Len())
	for i, name := range columns {
		c, err := f.Need(name, client.Text)
		if err != nil {
			return nil, err
		}
		for row, v := range c.Texts {
			if i > 0 {
				out[row] += ", "
			}
			out[row] += v
		}
	}
	return out, nil
}

// cellsOf divides the pool, and the other one where there is one, into cells of units.
func cellsOf(call metrics.Call) ([]Cell, error) {
	by, unit := datasets.SplitColumns(call.Options["cells"]), call.Options["unit"]
	cells, err := unitsOf(call.Inputs["in"], by, unit)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	other := call.Inputs["other"]
	if other == nil {
		return cells, nil
	}
	others, err := unitsOf(other, by, unit)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "other", err)
	}
	for i := range cells {
		at, found := slices.BinarySearchFunc(others, cells[i].Name, func(c Cell, name string) int { return cmp.Compare(c.Name, name) })
		if found {
			cells[i].Others = others[at].Units
		}
	}
	return cells, nil
}

// unitsOf are the cells of a table in the order of their names, with their units in the order of the table.
func unitsOf(f *client.Frame, by []string, unit string) ([]Cell, error) {
	groups, err := tabular.Groups(f, by)
	if err != nil {
		return nil, err
	}
	var names []string
	if unit != "" {
		c, err := f.Need(unit, client.Text)
		if err != nil {
			return nil, err
		}
		names = c.Texts
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

// exchanged gives the rows of each group of the columns within each other's values of a text column, in an order drawn by the seed.
func exchanged(f *client.Frame, column string, within []string, seed int64) (*client.Frame, error) {
	c, err := f.Need(column, client.Text)
	if err != nil {
		return nil, fmt.Errorf("option exchange: %w", err)
	}
	groups := map[string][]int{}
	for row := range f.Len() {
		key := ""
		for _, name := range within {
			w := f.Column(name)
			if w == nil || name == column {
				return nil, fmt.Errorf("option within: %q is no other column of the pool (there are: %s)", name, client.NameList(f.Specs()))
			}
			key += w.Cell(row) + "\x00"
		}
		groups[key] = append(groups[key], row)
	}
	texts := make([]string, f.Len())
	for key, rows := range groups {
		for i, from := range rand.New(seeded(seed, len(rows), "exchange "+key)).Perm(len(rows)) {
			texts[rows[i]] = c.Texts[rows[from]]
		}
	}
	return f.With(client.TextColumn(column, texts)), nil
}

// numbers reads an option that lists numbers.
func numbers(call metrics.Call, name string) ([]float64, error) {
	var out []float64
	for _, text := range datasets.SplitColumns(call.Options[name]) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("option %s: %q is not a number", name, text)
		}
		out = append(out, x)
	}
	return out, nil
}

// stack puts the rows of the other pool below those of the pool; columns are the pool's.
func stack(pool, other *client.Frame) (*client.Frame, error) {
	if other.Len() == 0 {
		return pool, nil
	}
	out := &client.Frame{}
	for i := range pool.Columns {
		c := pool.Columns[i] // its slices belong to this draw
		more, err := other.Need(c.Name, c.Kind)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", "other", err)
		}
		c.Texts, c.Numbers, c.Images = append(c.Texts, more.Texts...), append(c.Numbers, more.Numbers...), append(c.Images, more.Images...)
		c.Masks, c.Vectors = append(c.Masks, more.Masks...), append(c.Vectors, more.Vectors...)
		out.Columns = append(out.Columns, c)
	}
	return out, nil
}
