package operation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"antipode/datasets/table"
)

// labelColumns are the columns of the column contract whose values are names of groups.
var labelColumns = []string{"region", "country", "group", "axis", "language", "object", "model", "concept", "identity",
	"attribute"}

// invisible removes characters that are not seen and join or divide nothing: the zero-width space, the word joiner, the
// byte order mark and the soft hyphen.
var invisible = strings.NewReplacer("\u200b", "", "\u2060", "", "\ufeff", "", "\u00ad", "")

// Label returns the name of a group as it is compared with others: in Unicode's form NFC, without surrounding blanks
// and invisible characters, and with one space for the blanks between words.
func Label(name string) string {
	plain := true // as most names are
	for i := 0; i < len(name) && plain; i++ {
		plain = ' ' < name[i] && name[i] < 0x7f || name[i] == ' ' && i > 0 && i < len(name)-1 && name[i-1] != ' '
	}
	if plain {
		return name
	}
	joiner := func(r rune) bool { return unicode.IsSpace(r) || r == '\u200c' || r == '\u200d' }
	return norm.NFC.String(strings.Join(strings.Fields(strings.TrimFunc(invisible.Replace(name), joiner)), " "))
}

// LabelOf returns the [Label] of a row's value: one text for all spellings of a number.
func LabelOf(c *table.Column, row int) string {
	switch {
	case c.Kind != table.KindNumber || math.IsNaN(c.Numbers[row]):
		return Label(c.Text(row))
	case c.Numbers[row] == 0: // -0, too
		return "0"
	}
	return table.NumberText(c.Numbers[row])
}

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
				labels := s.add(column, texts.Texts)
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
func (s *spellings) add(column *table.Column, values []string) (labels []string) {
	last, label := "", ""
	for row, v := range values {
		if row == 0 || v != last {
			last, label = v, LabelOf(column, row)
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
	numbers := fmt.Sprintf("Cast(%q, \"text\") (--cast %s=text) compares them as they are written", name, name)
	count := func(what, fix string, is func(value, label string) bool) {
		total := table.Reading{Source: "column " + name, Column: name, What: what, Fix: fix, Once: true}
		for _, f := range in {
			if f == nil {
				continue
			}
			column := f.Column(name)
			if column == nil || column.Kind != table.KindText && column.Kind != table.KindNumber {
				continue
			}
			labels := make([]string, f.Len())
			for row := range labels {
				labels[row] = LabelOf(column, row)
			}
			of := &table.Frame{Columns: []table.Column{table.TextColumn(name, labels)}}
			total = total.Add(total.Empty().Count(of, func(row int) (bool, bool) {
				v := column.Text(row)
				return v != "" && is(v, labels[row]), v != ""
			}))
			if column.Kind == table.KindNumber {
				total.Fix = numbers
			}
		}
		if total.N > 0 {
			c.Reading(total)
		}
	}
	if !several && len(cased) == 0 {
		return
	}
	count("values are other spellings of a group (blanks, invisible characters, another Unicode form, or another form "+
		"of a number) and count as it", "",
		func(value, label string) bool { return value != label && len(s.of[label]) > 1 })
	if len(cased) > 0 {
		count(fmt.Sprintf("values belong to groups that differ from another one only in case: %s", strings.Join(cased,
			"; ")),
			"they are compared as separate groups", func(_, label string) bool {
				return len(folded[strings.ToLower(label)]) > 1
			})
	}
}
