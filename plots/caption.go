package plots

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"antipode/datasets"
	"antipode/plots/internal/letters"
)

// Sentences of captions.
const (
	noIntervals = "No intervals in the table."
	undrawn     = "The table has intervals; they are not drawn."
)

// Caption returns the title and the caption of a figure, or the title and the notes of a [Table], for the command
// \caption of LaTeX: in one line, with the characters that are special in LaTeX escaped. Scripts other than Latin need
// XeLaTeX or LuaLaTeX. The table runs; the errors are those of [Render].
func Caption(f Figure) (string, error) {
	return inContext(func(ctx context.Context) (string, error) {
		switch f := f.figure().(type) {
		case figure:
			d, err := f.draw(ctx)
			if err != nil {
				return "", err
			}
			s, err := d.scene()
			if err != nil {
				return "", err
			}
			return latexText(s.description()), nil
		case Table:
			return f.caption(ctx)
		}
		return "", errors.New("Caption: a page of images has no caption")
	})
}

func (v Table) caption(ctx context.Context) (string, error) {
	bodies, err := v.bodies(ctx, 0)
	if err != nil {
		return "", err
	}
	about := scene{title: v.Title, about: bodies[len(bodies)-1].note()}
	return latexText(about.description()), nil
}

// latexText escapes a line for LaTeX, which has other means for the writing direction.
func latexText(line string) string {
	return latexEscapes.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, line))
}

// sentences writes the caption that figures of values share.
func (c *chart) sentences(s *options, f *datasets.Frame, column string, whiskers bool, none []string) {
	c.caption = append(c.caption, s.kind(f, column, whiskers))
	c.count(f)
	if sentence := basis(f); sentence != "" {
		c.caption = append(c.caption, sentence)
	}
	if s.free && len(c.panels) > 1 {
		c.caption = append(c.caption, "Panels differ in scale.")
	}
	if len(none) > 0 {
		c.caption = append(c.caption, "No data: "+list(none, 8)+".")
	}
}

// count writes the sentence on the number of images, where the table has it.
func (c *chart) count(f *datasets.Frame) {
	if sentence := counts(f, all(f.Len())); sentence != "" {
		c.caption = append(c.caption, sentence)
	}
}

// basis says what the values rest on, where the table does: a judge alone, or a judge and labels.
func basis(f *datasets.Frame) string {
	count, order := map[string]int{}, []string(nil)
	for _, text := range f.Texts("basis") {
		if count[text]++; count[text] == 1 {
			order = append(order, text)
		}
	}
	for i, text := range order {
		order[i] = fmt.Sprintf("%s (%d of %d)", letters.Isolate(letters.OneLine(text)), count[text], f.Len())
	}
	if order == nil {
		return ""
	}
	return "Basis of the values: " + strings.Join(order, "; ") + "."
}

// plural writes a number of things.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// say adds a sentence about a number of rows, if there are any.
func (c *chart) say(n int, sentence string) {
	if n > 0 {
		c.caption = append(c.caption, fmt.Sprintf(sentence, n))
	}
}

// cut counts the values that the limits cut off.
func (c *chart) cut(values []value, limits Range) {
	n := 0
	for _, v := range values {
		if limits.set() && !v.none() && (v.bottom() < limits.Low || v.top() > limits.High) {
			n++
		}
	}
	c.say(n, "%d values or intervals reach beyond the axis and are cut off there.")
}

// reword replaces words in the caption.
func (c *chart) reword(old, new string) {
	for i, sentence := range c.caption {
		c.caption[i] = strings.Replace(sentence, old, new, 1)
	}
}

// counts returns the number of images behind each value, as a sentence, or "" where the table does not have it.
func counts(f *datasets.Frame, rows []int) string {
	var parts []string
	for _, c := range []struct{ column, noun string }{{"n_real", "real"}, {"n_generated", "generated"},
		{"n_used", "used"}, {"n", ""}} {
		numbers := f.Numbers(c.column)
		if numbers == nil {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range rows {
			if !math.IsNaN(numbers[i]) {
				low, high = min(low, numbers[i]), max(high, numbers[i])
			}
		}
		switch {
		case low > high:
			continue
		case low == high:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%.10g %s", low, c.noun)))
		default:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%.10g–%.10g %s", low, high, c.noun)))
		}
	}
	if parts == nil {
		return ""
	}
	return "n per value: " + strings.Join(parts, ", ") + "."
}

// kind names the kind of the intervals; drawn reports whether there are any.
func (s *options) kind(f *datasets.Frame, column string, drawn bool) string {
	if !drawn {
		return noIntervals
	}
	kind := s.interval
	for _, name := range []string{"interval", "method"} {
		texts := slices.DeleteFunc(slices.Clone(f.Texts(name)), func(t string) bool { return t == "" }) // no interval
		if kind == "" && len(texts) > 0 {
			kind = texts[0]
			if slices.ContainsFunc(texts, func(t string) bool { return t != kind }) {
				kind = "of several kinds, see column " + name
			}
		}
	}
	if kind == "" {
		kind = fmt.Sprintf("%s_low to %s_high (kind not given)", column, column)
	}
	return "Whiskers: " + letters.Isolate(letters.OneLine(kind)) + "."
}
