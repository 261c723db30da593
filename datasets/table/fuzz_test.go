package table

import (
	"antipode/internal/must"
	"encoding/json"
	"testing"
)

// FuzzPlan: a plan keeps its digest when it is written and read again.
func FuzzPlan(f *testing.F) {
	for _, text := range []string{`{"op":"csv","args":{"path":"t.csv"}}`,
		`{"op":"head","args":{"n":3},"inputs":[{"op":"concat","inputs":[{"op":"rows"},null]}],"line":"a.go:3"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p, again Plan
		if json.Unmarshal(data, &p) != nil || p.Check() != nil {
			return
		}
		p.Files()
		p.AllSecrets()
		if text, err := json.Marshal(&p); err == nil { // arguments are written without spaces
			if err := json.Unmarshal(text, &again); err != nil || again.Check() != nil {
				t.Errorf("%s is written as %s: %v", data, text, err)
			}
			must.Equal(t, string(must.Get(json.Marshal(&again))(t)), string(text), text, "written as")
		}
	})
}
