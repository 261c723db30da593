package table

import "testing"

func TestNearest(t *testing.T) {
	flags := []string{"in", "out", "masks", "model", "object", "seed"}
	for name, want := range map[string]string{
		"maks": "masks", "Masks": "masks", "modle": "model", "on": "in", "objct": "object", "obj": "object",
		"ou": "out", "x": "", "precision": "", "": "", "seed": "",
	} {
		if got := Nearest(name, flags); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := Nearest("rgion", []string{"Region", "religion"}); got != "Region" {
		t.Errorf("%q", got)
	}
	if got := Nearest("क्षत्र", []string{"देश", "क्षेत्र"}); got != "क्षेत्र" {
		t.Errorf("%q", got)
	}
	if got := Hint("sed", flags) + Hint("zzz", flags); got != `; did you mean "seed"?` {
		t.Errorf("%q", got)
	}
}

func TestColumnHint(t *testing.T) {
	columns := []ColumnSpec{{"id", KindText}, {"images", KindText}}
	for name, want := range map[string]string{"image": `; did you mean "images"?`, "full": "; the stage embed adds it",
		"mask": "; the stage segment adds it", "country": ""} {
		if got := ColumnHint(name, columns); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestInFiles(t *testing.T) {
	csv := &Plan{Op: "csv", Args: []byte(`{"path":"/x/t.csv"}`)}
	for want, p := range map[string]*Plan{"no such column": {Op: "rows"},
		"t.csv: no such column": {Op: "join", Inputs: []*Plan{csv, csv}}} {
		if got := p.InFiles(ErrNoColumn).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3},
		{"saturday", "sunday", 3}} {
		if got := editDistance([]rune(c.a), []rune(c.b)); got != c.want ||
			editDistance([]rune(c.b), []rune(c.a)) != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
