package examples

import (
	"reflect"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/internal/must"
)

// Every image can be drawn and has a caption in every language; examples are deterministic.
func TestRandom(t *testing.T) {
	figures := map[string]int{}
	for i := range 300 {
		kind := []string{Thing, Figure, Scenery}[i%3]
		p := Random(Stream(5, 1, i), kind)
		if !reflect.DeepEqual(p, Random(Stream(5, 1, i), kind)) {
			t.Fatalf("example %d drawn twice differs", i)
		}
		im, mask := World.Paint(p)
		if im == nil || (mask == nil) != (kind == Scenery) {
			t.Fatalf("%+v cannot be drawn as a %s", p, kind)
		}
		for _, code := range Codes() {
			if p.CaptionIn(code) == "" {
				t.Fatalf("%+v has no caption in %s", p, code)
			}
		}
		if f := p.Figure; f != nil {
			figures[f.Occupation+f.Ceremony]++
		}
	}
	must.Equal(t, len(figures), 1+len(archipelago.OccupationNames())+len(archipelago.CeremonyNames()),
		"100 figures do", "things, there")
}
