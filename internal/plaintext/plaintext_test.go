package plaintext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"antipode/internal/must"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\r\nc ":          "a b c",
		"\x1b[31mred\x07":     `\x1b[31mred\x07`,
		"\u202egnp.exe\u2066": `\u202egnp.exe\u2066`,
		"\x7f\u009b\xff\x9b":  `\x7f\x9b\xff\x9b`,
		"नमस्ते, می\u200cخواهم 👩‍🎓": "नमस्ते, می\u200cخواهم 👩‍🎓",
	} {
		must.Equal(t, OneLine(in), want, in)
	}
}

// FuzzOneLine: the result is UTF-8 without control characters, and escaping it again changes nothing.
func FuzzOneLine(f *testing.F) {
	for _, s := range []string{"a\x1b]0;x\x07", "\u202ea\u202c", "\xc3", "a\n b", "नमस्ते"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := OneLine(s)
		must.True(t, utf8.ValidString(got) && !strings.ContainsFunc(got, unicode.IsControl) && OneLine(got) == got,
			"%q becomes %q", s, got)
	})
}
