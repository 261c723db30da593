package significance

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// unit is an independent value: a row, or the mean of a prompt's rows.
type unit struct {
	name  string
	value float64
}

// sample is the units of a group, in the order of their names, or of their values if they have no names.
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

// split is the samples of a group of the grouping columns.
type split struct {
	by      []string
	samples []sample
}

// finiteNumbers returns a column of numbers, NaN = no value. Infinity is an error.
func finiteNumbers(in *tabular.Reader, name string) []float64 {
	values := in.Numbers(name)
	if row := slices.IndexFunc(values, func(v float64) bool { return math.IsInf(v, 0) }); row >= 0 && in.Err == nil {
		in.Err = tabular.BadRow(in.Frame, row, name, "the value is infinite")
	}
	return values
}

// selection names the columns of a comparison.
type selection struct {
	value, group, unit, against string
	by                          []string
	paired                      bool
}

func (s selection) design() string {
	if s.paired {
		return "paired"
	}
	return "independent"
}

// eachPair calls f with every pair of groups to compare. With paired, the samples have the units of both groups only,
// and leftOut is the number of the others.
func (s selection) eachPair(call *metrics.Call, f func(by []string, a, b sample, leftOut int) error) error {
	if s.paired && s.unit == "" {
		return errors.New("paired requires a column that identifies the pairs; set unit, for example unit=prompt_id")
	}
	parts, err := s.read(tabular.Read(call, "in"))
	if err != nil {
		return err
	}
	for _, p := range parts {
		pairs, err := p.pairs(s.against)
		if err != nil {
			return err
		}
		for _, pair := range pairs {
			a, b, leftOut := pair[0], pair[1], 0
			if s.paired {
				a, b, leftOut = matched(a, b)
			}
			if err := f(p.by, a, b, leftOut); err != nil {
				return err
			}
		}
	}
	return nil
}

// read returns the samples of the groups, for each group of the grouping columns.
func (s selection) read(in *tabular.Reader) ([]split, error) {
	in.UniqueIDs() // duplicate rows make p-values too small
	values, groups, names := finiteNumbers(in, s.value), in.Texts(s.group), in.Texts(s.unit)
	splits := in.SortedGroups(s.by)
	if in.Err != nil {
		return nil, in.Err
	}
	var out []split
	for _, of := range splits {
		rows, missing := map[string][]unit{}, map[string]int{}
		for _, row := range of.Rows {
			g, u := groups[row], unit{value: values[row]}
			if names != nil {
				u.name = names[row]
			}
			if math.IsNaN(u.value) {
				missing[g]++
			} else {
				missing[g] += 0 // a group without values is a group too
				rows[g] = append(rows[g], u)
			}
		}
		p := split{by: of.By}
		for _, g := range slices.Sorted(maps.Keys(missing)) {
			p.samples = append(p.samples, sample{name: g, units: average(rows[g], names != nil), missing: missing[g]})
		}
		out = append(out, p)
	}
	return out, nil
}

// average returns the mean of each unit's rows, if units have names.
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

// pairs returns the groups to compare: all pairs, or each group with one.
func (p split) pairs(against string) ([][2]sample, error) {
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
		return nil, fmt.Errorf("%sthere is no group %q to compare with; groups: %s", prefix(p.by), against,
			strings.Join(names, ", "))
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

func inGroups(by []string, a, b string, err error) error {
	return fmt.Errorf("%s%s, %s: %w", prefix(by), a, b, err)
}

// matched returns the units that both samples have, and the number of the others.
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
