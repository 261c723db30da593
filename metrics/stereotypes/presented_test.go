package stereotypes_test

import (
	"testing"

	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/seegull"
	"antipode/datasets/visage"
	"antipode/internal/must"
	"antipode/metrics/stereotypes"
	"antipode/test/testengine"
)

// TestReleasedPairs: from the released pairs, the numbers of visual stereotypes are the paper's.
func TestReleasedPairs(t *testing.T) {
	manifesttest.Dir(t, visage.Name)
	manifesttest.Dir(t, seegull.Name)
	testengine.Use(t)
	f := testengine.Rows(t, "pairs", visage.Pairs(visage.Options{ShowOffensive: true}))
	p := must.Get(stereotypes.ReadPairs(f, true))(t)
	for identity, want := range map[string]int{"Australian": 63, "Mexican": 46, "Indian": 34, "New Zealand": 31,
		"Ethiopian": 27, "Japanese": 20} {
		if list, others := p.Presented(identity, 1); len(list)-others != want || others != want {
			t.Errorf("%s: %d stereotypes, %d others, the paper has %d", identity, len(list)-others, others, want)
		}
	}
}
