package stereotypes

import (
	"math"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// imageFrame: Veltan's images, one refused; Norra has a default image only.
func imageFrame() *table.Frame {
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"1", "2", "3", "4", "5"}),
		table.TextColumn("identity", []string{"Veltan", "Veltan", "Veltan", "Veltan", "Norra"}),
		table.TextColumn("set", []string{"d", "s", "ns", "s", "d"}),
		table.TextColumn("attribute", []string{"", "hat", "sea", "hat", ""}),
		table.TextColumn("outcome", []string{"made", "made", "made", "refused", "made"}),
		table.VectorColumn("full", [][]float32{{1, 0}, {3, 4}, {0, 2}, {9, 9}, {0, 1}}),
	}}
}

func TestPullTables(t *testing.T) {
	f := tabulartest.Evaluate(t, "visage-pull", imageFrame(), nil)
	must.Equal(t, strings.Join(f.Texts("identity"), " "), "Veltan Norra") // those without a mean last
	nan := math.NaN()
	for column, want := range map[string][]float64{"s_d_s": {0.6, nan}, "s_d_ns": {0, nan}, "s_s_ns": {0.8, nan},
		"pull": {0.6, nan}, "mean_sim": {1.4 / 3, nan}, "pull_low": {nan, nan}, "mean_sim_low": {nan, nan},
		"s_d_s_low": {nan, nan}, "s_d_ns_low": {nan, nan}, "s_s_ns_low": {nan, nan},
		"n_d": {1, 1}, "n_s": {1, 0}, "n_ns": {1, 0}, "n_asked": {4, 1}, "n_refused": {1, 0}, "n_used": {3, 1}} {
		near.Check(t, column, f.Numbers(column), want, 1e-14, 1e-15)
	}
	count := tabulartest.Evaluate(t, "visage-pull-count", f, nil)
	if count.Numbers("n_positive")[0] != 1 || count.Numbers("n_used")[0] != 1 || count.Numbers("n_undefined")[0] != 1 ||
		!math.IsNaN(count.Numbers("share_low")[0]) {
		t.Errorf("%+v", count)
	}
}

func TestPullTableErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(f *table.Frame)
		options map[string]string
		want    string
	}{
		{"zero", func(f *table.Frame) { f.Column("full").Vectors[1] = []float32{0, 0} }, nil,
			`row 2 (id "2"), column full: the vector is all zeros`},
		{"set", func(f *table.Frame) { f.Column("set").Texts[2] = "x" }, nil, "row 3 (id \"3\"), column set"},
		{"vector", nil, map[string]string{"vector": "clip"}, `"clip"`},
		{"method", nil, map[string]string{"method": "mode"}, "pooled"},
		{"resamples", nil, map[string]string{"resamples": "few"}, "resamples"},
	} {
		f := imageFrame()
		if c.change != nil {
			c.change(f)
		}
		must.Fail(tabulartest.Run("visage-pull", f, c.options))(t, c.want)
	}
	twice := &table.Frame{Columns: []table.Column{table.TextColumn("identity", []string{"a", "a"}),
		table.NumberColumn("s_d_s", []float64{1, 1}), table.NumberColumn("s_d_ns", []float64{0, 0})}}
	must.Fail(tabulartest.Run("visage-pull-count", twice, nil))(t, "row 2")                        // an identity twice
	must.Fail(tabulartest.Run("visage-pull", imageFrame(), nil, "attribute"))(t, `no option "by"`) // grouping
}
