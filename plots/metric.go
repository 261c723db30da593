package plots

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"antipode/datasets/operation"
	"antipode/plots/internal/letters"
)

// result describes a column of the metric that computed the table; nil where there is none.
func (s *options) result(column string) *operation.Result {
	if s.metric == nil {
		return nil
	}
	at := slices.IndexFunc(s.metric.Results, func(r operation.Result) bool { return r.Name == column })
	if at < 0 {
		return nil
	}
	return &s.metric.Results[at]
}

// unit is the unit of a column of values as the figure writes them, "" where it is not known.
func (s *options) unit(column string) string {
	r := s.result(column)
	if r == nil || r.Unit == "" || !s.percent {
		if r == nil {
			return ""
		}
		return r.Unit
	}
	if of, share := strings.CutPrefix(r.Unit, "share"); share {
		return "%" + of
	}
	return r.Unit + " × 100"
}

// shown lists the columns of the table that the figure shows as one.
func (s *options) shown(column string) []string {
	if s.melted != nil {
		return s.melted
	}
	return []string{column}
}

// axis is the label of the axis of a value column: the given one, or the column's name with its unit. Values of several
// columns have the unit that these have in common.
func (s *options) axis(given, column string) string {
	if given != "" {
		return given
	}
	columns := s.shown(column)
	unit := s.unit(columns[0])
	for _, c := range columns {
		if unit == "" || s.unit(c) != unit {
			return spaced(s.name(column))
		}
	}
	if strings.HasPrefix(unit, s.name(column)) {
		return unit // cosine × 100
	}
	return spaced(s.name(column)) + " (" + unit + ")"
}

// spaced is the label of a column without one: its name in words.
func spaced(column string) string { return strings.TrimSpace(strings.ReplaceAll(column, "_", " ")) }

// heading is the title: the given one, or the default, with a capital letter where the table is a metric's result.
func (s *options) heading(text string) string {
	text = spaced(text)
	if s.title != "" || s.metric == nil {
		return cmp.Or(s.title, text)
	}
	return upper(text)
}

// opening returns the start of the caption: the note, then the title of the metric or the description of the one column
// that the figure shows, and which direction is better.
func (s *options) opening(columns ...string) []string {
	var out []string
	if s.note != "" {
		out = append(out, letters.Isolate(letters.OneLine(s.note)))
	}
	if s.metric == nil || len(columns) == 0 {
		return out
	}
	text := upper(s.metric.Title)
	if r := s.result(columns[0]); r != nil && r.Help != "" && len(columns) == 1 {
		text = columns[0] + ": " + r.Help
	}
	if d := s.metric.Direction; d != "" && d != "none" {
		text += "; " + d
	}
	return append(out, letters.Isolate(letters.OneLine(text))+".")
}

func upper(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}
