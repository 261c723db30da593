package table

import (
	"testing"

	"antipode/internal/must"
)

func TestNearest(t *testing.T) {
	flags := []string{"in", "out", "masks", "model", "object", "seed"}
	for name, want := range map[string]string{
		"maks": "masks", "Masks": "masks", "modle": "model", "on": "in", "objct": "object", "obj": "object",
		"ou": "out", "x": "", "precision": "", "": "", "seed": "",
	} {
		must.Equal(t, Nearest(name, flags), want, "Nearest", name)
	}
	must.Equal(t, Nearest("rgion", []string{"Region", "religion"}), "Region")
	must.Equal(t, Nearest("क्षत्र", []string{"देश", "क्षेत्र"}), "क्षेत्र")
	must.Equal(t, Hint("sed", flags)+Hint("zzz", flags), `; did you mean "seed"?`)
}

func TestColumnHint(t *testing.T) {
	columns := []ColumnSpec{{"id", KindText}, {"images", KindText}}
	for name, want := range map[string]string{"image": `; did you mean "images"?`, "full": "; the stage embed adds it",
		"mask": "; the stage segment adds it", "country": ""} {
		must.Equal(t, ColumnHint(name, columns), want, name)
	}
}

func TestInFiles(t *testing.T) {
	csv := &Plan{Op: "csv", Args: []byte(`{"path":"/x/t.csv"}`)}
	for want, p := range map[string]*Plan{"no such column": {Op: "rows"},
		"t.csv: no such column": {Op: "join", Inputs: []*Plan{csv, csv}}} {
		must.Equal(t, p.InFiles(ErrNoColumn).Error(), want)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3},
		{"saturday", "sunday", 3}} {
		must.Equal(t, editDistance([]rune(c.a), []rune(c.b)), c.want, c.a, "and", c.b)
		must.Equal(t, editDistance([]rune(c.b), []rune(c.a)), c.want, c.a, "and", c.b)
	}
}
