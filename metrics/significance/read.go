package significance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/kernel/client"
	"antipode/metrics"
)

// unit is a value that is independent of others: a row, or the mean of a prompt's rows.
type unit struct {
	name  string
	value float64
}

// sample is one group's units, in the order of their names (rows without names: of their values).
type sample struct {
	name    string
	units   []unit
	missing int // rows without a value
}

func (s sample) values() []float64 {
	out := make([]float64, len(s.units))
	for i, u := range s.units {
		out[i] = u.value
	}
	return out
}

// part is what one group of the grouping columns holds.
type part struct {
	by      []string
	samples []sample
}

// column is a column of text by which rows are told apart.
func column(f *client.Frame, name string) ([]string, error) {
	c, err := f.Need(name, client.Text)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	return c.Texts, nil
}

// number is a value of a row: NaN = none; infinity is an error.
func number(f *client.Frame, c *client.Column, row int) (float64, error) {
	if v := c.Numbers[row]; !math.IsInf(v, 0) {
		return v, nil
	}
	return 0, client.BadRow{Row: row + 1, ID: idOf(f, row), Column: c.Name, Reason: "the value is infinite"}
}

func idOf(f *client.Frame, row int) string {
	if ids := f.Texts("id"); ids != nil {
		return ids[row]
	}
	return ""
}

// distinct refuses ids that occur twice: a row counted twice would make chance look smaller.
func distinct(f *client.Frame) error {
	seen := map[string]int{}
	for i, id := range f.Texts("id") {
		if before, twice := seen[id]; twice {
			return client.BadRow{Row: i + 1, ID: id, Column: "id", Reason: fmt.Sprintf("row %d has the same id", before)}
		}
		seen[id] = i + 1
	}
	return nil
}

// splits gives each row's group of the grouping columns, and the groups in order.
func splits(call metrics.Call) (of []int, groups [][]string, err error) {
	f := call.Inputs["in"]
	var by [][]string
	for _, name := range call.By {
		texts, err := column(f, name)
		if err != nil {
			return nil, nil, err
		}
		by = append(by, texts)
	}
	keys := make([][]string, f.Len())
	for row := range keys {
		for _, texts := range by {
			keys[row] = append(keys[row], texts[row])
		}
	}
	groups = slices.CompactFunc(slices.SortedFunc(slices.Values(keys), slices.Compare), slices.Equal)
	for _, key := range keys {
		at, _ := slices.BinarySearchFunc(groups, key, slices.Compare)
		of = append(of, at)
	}
	return of, groups, nil
}

// read gives the samples of a table's groups, for each group of the grouping columns.
func read(call metrics.Call) ([]part, error) {
	f := call.Inputs["in"]
	if err := distinct(f); err != nil {
		return nil, err
	}
	c, err := f.Need(call.Options["value"], client.Number)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	groups, err := column(f, call.Options["group"])
	if err != nil {
		return nil, err
	}
	var names []string
	if u := call.Options["unit"]; u != "" {
		if names, err = column(f, u); err != nil {
			return nil, err
		}
	}
	split, heads, err := splits(call)
	if err != nil {
		return nil, err
	}
	type key struct {
		part  int
		group string
	}
	rows, missing, known := map[key][]unit{}, map[key]int{}, make([][]string, len(heads))
	for row := range f.Len() {
		v, err := number(f, c, row)
		if err != nil {
			return nil, err
		}
		k := key{split[row], groups[row]}
		if _, seen := missing[k]; !seen {
			missing[k] = 0
			known[k.part] = append(known[k.part], k.group)
		}
		if math.IsNaN(v) {
			missing[k]++
			continue
		}
		u := unit{value: v}
		if names != nil {
			u.name = names[row]
		}
		rows[k] = append(rows[k], u)
	}
	var out []part
	for i, head := range heads {
		p := part{by: head}
		slices.Sort(known[i])
		for _, g := range known[i] {
			k := key{i, g}
			p.samples = append(p.samples, sample{name: g, units: average(rows[k], names != nil), missing: missing[k]})
		}
		out = append(out, p)
	}
	return out, nil
}

// average takes the rows of a unit together, where units have names.
func average(rows []unit, named bool) []unit {
	slices.SortFunc(rows, func(a, b unit) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.value, b.value))
	})
	if !named {
		return rows
	}
	var out []unit
	for from := 0; from < len(rows); {
		to, s := from, 0.0
		for ; to < len(rows) && rows[to].name == rows[from].name; to++ {
			s += rows[to].value
		}
		out = append(out, unit{rows[from].name, s / float64(to-from)})
		from = to
	}
	return out
}

// pairs are the groups to compare: all, or each with one.
func (p part) pairs(against string) ([][2]sample, error) {
	var out [][2]sample
	if against == "" {
		for i, a := range p.samples {
			for _, b := range p.samples[i+1:] {
				out = append(out, [2]sample{a, b})
			}
		}
		return out, nil
	}
	at := slices.IndexFunc(p.samples, func(s sample) bool { return s.name == against })
	if at < 0 {
		var names []string
		for _, s := range p.samples {
			names = append(names, s.name)
		}
		return nil, fmt.Errorf("%sthere is no group %q to compare with; there are: %s", prefix(p.by), against, strings.Join(names, ", "))
	}
	for i, a := range p.samples {
		if i != at {
			out = append(out, [2]sample{a, p.samples[at]})
		}
	}
	return out, nil
}

func prefix(by []string) string {
	if len(by) == 0 {
		return ""
	}
	return strings.Join(by, ", ") + ": "
}

// matched keeps the units that both samples have.
func matched(a, b sample) (x, y sample, leftOut int) {
	x, y = sample{name: a.name, missing: a.missing}, sample{name: b.name, missing: b.missing}
	for i, j := 0, 0; i < len(a.units) || j < len(b.units); {
		switch {
		case j == len(b.units) || i < len(a.units) && a.units[i].name < b.units[j].name:
			i, leftOut = i+1, leftOut+1
		case i == len(a.units) || b.units[j].name < a.units[i].name:
			j, leftOut = j+1, leftOut+1
		default:
			x.units, y.units = append(x.units, a.units[i]), append(y.units, b.units[j])
			i, j = i+1, j+1
		}
	}
	return x, y, leftOut
}
