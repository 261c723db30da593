// Package plaintext prepares text of foreign origin for a terminal.
package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns text as one line that a terminal shows as it is: white space becomes a space; control characters, the
// characters that reorder the text around them (embeddings, overrides and isolates) and bytes that are not UTF-8 are
// escaped as in Go, for example \x1b.
func OneLine(s string) string {
	var b strings.Builder
	for line := strings.Join(strings.Fields(s), " "); line != ""; {
		r, n := utf8.DecodeRuneInString(line)
		switch {
		case r == utf8.RuneError && n == 1, r < 0xa0 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, min(r, rune(line[0])))
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(line[:n])
		}
		line = line[n:]
	}
	return b.String()
}
