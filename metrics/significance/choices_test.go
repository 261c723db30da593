package significance

import (
	"math"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// Four conclusions under three choices: verdicts that change are counted by conclusion and by choice; a conclusion that
// a choice does not make does not count for it.
func TestChoices(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{
		table.TextColumn("choice", strings.Fields("base base base base k5 k5 k5 k5 white white white")),
		table.TextColumn("region", strings.Fields("a b c d a b c d a b c")),
		table.TextColumn("verdict", strings.Fields("found no no found found no found no found no no")),
		table.NumberColumn("difference", []float64{4, 1, 2, 3, 4, 1, 3.5, math.NaN(), 5, 2, 1})}}
	by := map[string]string{"by": "region"}
	got := must.Get(tabulartest.Run("conclusions", f, by))(t)
	must.EqualSlices(t, got.Numbers("n_choices"), []float64{3, 3, 3, 2})
	must.EqualSlices(t, got.Numbers("same"), []float64{1, 1, 2. / 3, 0.5})
	must.EqualSlices(t, got.Texts("differs"), []string{"", "", "k5 (found)", "k5 (no)"})
	must.EqualSlices(t, got.Numbers("lowest"), []float64{4, 1, 1, 3})
	must.EqualSlices(t, got.Numbers("highest"), []float64{5, 2, 3.5, 3})
	must.EqualSlices(t, got.Texts("region"), []string{"a", "b", "c", "d"})
	got = must.Get(tabulartest.Run("choices", f, by))(t)
	must.EqualSlices(t, got.Texts("choice"), []string{"base", "k5", "white"})
	must.EqualSlices(t, got.Numbers("n_conclusions"), []float64{4, 4, 3})
	must.EqualSlices(t, got.Numbers("same"), []float64{1, 0.5, 1})
	must.Equal(t, got.Texts("differs")[1], "c (found); d (no)")
	must.EqualSlices(t, got.Numbers("rank_correlation"), []float64{1, 1, 0.5})
	must.EqualSlices(t, got.Numbers("largest_change"), []float64{0, 1.5, 1})
	for what, change := range map[string]func(){
		"no row of e under the first choice, base": func() { f.Columns[1].Texts[8] = "e" },
		"two rows of b under k5":                   func() { f.Columns[1].Texts[6] = "b" },
	} {
		change()
		must.Fail(tabulartest.Run("choices", f, by))(t, what)
		f.Columns[1].Texts[8], f.Columns[1].Texts[6] = "a", "c"
	}
}
