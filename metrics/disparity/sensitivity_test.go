package disparity

import (
	"math"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

func gap(region string, value float64, flagged string) *table.Frame {
	text := func(name, v string) table.Column { return table.TextColumn(name, []string{v}) }
	number := func(name string, v float64) table.Column { return table.NumberColumn(name, []float64{v}) }
	return &table.Frame{Columns: []table.Column{text("region", region), text("vector", "full"),
		text("score", "coverage"), text("flagged", flagged), number("gap", value), number("gap_low", value-0.1),
		number("gap_high", value+0.1), text("interval", "95 % interval"), number("n_real", 9),
		number("n_generated", 8)}}
}

func TestGapVerdicts(t *testing.T) {
	type inputs = map[string]*table.Frame
	for want, in := range map[string]inputs{
		"holds": {"in": gap("a", -0.2, "yes"), "eroded": gap("a", -0.1, "yes"), "other": gap("a", -0.3, "yes")},
		// in the other direction
		"segmentation can explain it": {"in": gap("a", -0.2, "yes"), "eroded": gap("a", 0.3, "yes"),
			"other": gap("a", -0.2, "yes"), "masked": gap("a", -0.05, "no")},
		"appears with other masks": {"in": gap("a", -0.1, "no"), "eroded": gap("a", -0.1, "no"),
			"other": gap("a", -0.2, "yes")},
		"no gap": {"in": gap("a", -0.1, "no"), "eroded": gap("a", 0.1, "no")},
	} {
		f := must.Get(tabulartest.RunOn("gap-sensitivity", in, nil))(t)
		must.Equal(t, f.Texts("verdict")[0], want)
		must.Near(t, f.Numbers("gap_dilated")[0], math.NaN(), 0)
		gone, masked, n := "", math.NaN(), 0.0
		if in["masked"] != nil {
			gone, masked, n = "eroded, masked", -0.05, 8
		}
		if got := f.Numbers("gap_masked")[0]; f.Texts("gone_with")[0] != gone || f.Numbers("n_masked")[0] != n ||
			got != masked && !(math.IsNaN(got) && math.IsNaN(masked)) {
			t.Errorf("%s: gone with %q, masked %v of %v", want, f.Texts("gone_with")[0], got, f.Numbers("n_masked")[0])
		}
		must.Equal(t, f.Texts("interval")[0], "95 % interval", want, f.Columns)
		must.Equal(t, f.Numbers("n_real")[0], 9, want, f.Columns)
	}
	lacking := must.Get(tabulartest.RunOn("gap-sensitivity", inputs{"in": gap("a", -0.2, "yes"),
		"masked": gap("b", 0, "no")}, map[string]string{"skip_few": "true"}))(t)
	must.Equal(t, lacking.Texts("verdict")[0], Explained, "a variant without the group")
	must.Equal(t, lacking.Texts("gone_with")[0], "masked", "a variant without the group")
	for want, in := range map[string]inputs{
		"give the gaps of other masks":                          {"in": gap("a", 0, "no")},
		`other: no gap of coverage for region "a", vector full`: {"in": gap("a", 0, "no"), "other": gap("b", 0, "no")},
	} {
		must.Fail(tabulartest.RunOn("gap-sensitivity", in, nil))(t, want)
	}
}
