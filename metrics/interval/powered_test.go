package interval

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// TestEqualPPI compares estimates and intervals with those of ppi_py; see testdata/powered.py.
func TestEqualPPI(t *testing.T) {
	var cases []struct {
		Name                 string
		Labels, Judged, Rest []float64
		Level, Value         float64
		Published, Adjusted  []float64
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/powered.json"))(t), &cases))
	must.Equal(t, len(cases), 5, "cases")
	for _, c := range cases {
		p := must.Get(PredictionPowered(c.Labels, c.Judged, c.Rest, true))(t)
		low, high := p.Interval(c.Level)
		near.Check(t, c.Name, []float64{p.Value, low, high}, append([]float64{c.Value}, c.Published...), 1e-9, 1e-12)
		q := must.Get(PredictionPowered(c.Labels, c.Judged, c.Rest, false))(t)
		if low, high = q.Interval(c.Level); c.Adjusted == nil { // scores: the interval is Student's alone
			ratio := Student(c.Level, float64(len(c.Labels)-1)) / (math.Sqrt2 * math.Erfinv(c.Level))
			near.Check(t, c.Name, []float64{high - low}, []float64{ratio * (c.Published[1] - c.Published[0])}, 1e-9, 0)
			continue
		}
		near.Check(t, c.Name+", adjusted", []float64{q.Value, low, high}, append([]float64{c.Value}, c.Adjusted...),
			1e-9, 1e-12)
	}
}

// TestPowered: the order of units has no effect, a judge that is right saves labels, one of no use costs none, and the
// number of labels needed gives the margin.
func TestPowered(t *testing.T) {
	labels, right, other := make([]float64, 40), make([]float64, 40), make([]float64, 40)
	rest := make([]float64, 400)
	for i := range labels {
		labels[i], other[i] = float64(i%3/2), float64(i%2)
	}
	copy(right, labels)
	for i := range rest {
		rest[i] = float64(i % 3 / 2)
	}
	good := must.Get(PredictionPowered(labels, right, rest, false))(t)
	useless := must.Get(PredictionPowered(labels, other, rest, false))(t)
	alone := must.Get(PredictionPowered(labels, make([]float64, 40), nil, false))(t)
	if !(good.Variance() < alone.Variance()/2) || useless.Variance() > 1.05*alone.Variance() || good.Tuning < 0.8 ||
		useless.Tuning > 0.2 {
		t.Errorf("good %+v, useless %+v, alone %+v", good, useless, alone)
	}
	backwards := must.Get(PredictionPowered(reversed(labels), reversed(other), rest, false))(t)
	near.Check(t, "another order", []float64{backwards.Value, backwards.Variance()},
		[]float64{useless.Value, useless.Variance()}, 1e-12, 0)
	low, high := alone.Interval(0.95)
	must.Near(t, alone.Labels(0.95, (high-low)/2), 40, 4)
	must.Near(t, good.Labels(0.95, 1e-6), math.NaN(), 0)
	low, high = PoweredGap(0.95, []float64{1, -1}, good, alone)
	if d := good.center - alone.center; low > d || high < d {
		t.Errorf("gap %v to %v", low, high)
	}
	for name, c := range map[string][2][]float64{"one label": {{1}, {1}}, "unequal": {{1, 0}, {1}},
		"NaN": {{1, math.NaN()}, {1, 1}}, "infinite": {{1, 0}, {math.Inf(1), 1}}} {
		if _, err := PredictionPowered(c[0], c[1], rest, false); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func reversed(x []float64) []float64 {
	x = slices.Clone(x)
	slices.Reverse(x)
	return x
}
