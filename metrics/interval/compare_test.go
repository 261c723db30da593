package interval

import (
	"math"
	"testing"

	"antipode/internal/must"
)

// The difference of two means with normal intervals is the textbook interval: half widths add up by squares.
func TestMinus(t *testing.T) {
	d := Bounded{0.852, 0.812, 0.882}.Minus(Bounded{0.846, 0.816, 0.886})
	low, high := 0.006-math.Sqrt(0.04*0.04+0.04*0.04), 0.006+math.Sqrt(0.03*0.03+0.03*0.03)
	if math.Abs(d.Value-0.006) > 1e-12 || math.Abs(d.Low-low) > 1e-12 || math.Abs(d.High-high) > 1e-12 {
		t.Errorf("%+v, want [%v, %v]", d, low, high)
	}
	none := Bounded{1, math.NaN(), math.NaN()}
	if d := none.Minus(Bounded{0.5, 0.4, 0.6}); d.Value != 0.5 || !math.IsNaN(d.Low) {
		t.Errorf("%+v", d)
	}
}

func TestWithin(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		of          Bounded
		least, most float64
		want        string
	}{
		{Bounded{0.006, -0.05, 0.05}, 0, inf, Undecided},
		{Bounded{0.06, 0.01, 0.11}, 0, inf, Pass},
		{Bounded{-0.06, -0.11, -0.01}, 0, inf, Fail},
		{Bounded{0.06, math.NaN(), math.NaN()}, 0, inf, Pass},
		{Bounded{0, math.NaN(), math.NaN()}, 0, inf, Fail},
		{Bounded{math.NaN(), math.NaN(), math.NaN()}, 0, inf, Fail},
		{Bounded{0.01, -0.02, 0.04}, -0.05, 0.05, Pass},
		{Bounded{0.01, -0.02, 0.06}, -0.05, 0.05, Undecided},
		{Bounded{0.1, 0.06, 0.14}, -0.05, 0.05, Fail},
		{Bounded{0.02, -0.03, 0.07}, 0.02, inf, Undecided},
	} {
		must.Equal(t, c.of.Within(c.least, c.most), c.want, c.of, "in", c.least, "to", c.most)
	}
}

// A score less the mean of two others: half widths add up by squares, those of the mean by half, and are wider for a
// family by the ratio of Student's quantiles.
func TestMinusMean(t *testing.T) {
	others := []Bounded{{0.4, 0.3, 0.5}, {0.6, 0.4, 0.8}}
	d := Bounded{0.9, 0.8, 1.1}.MinusMean(others, 1, 0.95, 30)
	low, high := 0.4-math.Sqrt(0.1*0.1+(0.1*0.1+0.2*0.2)/4), 0.4+math.Sqrt(0.2*0.2+(0.1*0.1+0.2*0.2)/4)
	if math.Abs(d.Value-0.4) > 1e-12 || math.Abs(d.Low-low) > 1e-12 || math.Abs(d.High-high) > 1e-12 {
		t.Errorf("%+v, want [%v, %v]", d, low, high)
	}
	wide := Bounded{0.9, 0.8, 1.1}.MinusMean(others, 4, 0.95, 6) // t(5): 3.8100 at 98.75 %, 2.5706 at 95 %
	must.Near(t, (wide.High-wide.Value)/(d.High-d.Value), 3.8100/2.5706, 1e-4, "wider by")
	if none := (Bounded{1, math.NaN(), math.NaN()}).MinusMean(others, 2, 0.95, 9); !math.IsNaN(none.Low) {
		t.Errorf("%+v", none)
	}
}

// TestCompareReference: the ends are numpy's and scipy's, written down from the formulas of Zou and Donner.
func TestCompareReference(t *testing.T) {
	a, others := Bounded{0.62, 0.50, 0.71}, []Bounded{{0.40, 0.31, 0.52}, {0.55, 0.47, 0.60}, {0.33, 0.20, 0.45}}
	for name, c := range map[string]struct{ got, want Bounded }{
		"minus": {a.Minus(others[0]), Bounded{0.22, 0.05029437251522856, 0.3472792206135785}},
		"mean": {a.MinusMean(others, 4, 0.95, 20), Bounded{0.19333333333333333, 0.017107708263867455,
			0.3352172576109066}},
	} {
		for i, d := range []float64{c.got.Value - c.want.Value, c.got.Low - c.want.Low, c.got.High - c.want.High} {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%s, number %d: %v, want %v", name, i+1, c.got, c.want)
			}
		}
	}
}
