// Package letters measures lines of text, breaks and shortens them, and names fonts for them, without opening a font:
// the layout of a figure is the same on every machine, and the programs of notebook cells contain no fonts.
package letters

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Spacing is the distance of the lines of a paragraph, in sizes of their text.
const Spacing = 1.35

// Measure returns the width to reserve for a line of text: more than its width in Liberation Sans, since a reader's
// font can be wider (DejaVu Sans is, by an eighth, and by a quarter in bold).
func Measure(text string, size float64, bold bool) float64 {
	if bold {
		return 1.25 * Exact(text, size, bold)
	}
	return 1.125 * Exact(text, size, bold)
}

// Exact returns the width of a line of text in Liberation Sans. In scripts that it lacks, ideographs count as one em,
// marks as nothing, letters of Tamil, Telugu and Malayalam as 0.8 em, others as 0.62 em: the layout is the same on
// every machine, whatever its fonts.
func Exact(text string, size float64, bold bool) float64 {
	w := 0.0
	for _, r := range text {
		w += advance(r, bold)
	}
	return w * size
}

// advance returns the width of a character in em.
func advance(r rune, bold bool) float64 {
	of := liberation()[bold]
	if int(r) < len(of.first) && of.first[r] > 0 {
		return of.first[r]
	}
	switch {
	case unicode.In(r, unicode.Tamil, unicode.Telugu, unicode.Malayalam) && !unicode.In(r, unicode.Mn):
		return 0.8 // wider than most
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0xFF01 && r <= 0xFF60:
		return 1
	}
	if w, known := of.all[r]; known {
		return w
	}
	return 0.62
}

// advances are the advance widths of Liberation Sans, regular and bold, in 1/64000 em. A line has a font, its first
// character and the widths of this character and those after it. TestAdvances writes it.
//
//go:embed advances.txt
var advances string

// widths are the advance widths of a font in em.
type widths struct {
	all   map[rune]float64
	first [0xAD]float64 // without marks and characters of control, which have none
}

var liberation = sync.OnceValue(func() map[bool]*widths {
	out := map[bool]*widths{false: {all: map[rune]float64{}}, true: {all: map[rune]float64{}}}
	for line := range strings.Lines(advances) {
		fields := strings.Fields(line)
		of := out[fields[0] == "bold"]
		first, _ := strconv.ParseUint(fields[1], 16, 32)
		for i, f := range fields[2:] {
			units, _ := strconv.Atoi(f)
			r := int(first) + i
			of.all[rune(r)] = float64(units) / 64 / 1000
			if r < len(of.first) {
				of.first[r] = of.all[rune(r)]
			}
		}
	}
	return out
})

// Fit shortens text to a width, with an ellipsis.
func Fit(text string, size float64, bold bool, width float64) string {
	text = OneLine(text)
	if Measure(text, size, bold) <= width {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 0; n-- {
		if s := strings.TrimRight(string(runes[:n]), " ") + "…"; Measure(s, size, bold) <= width {
			return s
		}
	}
	return "…"
}

// Wrap breaks text into lines of a width, at spaces; a word that is too long is broken after a hyphen, a slash or an
// underscore, else anywhere.
func Wrap(text string, size float64, bold bool, width float64) []string {
	var lines []string
	for _, part := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(part) {
			for {
				joined := strings.TrimSpace(line + " " + word)
				if Measure(joined, size, bold) <= width {
					line = joined
					break
				}
				if line != "" {
					lines, line = append(lines, line), ""
					continue
				}
				runes := []rune(word)
				most := min(len(runes), 1+int(10*width/size)) // no letter is so narrow
				n := max(1, sort.Search(most, func(i int) bool {
					return Measure(string(runes[:i+1]), size, bold) > width
				}))
				for i := n; i > 1 && n < len(runes); i-- {
					if strings.ContainsRune("-_/", runes[i-1]) {
						n = i
						break
					}
				}
				lines = append(lines, string(runes[:n]))
				if word = string(runes[n:]); word == "" {
					break
				}
			}
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// OneLine makes text one line: white space becomes a space, control characters and those that override the writing
// direction are removed.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || '\u202a' <= r && r <= '\u202e' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// isolates removes the characters that begin and end an isolate.
var isolates = strings.NewReplacer("\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")

// Isolate makes right-to-left text independent of the writing direction of the sentence around it.
func Isolate(text string) string {
	for _, r := range text {
		if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Cf) {
			return "\u2068" + isolates.Replace(text) + "\u2069"
		}
	}
	return text
}
