package execmodel

import (
	"strings"
	"testing"
)

// FuzzParse: a line of a program is a message of a known type without control characters, or refused in one line.
func FuzzParse(f *testing.F) {
	for _, line := range []string{`{"type":"ready","protocol":1,"tasks":["generate"],"sizes":[[64,64]]}`,
		`{"type":"item","id":"a","file":"a.png","meta":{"x":1}}`, `{"type":"item","id":"a","masks":[{"size":[1,1],"counts":"1"}]}`,
		`{"type":"progress","step":1,"steps":2}`, `{"type":"fatal","reason":"x"}`, `{"type":"log","text":"a\u001bb"}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := parse(line, 3)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q is not one line", err)
		}
		if err == nil && (m.Type == "" || strings.ContainsAny(m.Text+m.Reason, "\x00\x1b")) {
			t.Errorf("%q is read as %+v", line, m)
		}
	})
}
