package operation

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"antipode/datasets/table"
)

// labelColumns are the columns of the column contract whose values are names of groups.
var labelColumns = []string{"region", "country", "group", "axis", "language", "object", "model", "concept", "identity",
	"attribute"}

// Label returns the name of a group as it is compared with others: in Unicode's form NFC and without surrounding
// blanks.
func Label(name string) string { return norm.NFC.String(strings.TrimSpace(name)) }

// Labels returns frames whose columns of group names, columns and those of the column contract, are the [Label] of
// their values. A group that has several spellings in the frames, and groups that are equal up to case, are readings.
func (c *Call) Labels(columns []string, in []*table.Frame) []*table.Frame {
	out := slices.Clone(in)
	all := slices.Concat(columns, labelColumns)
	for i, name := range all {
		if slices.Contains(all[:i], name) {
			continue
		}
		s := spellings{of: map[string][]string{}}
		for at, f := range out {
			if f == nil {
				continue
			}
			column := f.Column(name)
			if column == nil || column.Kind != table.KindText && i >= len(columns) {
				continue
			}
			if texts, err := column.As(table.KindText); err == nil {
				labels := s.add(texts.Texts)
				if labels == nil && texts == column {
					continue
				}
				if labels == nil {
					labels = texts.Texts
				}
				out[at] = f.With(table.TextColumn(name, labels))
			}
		}
		s.report(c, name, in)
	}
	return out
}

// spellings are the values of columns by their labels.
type spellings struct{ of map[string][]string }

// add adds the values of a column and returns their labels, nil if these are the values.
func (s *spellings) add(values []string) (labels []string) {
	last, label := "", ""
	for row, v := range values {
		if row == 0 || v != last {
			last, label = v, Label(v)
			if !slices.Contains(s.of[label], v) {
				s.of[label] = append(s.of[label], v)
			}
		}
		if label != v && labels == nil {
			labels = slices.Clone(values)
		}
		if labels != nil {
			labels[row] = label
		}
	}
	return labels
}

// report reads the groups with several spellings, and those equal up to case.
func (s *spellings) report(c *Call, name string, in []*table.Frame) {
	folded, several := map[string][]string{}, false
	for label, values := range s.of {
		several = several || len(values) > 1
		key := strings.ToLower(label)
		folded[key] = append(folded[key], label)
	}
	var cased []string
	for _, labels := range folded {
		if len(labels) > 1 {
			slices.Sort(labels)
			cased = append(cased, strings.Join(labels, " and "))
		}
	}
	slices.Sort(cased)
	count := func(what, fix string, is func(value, label string) bool) {
		total := table.Reading{Source: "column " + name, Column: name, What: what, Fix: fix}
		for _, f := range in {
			if f == nil {
				continue
			}
			if column := f.Column(name); column != nil && column.Kind == table.KindText {
				labels := make([]string, len(column.Texts))
				for i, v := range column.Texts {
					labels[i] = Label(v)
				}
				of := &table.Frame{Columns: []table.Column{table.TextColumn(name, labels)}}
				total = total.Add(total.Empty().Count(of, func(row int) (bool, bool) {
					v := column.Texts[row]
					return v != "" && is(v, Label(v)), v != ""
				}))
			}
		}
		if total.N > 0 {
			c.Reading(total)
		}
	}
	if !several && len(cased) == 0 {
		return
	}
	count("values are other spellings of a group (blanks around the name, or another Unicode form) and count as it", "",
		func(value, label string) bool { return value != label && len(s.of[label]) > 1 })
	if len(cased) > 0 {
		count(fmt.Sprintf("values belong to groups that differ from another one only in case: %s", strings.Join(cased,
			"; ")),
			"they are compared as separate groups", func(_, label string) bool {
				return len(folded[strings.ToLower(label)]) > 1
			})
	}
}
