package stereotypes

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

// TestOverallIntervals: an interval holds its aggregation, depends on the seed and not on the identities' order, and
// is missing for one identity.
func TestOverallIntervals(t *testing.T) {
	rng := near.Rand(t, 461)
	var ts []Tendency
	for i := range 30 {
		s, r := rng.Float64(), rng.Float64()
		ts = append(ts, Tendency{Identity: fmt.Sprint(i), Stereo: metrics.Exact(s), Other: metrics.Exact(r),
			Theta: metrics.Exact(s / r)})
	}
	overall := func(ts []Tendency, seed int64) []Aggregate {
		return must.Get(ComputeOverallRatio(ts, metrics.Intervals{Resamples: 300, Seed: seed}))(t)
	}
	for k, a := range overall(ts, 1) {
		if !(a.Low < a.Value && a.Value < a.High) {
			t.Errorf("%+v", a)
		}
		must.Equal(t, overall(ts, 1)[k], a)
		if other := overall(ts, 2)[k]; other.Low == a.Low &&
			a.Name != "median-of-theta" ||
			other.Value != a.Value {
			t.Errorf("%s does not depend on the seed as it should", a.Name)
		}
		if one := overall(ts[:1], 1)[k]; !math.IsNaN(one.Low) {
			t.Errorf("%+v of one identity", one)
		}
	}
	bars := must.Get(ComputeConsensus([][3]float64{{5, 5, 1}, {4, 1, 4}, {2, 3, 3}, {1, 2, 3}, {5, 5, 5}},
		metrics.Intervals{Resamples: 500, Seed: 1}))(t)
	for _, b := range bars {
		if !(0 <= b.Share.Low && b.Share.Low <= b.Share.Value && b.Share.Value <= b.Share.High &&
			b.Share.High <= 100) ||
			b.Count > 0 && b.Share.Low == b.Share.High {
			t.Errorf("%+v", b)
		}
	}
}

// TestOffensivenessScale: intervals hold their value and are missing for one stereotype; the scale runs from 0 to 1;
// unrated stereotypes are counted.
func TestOffensivenessScale(t *testing.T) {
	var rows []Showing
	rate := map[string]float64{}
	for k, id := range []string{"A", "B", "C", "D", "E"} {
		for a := range []int{3, 4, 1, 2, 0}[k] {
			name := fmt.Sprint(id, a)
			rate[name] = float64(k + a - 1)
			rows = append(rows, Showing{id, 1, name, true, true})
		}
		rows = append(rows, Showing{id, 1, "unrated", k != 4, true}, Showing{id, 1, "random", false, false})
	}
	ts := must.Get(ComputeTendencies(rows, AssociationOptions{Method: Clean}))(t)
	mean := func(_, a string) float64 {
		if v, rated := rate[a]; rated {
			return v
		}
		return math.NaN()
	}
	out := must.Get(ComputeOffensiveness(ts, mean, OffensivenessVariant{}, metrics.Intervals{Resamples: 200}))(t)
	want := []float64{0, 1.5, 1, 2.5, math.NaN()}
	for i, r := range out {
		scaled := want[i] / 2.5
		if r.Mean.Value != want[i] && !math.IsNaN(want[i]) || r.Scaled != scaled &&
			!(math.IsNaN(r.Scaled) && math.IsNaN(scaled)) {
			t.Errorf("%+v, want %g, %g", r, want[i], scaled)
		}
		must.Equal(t, r.Rated > 1,
			(r.Mean.Low <= r.Mean.Value && r.Mean.Value <= r.Mean.High && r.Mean.Low < r.Mean.High), r)
		must.Equal(t, r.Unrated, map[bool]int{true: 1}[i < 4], "unrated")
	}
	same := must.Get(ComputeOffensiveness(ts[:1], mean, OffensivenessVariant{}, metrics.Intervals{}))(t)
	must.Near(t, same[0].Scaled, math.NaN(), 0, "one identity is scaled", same)
}

// TestEdgeRows: duplicate showings count again, as the paper's tables have it; one image has no width; identities
// without random attributes or with L(random) = 0 have no theta; no rows are an error.
func TestEdgeRows(t *testing.T) {
	frame := func(rows ...[]any) *table.Frame {
		var identities, attributes []string
		var images, selected, stereo, score []float64
		for _, r := range rows {
			identities, attributes = append(identities, r[0].(string)), append(attributes, r[1].(string))
			images, selected, stereo, score = append(images, 1), append(selected, float64(r[2].(int))),
				append(stereo, float64(r[3].(int))), append(score, 5)
		}
		return &table.Frame{Columns: []table.Column{table.TextColumn("identity", identities),
			table.TextColumn("attribute", attributes), table.NumberColumn("image_number", images),
			table.NumberColumn("selected", selected),
			table.NumberColumn("na_stereo", stereo), table.NumberColumn("score_asia", score),
			table.NumberColumn("score_europe", score), table.NumberColumn("score_na", score)}}
	}
	in := frame([]any{"V", "hat", 1, 3}, []any{"V", "hat", 0, 3}, []any{"V", "hat", 0, 3}, []any{"V", "sea", 0, 3},
		[]any{"V", "cow", 0, 0}, []any{"N", "hat", 1, 2}, []any{"N", "sea", 1, 2})
	f := tabulartest.Evaluate(t, "visage-association", in, map[string]string{"resamples": "50"})
	if !slices.Equal(f.Texts("identity"), []string{"N", "V"}) &&
		!slices.Equal(f.Texts("identity"), []string{"V", "N"}) {
		t.Fatalf("%v", f.Texts("identity"))
	}
	for i, id := range f.Texts("identity") {
		v, text := f.Numbers("l_stereo")[i], f.Texts("theta_text")[i]
		if want := map[string]float64{"V": 1. / 6, "N": 1}[id]; math.Abs(v-want) > 1e-15 || text != "N/A" ||
			!math.IsNaN(f.Numbers("theta")[i]) || !math.IsNaN(f.Numbers("theta_low")[i]) {
			t.Errorf("%s: %g, %s", id, v, text)
		}
		must.Near(t, f.Numbers("l_stereo_low")[i], math.NaN(), 0, id, "one image has the interval [")
		must.Near(t, f.Numbers("l_stereo_high")[i], math.NaN(), 0, id, "one image has the interval [")
	}
	if !math.IsNaN(f.Numbers("l_random")[slices.Index(f.Texts("identity"), "N")]) {
		t.Error("no random attribute gives a likelihood")
	}
	for name, spoil := range map[string]*table.Frame{"none": frame(), "selected": frame([]any{"V", "hat", 2, 3}),
		"no stereotype": frame([]any{"V", "hat", 1, 0})} {
		if _, err := tabulartest.Run("visage-association", spoil, nil); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	spoil := frame([]any{"V", "hat", 1, 3})
	must.Fail(tabulartest.Run("visage-association",
		spoil.With(table.NumberColumn("image_number", []float64{math.NaN()})), nil))(t) // an image number NaN
}
