package significance

import (
	"math"
	"slices"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

func TestAdjustTable(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("axis", []string{"a", "a", "b", "a", "b"}),
		table.TextColumn("note", []string{"1", "2", "3", "4", "5"}),
		table.NumberColumn("p", []float64{0.01, 0.04, 0.2, math.NaN(), 0.02})}}
	all := run(t, "adjust-p", f, nil)
	near.Check(t, "p_holm", all.Numbers("p_holm"), []float64{0.04, 0.08, 0.2, math.NaN(), 0.06}, 0, 1e-12)
	near.Check(t, "p_bh", all.Numbers("p_bh"), []float64{0.04, 0.16 / 3, 0.2, math.NaN(), 0.04}, 0, 1e-12)
	if !slices.Equal(all.Texts("found_holm"), []string{"yes", "no", "no", "", "no"}) ||
		!slices.Equal(all.Texts("found_bh"), []string{"yes", "no", "no", "", "yes"}) || all.Texts("note")[4] != "5" ||
		all.Numbers("n_tests")[0] != 4 || all.Numbers("n_tests")[3] != 0 {
		t.Errorf("%v", datasets.Format(all, 0))
	}
	by := run(t, "adjust-p", f, map[string]string{"alpha": "0.03"}, "axis")
	if err := near.Compare(by.Numbers("p_holm"), []float64{0.02, 0.04, 0.2, math.NaN(), 0.04}, 0, 1e-12); err != nil ||
		by.Texts("found_holm")[1] != "no" {
		t.Error(err)
	}
	f.Columns[2].Numbers[1] = 1.2
	must.Fail(tabulartest.Run("adjust-p", f, nil))(t, "row 2", "1.2 is not a probability")
}
