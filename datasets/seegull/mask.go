package seegull

import (
	"fmt"
	"regexp"
)

// Warning is the line to print above anything that shows pairs which [Shown] would mask.
const Warning = "Content warning: this names offensive stereotypes about real groups of people, as evidence and not " +
	"in agreement."

// Shown reports whether an identity may be shown next to an attribute with that mean offensiveness of the pair, in [-1,
// 4]: only if the pair was rated (not NaN) and its mean is not above 0.
func Shown(offensiveness float64) bool { return offensiveness <= 0 }

// Masker replaces attributes that may not be shown next to an identity. The same pair always gets the same label, and
// different attributes of one identity get different labels. The zero Masker is ready to use.
type Masker struct {
	labels map[[2]string]string
	next   map[string]int
}

// Label returns the attribute itself where the pair may be shown, else a masked label such as
// "masked 3 (rated offensive)" or "masked 4 (not rated)", numbered within the identity in the order of the calls.
func (m *Masker) Label(identity, attribute string, offensiveness float64) string {
	if Shown(offensiveness) {
		return attribute
	}
	pair := [2]string{identity, attribute}
	if l, known := m.labels[pair]; known {
		return l
	}
	if m.labels == nil {
		m.labels, m.next = map[[2]string]string{}, map[string]int{}
	}
	m.next[identity]++
	why := "not rated"
	if offensiveness > 0 {
		why = "rated offensive"
	}
	l := fmt.Sprintf("masked %d (%s)", m.next[identity], why)
	m.labels[pair] = l
	return l
}

// masked matches the labels of a Masker.
var masked = regexp.MustCompile(`masked \d+ \((rated offensive|not rated)\)`)

// Masked returns the first label of a [Masker] in a text, "" if there is none.
func Masked(text string) string { return masked.FindString(text) }

// IsMasked reports whether a text is a label of a [Masker].
func IsMasked(text string) bool { return text != "" && Masked(text) == text }

// Caution is the line to print with anything that could name pairs of identity and attribute: [Warning] where they are
// shown, else a line that states that they are masked.
func Caution(shown bool) string {
	if shown {
		return Warning
	}
	return "Attributes that SeeGULL rates offensive for a group, or that nobody rated, are masked."
}
