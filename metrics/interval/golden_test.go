package interval

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// TestEqualSciPy compares the expanded level with scipy's distributions, the ends with numpy's quantiles of the same
// resamples, and the whole interval with scipy's bootstrap of its own resamples; see testdata/golden.py.
func TestEqualSciPy(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/golden.json"))(t)
	var cases []struct {
		Name                   string
		Values, Resamples      []float64
		Level, Tail, Low, High float64
		SciPyLow               float64 `json:"scipy_low"`
		SciPyHigh              float64 `json:"scipy_high"`
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 6 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		name := fmt.Sprintf("%s, level %g", c.Name, c.Level)
		b := must.Get(NewBootstrap(BootstrapOptions{Resamples: 50_000, Level: c.Level}, len(c.Values)))(t)
		mean, sd := spread(c.Values)
		low, high := b.Ends(mean, c.Resamples)
		near.Check(t, name, []float64{b.tail, low, high}, []float64{c.Tail, c.Low, c.High}, 1e-9, 1e-12)
		low, high = b.Of(mean, func(units []int) (sum float64) {
			for _, u := range units {
				sum += c.Values[u] / float64(len(units))
			}
			return sum
		})
		near.Check(t, name+", scipy's bootstrap", []float64{low, high}, []float64{c.SciPyLow, c.SciPyHigh}, 0,
			0.05*sd/math.Sqrt(float64(len(c.Values)))+1e-12)
	}
}

// TestStrata: units are sampled within their stratum, equal seeds give equal resamples, streams are independent, and
// strata of one unit have no interval.
func TestStrata(t *testing.T) {
	o := BootstrapOptions{Resamples: 40, Seed: 3, Stream: "a"}
	weights := func(o BootstrapOptions, strata ...int) [][]float64 {
		return must.Get(NewBootstrap(o, strata...))(t).Weights()
	}
	for _, w := range weights(o, 3, 1, 5) {
		if w[0]+w[1]+w[2] != 3 || w[3] != 1 || len(w) != 9 {
			t.Fatalf("weights %v of strata of 3, 1 and 5", w)
		}
	}
	first := fmt.Sprint(weights(o, 4))
	must.Equal(t, fmt.Sprint(weights(o, 4)), first, "equal options, other resamples")
	for _, other := range []BootstrapOptions{{Resamples: 40, Seed: 4, Stream: "a"}, {Resamples: 40, Seed: 3}} {
		if fmt.Sprint(weights(other, 4)) == first {
			t.Errorf("%+v: equal resamples", other)
		}
	}
	for _, strata := range [][]int{{1}, {1, 1}, {0}, nil} {
		b := must.Get(NewBootstrap(o, strata...))(t)
		if low, high := b.Of(1, func([]int) float64 { return 1 }); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("strata %v: [%g, %g]", strata, low, high)
		}
	}
	b := must.Get(NewBootstrap(BootstrapOptions{Resamples: 4, Level: 0.5, Centered: true, Range: Share}, 9))(t)
	if low, high := b.Ends(0.9, []float64{0.1, 0.2, 0.3, 0.4}); math.Abs(low-0.77) > 0.01 || high != 1 {
		t.Errorf("centered: [%g, %g]", low, high) // the mean 0.25 is subtracted, and 1 is the largest share
	}
	for _, level := range []float64{-1, 1, math.NaN()} {
		must.Fail(NewBootstrap(BootstrapOptions{Level: level}, 3))(t)
	}
	must.Fail(NewBootstrap(BootstrapOptions{Resamples: -1}, 3))(t) // −1 resamples
}

// TestQuantile: numpy.quantile(…, method="weibull"); infinite and missing values.
func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values  []float64
		p, want float64
	}{{[]float64{1, 2, 3, 4, 10}, 0.3, 1.8}, {[]float64{1, 2, 3, 4, 10}, 0.975, 10}, {[]float64{1, 2, 3, 4}, 0.5, 2.5},
		{[]float64{7}, 0.1, 7}, {[]float64{1, 2, math.Inf(1)}, 0.25, 1}, {[]float64{1, 2, math.Inf(1)}, 0.9,
			math.NaN()},
		{nil, 0.5, math.NaN()}} {
		if got := Quantile(c.values, c.p); !(math.Abs(got-c.want) < 1e-12) && !math.IsNaN(c.want) ||
			math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("quantile %g of %v: %g, want %g", c.p, c.values, got, c.want)
		}
	}
}
