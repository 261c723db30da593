package disparity

import (
	"math"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// Refused images are not counted, masks of another size and missing images are errors, and the intervals contain the
// value.
func TestMaskTrustRows(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d"}),
		table.TextColumn("outcome", []string{"ok", "refused", "unmasked", "ok"}),
		table.NumberColumn("stability_score", []float64{0.5, math.NaN(), math.NaN(), 1}),
		table.MaskColumn("mask", []table.Mask{{Size: [2]int{2, 2}, Counts: "13"}, {}, {},
			{Size: [2]int{2, 2}, Counts: "4"}})}}
	got := must.Get(tabulartest.RunOn("mask-trust", map[string]*table.Frame{"in": f, "other": f}, nil))(t)
	if got.Numbers("n_images")[0] != 3 || got.Numbers("n_excluded")[0] != 1 || got.Numbers("unmasked")[0] != 2.0/3 ||
		got.Numbers("agreement")[0] != 1 || got.Numbers("n_compared")[0] != 1 || got.Numbers("stability")[0] != 0.5 ||
		!math.IsNaN(got.Numbers("score")[0]) || got.Numbers("touches_border")[0] != 1 ||
		!(got.Numbers("unmasked_low")[0] < 2.0/3) || !strings.Contains(got.Texts("interval")[0], "bootstrap") {
		t.Errorf("%+v", got.Columns)
	}
	blank := f.With(table.MaskColumn("mask", []table.Mask{f.Masks("mask")[0], {}, {}, {}})) // instead of no pixel
	got = must.Get(tabulartest.RunOn("mask-trust", map[string]*table.Frame{"in": f, "other": blank}, nil))(t)
	must.Equal(t, got.Numbers("n_compared")[0], 1, "masks of no pixel and no masks")
	small := f.With(table.MaskColumn("mask", []table.Mask{{Size: [2]int{3, 1}, Counts: "03"}, {}, {}, {}}))
	for want, other := range map[string]*table.Frame{
		"masks of 2×2 and 1×3 pixels are not of one image": small,
		`the table other has no image "d"`:                 f.Pick([]int{0, 1, 2}),
	} {
		must.Fail(tabulartest.RunOn("mask-trust", map[string]*table.Frame{"in": f, "other": other}, nil))(t, want)
	}
}
