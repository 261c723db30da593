package typeset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
)

func golden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// visual returns characters in visual order, brackets not mirrored.
func visual(text string) string {
	runes := clean(text)
	levels := levels(runes)
	at := make([]int, len(runes))
	for i := range at {
		at[i] = i
	}
	reorder(at, func(i int) int { return levels[i] })
	var b strings.Builder
	for _, i := range at {
		b.WriteRune(runes[i])
	}
	return b.String()
}

// TestOrder compares with python-bidi on lines of letters, digits, signs, brackets and marks of both directions.
func TestOrder(t *testing.T) {
	var rows [][2]string
	golden(t, "order.json", &rows)
	if len(rows) < 300 {
		t.Fatalf("%d lines", len(rows))
	}
	for _, r := range rows {
		if got := visual(r[0]); got != r[1] {
			t.Errorf("%q is ordered as %q (levels %v), want %q", r[0], got, levels([]rune(r[0])), r[1])
		}
	}
}

// TestIsolates checks isolated parts: each is ordered separately and is one neutral object in its line.
func TestIsolates(t *testing.T) {
	strip := strings.NewReplacer("\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")
	for _, c := range []struct{ text, want string }{
		{"in \u2068אב 12\u2069 3", "in 12 בא 3"},         // the number outside does not join the Hebrew
		{"in אב 3", "in 3 בא"},                           // as it does without the isolate
		{"א \u2066b ג\u2069 ד", "ד b ג א"},               // a left-to-right part within right-to-left text
		{"x \u2067a ב\u2069 y", "x ב a y"},               // a right-to-left part that begins with a Latin letter
		{"x \u2068a \u2068בג\u2069 d\u2069", "x a גב d"}, // one within another
		{"a \u2068בג", "a גב"},                           // never ended
		{"a\u2069 בג", "a גב"},                           // never begun
	} {
		must.Equal(t, strip.Replace(visual(c.text)), c.want, c.text, "ordered as")
	}
}

// TestOrderKeepsCharacters checks on hostile lines that every character has a level within the limit and none is lost.
func TestOrderKeepsCharacters(t *testing.T) {
	for _, text := range hostile() {
		runes := clean(text)
		levels := levels(runes)
		if len(levels) != len(runes) || len(levels) > 0 && (slices.Min(levels) < 0 || slices.Max(levels) > deepest+2) {
			t.Errorf("%.30q: %d levels for %d characters", text, len(levels), len(runes))
		}
		a, b := []rune(visual(text)), runes
		slices.Sort(a)
		slices.Sort(b)
		must.EqualSlices(t, a, b, text, "characters are lost")
	}
}

func hostile() []string {
	out := []string{
		"", " \t\n\r ", "\x00\x07\x1b[31m", "\xff\xfe\xed\xa0\x80 bad", "\xed\xa0\x80", "\u202eevil\u202c",
		"\ufeff\u200b\u200d\u200c", "\ufffd\ufffe\uffff\U0010FFFF",
		strings.Repeat("\u0301", 3000), strings.Repeat("्", 3000), strings.Repeat("\u2067", 5000) + "a",
		strings.Repeat("\u2068א\u2069", 2000), strings.Repeat("([{", 2000) + "א",
		strings.Repeat("שלום abc 12 ", 3000), strings.Repeat("क्ष", 5000), strings.Repeat("لا", 5000),
		strings.Repeat("\u2066\u2069", 3000), "\u2029\u2028a\u0085b",
		"👩‍👩‍👧‍👦 \U0001F3F3\uFE0F", "\u0600\u06DD١٢", "ᄒ\u1161\u11ab" + strings.Repeat("\u11ab", 2000), "a\u0338\u20dd",
	}
	return append(out, strings.Join(out, " "))
}
