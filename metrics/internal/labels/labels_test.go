package labels

import (
	"antipode/internal/must"
	"fmt"
	"strings"
	"testing"
)

var paper = Models{Printed: []string{"Stable Diffusion", "Dalle3"},
	Names: map[string]string{"stable-diffusion-v1-5": "Stable Diffusion"}}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		models, given string
		want          string // or a part of the error
	}{
		{"stable-diffusion-v1-5|mine", "", "map[Stable Diffusion:stable-diffusion-v1-5]"},
		{"someone/Stable-Diffusion-v1-5@refs/pr/6|DALLE3", "",
			"map[Dalle3:DALLE3 Stable Diffusion:someone/Stable-Diffusion-v1-5@refs/pr/6]"},
		{"stable-diffusion-v1-5|mine|mine", "mine = Stable Diffusion", "map[Stable Diffusion:mine]"},
		{"stable-diffusion-v1-5", "stable-diffusion-v1-5=Dalle3", "map[Dalle3:stable-diffusion-v1-5]"},
		{"stable-diffusion-v1-5|Stable Diffusion", "", "Diffusion and stable-diffusion-v1-5 are both"},
		{"a|b", "a=Dalle3|b=Dalle3", "the models a and b are both"},
		{"mine", "mime=Dalle3", `no model "mime"; did you mean "mine"?`},
		{"mine", "mine=Dalle 3", `prints no model "Dalle 3"; did you mean "Dalle3"?`},
		{"mine", "mine", "not MODEL=LABEL"}, {"", "", "map[]"},
	} {
		split := func(s string) []string {
			return strings.FieldsFunc(s, func(r rune) bool { return r == '|' })
		}
		of, err := paper.Of(split(c.models), split(c.given))
		if err == nil && fmt.Sprint(of) != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, %v; want %s", c.models, c.given, of, err, c.want)
		}
	}
}

func TestNote(t *testing.T) {
	must.Equal(t, paper.Note("Table 1", 3, 9, []string{"x"}), "Table 1: 3 of 9 printed cells computed")
	if got := paper.Note("Table 1", 0, 9, []string{"y", "x", "y"}); !strings.Contains(got, "the table are x, y, those "+
		"of the paper Stable Diffusion, Dalle3: set the option labels") {
		t.Error(got)
	}
}
