package metrics

import (
	"math"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/metrics/internal/tabulartest"
)

// gap is a table of gaps with one row.
func gap(region string, value float64, flagged string) *table.Frame {
	text := func(name, v string) table.Column { return table.TextColumn(name, []string{v}) }
	number := func(name string, v float64) table.Column { return table.NumberColumn(name, []float64{v}) }
	return &table.Frame{Columns: []table.Column{text("region", region), text("vector", "full"),
		text("score", "coverage"), text("flagged", flagged), number("gap", value), number("gap_low", value-0.1),
		number("gap_high", value+0.1)}}
}

func TestGapVerdicts(t *testing.T) {
	type inputs = map[string]*table.Frame
	for want, in := range map[string]inputs{
		"holds": {"in": gap("a", -0.2, "yes"), "eroded": gap("a", -0.1, "yes"), "other": gap("a", -0.3, "yes")},
		// in the other direction
		"segmentation can explain it": {"in": gap("a", -0.2, "yes"), "eroded": gap("a", 0.3, "yes")},
		"appears with other masks": {"in": gap("a", -0.1, "no"), "eroded": gap("a", -0.1, "no"),
			"other": gap("a", -0.2, "yes")},
		"no gap": {"in": gap("a", -0.1, "no"), "eroded": gap("a", 0.1, "no")},
	} {
		f, err := tabulartest.RunOn("gap-sensitivity", in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Texts("verdict")[0]; got != want || !math.IsNaN(f.Numbers("gap_dilated")[0]) {
			t.Errorf("%q, want %q; dilated %v", got, want, f.Numbers("gap_dilated"))
		}
	}
	for want, in := range map[string]inputs{
		"give the gaps of other masks":                          {"in": gap("a", 0, "no")},
		`other: no gap of coverage for region "a", vector full`: {"in": gap("a", 0, "no"), "other": gap("b", 0, "no")},
	} {
		if _, err := tabulartest.RunOn("gap-sensitivity", in, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Refused images are not counted, masks of another size and missing images are errors, and the intervals contain the
// value.
func TestMaskTrustRows(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d"}),
		table.TextColumn("outcome", []string{"ok", "refused", "unmasked", "ok"}),
		table.NumberColumn("stability_score", []float64{0.5, math.NaN(), math.NaN(), 1}),
		table.MaskColumn("mask", []table.Mask{{Size: [2]int{2, 2}, Counts: "13"}, {}, {},
			{Size: [2]int{2, 2}, Counts: "4"}})}}
	got, err := tabulartest.RunOn("mask-trust", map[string]*table.Frame{"in": f, "other": f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Numbers("n_images")[0] != 3 || got.Numbers("n_excluded")[0] != 1 || got.Numbers("unmasked")[0] != 2.0/3 ||
		got.Numbers("agreement")[0] != 1 || got.Numbers("n_compared")[0] != 1 || got.Numbers("stability")[0] != 0.5 ||
		!math.IsNaN(got.Numbers("score")[0]) || got.Numbers("touches_border")[0] != 1 ||
		!(got.Numbers("unmasked_low")[0] < 2.0/3) || !strings.Contains(got.Texts("interval")[0], "bootstrap") {
		t.Errorf("%+v", got.Columns)
	}
	small := f.With(table.MaskColumn("mask", []table.Mask{{Size: [2]int{3, 1}, Counts: "03"}, {}, {}, {}}))
	for want, other := range map[string]*table.Frame{
		"masks of 2×2 and 1×3 pixels are not of one image": small,
		`the table other has no image "d"`:                 f.Pick([]int{0, 1, 2}),
	} {
		_, err := tabulartest.RunOn("mask-trust", map[string]*table.Frame{"in": f, "other": other}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
