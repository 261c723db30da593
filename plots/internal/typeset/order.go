package typeset

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"

	"antipode/plots/internal/letters"
)

// The characters that isolate a part of a line from the writing direction around it (UAX 9, section 2.4), and the one
// that replaces an isolated part while the text around it is ordered.
const (
	ltrIsolate, rtlIsolate, autoIsolate, endIsolate = '\u2066', '\u2067', '\u2068', '\u2069'
	object                                          = '\uFFFC'
)

// deepest is UAX 9's limit of embedding levels.
const deepest = 125

// levels returns the embedding level of each character by UAX 9. (x/text's Paragraph does not export the levels, which
// ordering runs requires, and does not pair brackets.) clean has removed the older embeddings and overrides.
func levels(text []rune) []int {
	out := make([]int, len(text))
	base := 0
	if letters.RightToLeft(string(text)) {
		base = 1
	}
	resolve(text, 0, base, out)
	return out
}

func resolve(text []rune, from, base int, out []int) {
	var flat []rune // the text with isolated parts as single objects
	var at []int    // where its characters are in out
	type part struct{ from, to, base int }
	var parts []part
	for i := 0; i < len(text); i++ {
		r := text[i]
		if r < ltrIsolate || r > endIsolate || r == endIsolate {
			if r == endIsolate {
				r = object // its beginning is missing
			}
			flat, at = append(flat, r), append(at, from+i)
			continue
		}
		depth, end := 1, i+1
		for ; end < len(text); end++ {
			if text[end] == endIsolate {
				depth--
			} else if text[end] >= ltrIsolate && text[end] < endIsolate {
				depth++
			}
			if depth == 0 {
				break
			}
		}
		inner := base + 2 - base%2 // the next even level
		if r == rtlIsolate || r == autoIsolate && letters.RightToLeft(string(text[i+1:end])) {
			inner = base + 1 + base%2
		}
		flat, at = append(flat, object), append(at, from+i)
		parts = append(parts, part{i + 1, end, inner})
		if end < len(text) {
			out[from+end] = base
		}
		i = end
	}
	for i, level := range flatLevels(flat, base) {
		out[at[i]] = level
	}
	for _, p := range parts {
		if p.base < deepest {
			resolve(text[p.from:p.to], from+p.from, p.base, out)
			continue
		}
		for i := p.from; i < p.to; i++ {
			out[from+i] = base
		}
	}
}

// flatLevels returns the levels of text without isolates in a paragraph of a base level: rules W1 to W7, N0 to N2, I1
// and I2.
func flatLevels(text []rune, base int) []int {
	own, other := bidi.L, bidi.R // the paragraph's direction, also before and after the text
	if base%2 == 1 {
		own, other = bidi.R, bidi.L
	}
	at, class, marks := classes(text, own)
	weak(class, own)
	brackets(text, at, class, marks, own, other)
	neutral(class, own)
	out, level, next := make([]int, len(text)), base, 0
	for i := range text {
		if next < len(at) && at[next] == i {
			switch c := class[next]; {
			case c == own:
				level = base
			case base%2 == 0 && c != bidi.R: // a number
				level = base + 2
			default:
				level = base + 1
			}
			next++
		}
		out[i] = level
	}
	return out
}

// classes returns the classes of the characters that count (X9), their positions in the text, and which are marks; a
// mark has the class of its base character (W1).
func classes(text []rune, own bidi.Class) (at []int, class []bidi.Class, marks []bool) {
	before := own
	for i, r := range text {
		p, _ := bidi.LookupRune(r)
		c := p.Class()
		if c == bidi.BN {
			continue
		}
		if c == bidi.NSM {
			c = before
		}
		before = c
		at, class, marks = append(at, i), append(class, c), append(marks, p.Class() == bidi.NSM)
	}
	return at, class, marks
}

// weak resolves classes to letters (L, R), numbers (EN, AN) and neutrals: rules W2 to W7.
func weak(class []bidi.Class, own bidi.Class) {
	strong := own
	for i, c := range class {
		switch {
		case c == bidi.L || c == bidi.R || c == bidi.AL:
			strong = c
		case c == bidi.EN && strong == bidi.AL: // W2
			class[i] = bidi.AN
		}
	}
	for i := 1; i+1 < len(class); i++ { // W4
		if c, a := class[i], class[i-1]; a == class[i+1] && (a == bidi.EN && (c == bidi.ES || c == bidi.CS) ||
			a == bidi.AN && c == bidi.CS) {
			class[i] = a
		}
	}
	for i := 0; i < len(class); i++ { // W5, W6
		end := i
		for end < len(class) && class[end] == bidi.ET {
			end++
		}
		to := bidi.ON
		if i > 0 && class[i-1] == bidi.EN || end < len(class) && class[end] == bidi.EN {
			to = bidi.EN
		}
		for ; i < end; i++ {
			class[i] = to
		}
		if i < len(class) && (class[i] == bidi.ES || class[i] == bidi.CS) {
			class[i] = bidi.ON
		}
	}
	strong = own
	for i, c := range class {
		switch {
		case c == bidi.L || c == bidi.R:
			strong = c
		case c == bidi.AL: // W3
			strong, class[i] = bidi.R, bidi.R
		case c == bidi.EN && strong == bidi.L: // W7
			class[i] = bidi.L
		}
	}
}

// direction is the class of letters that a resolved class counts as; ON for neutrals.
func direction(c bidi.Class) bidi.Class {
	switch c {
	case bidi.L:
		return bidi.L
	case bidi.R, bidi.EN, bidi.AN:
		return bidi.R
	}
	return bidi.ON
}

// brackets sets paired brackets to the direction of their content: rule N0.
func brackets(text []rune, at []int, class []bidi.Class, marks []bool, own, other bidi.Class) {
	type opened struct {
		closing rune
		at      int
	}
	var stack []opened
	pairs := map[int]int{}
	canonical := strings.NewReplacer("\u232A", "\u3009")
	for i, c := range class {
		p, _ := bidi.LookupRune(text[at[i]])
		if c != bidi.ON || !p.IsBracket() || marks[i] {
			continue
		}
		if p.IsOpeningBracket() {
			const most = 63
			if len(stack) == most {
				break
			}
			closing := []rune(canonical.Replace(bidi.ReverseString(string(text[at[i]]))))[0]
			stack = append(stack, opened{closing, i})
			continue
		}
		closing := []rune(canonical.Replace(string(text[at[i]])))[0]
		for n := len(stack) - 1; n >= 0; n-- {
			if stack[n].closing == closing {
				pairs[stack[n].at] = i
				stack = stack[:n]
				break
			}
		}
	}
	before := own
	for open := range class {
		end, paired := pairs[open]
		if paired {
			holds := bidi.ON
			for _, c := range class[open+1 : end] {
				if d := direction(c); d != bidi.ON {
					if holds = d; d == own {
						break
					}
				}
			}
			if holds == other && before != other {
				holds = own
			}
			if holds != bidi.ON {
				for _, i := range []int{open, end} {
					class[i] = holds
					for n := i + 1; n < len(class) && marks[n]; n++ {
						class[n] = holds
					}
				}
			}
		}
		if d := direction(class[open]); d != bidi.ON {
			before = d
		}
	}
}

// neutral sets neutrals to the direction of the text around them, else of the paragraph: rules N1 and N2.
func neutral(class []bidi.Class, own bidi.Class) {
	before := own
	for i := 0; i < len(class); i++ {
		if d := direction(class[i]); d != bidi.ON {
			before = d
			continue
		}
		end, behind := i, own
		for end < len(class) && direction(class[end]) == bidi.ON {
			end++
		}
		if end < len(class) {
			behind = direction(class[end])
		}
		to := own
		if before == behind {
			to = before
		}
		for ; i < end; i++ {
			class[i] = to
		}
		i--
	}
}

// reorder orders runs of the given levels from left to right (UAX 9, rule L2).
func reorder[T any](runs []T, level func(T) int) {
	highest, lowestOdd := 0, deepest+2
	for _, r := range runs {
		highest = max(highest, level(r))
		if level(r)%2 == 1 {
			lowestOdd = min(lowestOdd, level(r))
		}
	}
	for l := highest; l >= lowestOdd; l-- {
		for i := 0; i < len(runs); i++ {
			end := i
			for end < len(runs) && level(runs[end]) >= l {
				end++
			}
			slices.Reverse(runs[i:end])
			i = max(i, end)
		}
	}
}

// clean makes text one line: white space becomes spaces; control characters and the older direction embeddings and
// overrides, with which a line can show another text than it has, are removed.
func clean(text string) []rune {
	var out []rune
	for _, r := range text { // bytes that are not UTF-8 come as U+FFFD
		switch {
		case unicode.IsSpace(r):
			out = append(out, ' ')
		case unicode.IsControl(r) || r >= '\u202A' && r <= '\u202E':
		default:
			out = append(out, r)
		}
	}
	return out
}
