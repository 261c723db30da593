package near

import (
	"math"
	"testing"

	"antipode/internal/must"
)

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want []float64
		equal     bool
	}{
		{"equal with zeros", []float64{0, 1}, []float64{0, 1}, true},
		{"within", []float64{1.00001, 1e-7}, []float64{1, 0}, true},
		{"beyond relative", []float64{1.001}, []float64{1}, false},
		{"beyond absolute at zero", []float64{1e-3}, []float64{0}, false},
		{"NaN twice", []float64{nan}, []float64{nan}, true},
		{"NaN once", []float64{nan}, []float64{1}, false},
		{"infinite twice", []float64{inf}, []float64{inf}, true},
		{"infinite once", []float64{1}, []float64{inf}, false},
		{"signs of infinity", []float64{-inf}, []float64{inf}, false},
		{"lengths", []float64{1}, []float64{1, 2}, false},
		{"empty", nil, nil, true},
	} {
		err := Compare(c.got, c.want, 1e-4, 1e-5)
		must.True(t, (err == nil) == c.equal, "%s: %v", c.name, err)
	}
}

func TestWorst(t *testing.T) {
	if d, i := Worst([]float32{1, 2, 5}, []float32{1, 3, 4.5}); d != 1 || i != 1 {
		t.Errorf("Worst = %v at %d, want 1 at 1", d, i)
	}
	if d, i := Worst([]float64{1, math.NaN()}, []float64{1, 2}); !math.IsInf(d, 1) || i != 1 {
		t.Errorf("Worst with NaN = %v at %d", d, i)
	}
	for _, got := range [][]float32{{1}, {1, 3, 4}} {
		if d, i := Worst(got, []float32{1, 3}); !math.IsInf(d, 1) || i != min(len(got), 2) {
			t.Errorf("Worst of %d and 2 values = %v at %d", len(got), d, i)
		}
	}
	if _, i := Worst[float64](nil, nil); i != -1 {
		t.Errorf("Worst of nothing is at %d", i)
	}
	must.Near(t, Scale([]float64{3, 4}), math.Sqrt(12.5), 1e-12, "Scale")
}
