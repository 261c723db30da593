package plots

import (
	"math"
	"testing"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/visage"
	"antipode/internal/must"
)

// TestBorders: every country that datasets/visage.Regions names is on the map, once, within its limits, and no outline
// follows the antimeridian, where a country would be cut.
func TestBorders(t *testing.T) {
	seen := map[string]int{}
	for _, l := range borders() {
		seen[l.code]++
		for _, ring := range l.rings {
			for i, p := range ring {
				must.True(t, p[0] >= mapWest && p[0] <= mapEast && math.Abs(p[1]) <= 90, "%s: %v", l.code, p)
				if next := ring[(i+1)%len(ring)]; len(ring) > 1 && p[0] == next[0] &&
					math.Abs(math.Abs(p[0])-180) < 0.01 {
					t.Errorf("%s is cut from %v to %v", l.code, p, next)
				}
			}
			must.True(t, len(ring) != 2, "%s: a ring of two points", l.code)
		}
	}
	regions := must.Get(operation.EvaluatorOf("visage-regions")(t.Context(), datasets.Call{}, nil, nil))(t)
	for i, code := range regions.Texts("iso3") {
		must.True(t, code == "" || seen[code] == 1,
			"%s, %s: %d times on the map", regions.Texts("identity")[i], code, seen[code])
	}
	must.True(t, len(seen) >= 190 && visage.Regions("").Err() == nil, "%d countries", len(seen))
}

// TestMap: the largest of two values of a country counts, a country without a value and one without a row differ, and
// rows without a country are counted.
func TestMap(t *testing.T) {
	rows := []map[string]any{
		{"id": "a", "iso3": "GBR", "n": 1}, {"id": "b", "iso3": "GBR", "n": 3}, {"id": "c", "iso3": "SGP", "n": 2},
		{"id": "d", "iso3": "", "n": 9}, {"id": "e", "iso3": "BRA"}, {"id": "f", "iso3": "IND", "n": 0}}
	f := Map{Table: datasets.FromRows(rows), Value: "n", Title: "Three countries"}
	svg := must.Get(Render(f, "svg"))(t)
	// the map
	must.Has(t, string(svg), "Three countries", "1 rows share a country with another",
		"1 rows without a country of the map", "Natural Earth")
	th := f.Theme.complete()
	for _, want := range map[string]string{"GBR": hex(th.High), "BRA": hex(mix(th.Paper, th.Rule, 0.6)),
		"IND": hex(mix(th.Paper, th.High, 0.12))} {
		must.Has(t, string(svg), want)
	}
	must.Fail(Render((Map{Table: datasets.FromRows(rows[3:4]), Value: "n"}), "svg"))(t, "no data to draw")
	for _, name := range []string{"", "x"} {
		_, err := Render((Map{Table: datasets.FromRows(rows), Value: "n", Country: name}), "svg")
		must.Equal(t, err == nil, name == "", "country", name)
	}
}
