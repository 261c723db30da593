package manifest

import (
	"strings"
	"testing"
)

// FuzzSheet: a sheet is refused in one line, or has the columns that are needed.
func FuzzSheet(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\xef\xbb\xbfa\n\"x\ny\"\n", "b\n", "a,a\n\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSheet("t.csv", data, "a")
		if err != nil && strings.Contains(err.Error(), "\n") || err == nil && s.Column("a") < 0 {
			t.Errorf("%q is read as %v, %v", data, s, err)
		}
	})
}
