package tabular

import (
	"math"
	"strings"
	"testing"

	"antipode/metrics"
)

func TestFrame(t *testing.T) {
	specs := Specs("=name", "n", "x")
	f, err := Frame(specs, [][]any{{"क", 1, 0.5}, {"ب", 2, math.NaN()}})
	if err != nil || f.Len() != 2 || f.Texts("name")[1] != "ب" || f.Numbers("n")[1] != 2 || f.Numbers("x")[0] != 0.5 || f.Check() != nil {
		t.Errorf("%+v, %v", f, err)
	}
	for _, rows := range [][][]any{{{"a", 1}}, {{"a", 1, "b"}}, {{2, 1, 1}}, {{"a", nil, 1}}} {
		if _, err := Frame(specs, rows); err == nil || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("%v: %v", rows, err)
		}
	}
	if empty, err := Frame(specs, nil); err != nil || empty.Len() != 0 || len(empty.Columns) != 3 {
		t.Errorf("%+v, %v", empty, err)
	}
}

// TestPercentiles: numpy.percentile of [1, 2, 3, 4, 10] gives 1.1 and 9.4 at 2.5 and 97.5 %.
func TestPercentiles(t *testing.T) {
	if low, high := Percentiles([]float64{10, 2, 3, 1, 4}, 0.95); math.Abs(low-1.1) > 1e-12 || math.Abs(high-9.4) > 1e-12 {
		t.Errorf("[%g, %g]", low, high)
	}
	if low, high := Percentiles([]float64{1, 2, math.Inf(1)}, 0.5); low != 1.5 || !math.IsNaN(high) {
		t.Errorf("[%g, %g]", low, high)
	}
	if low, high := Percentiles(nil, 0.95); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("[%g, %g]", low, high)
	}
	if low, high := Percentiles([]float64{7}, 0.95); low != 7 || high != 7 {
		t.Errorf("[%g, %g]", low, high)
	}
}

func TestOptions(t *testing.T) {
	args := Args("m", []metrics.Setting{Set("k", "3"), Set("bad", "x"), Set("inf", "+Inf"), Set("minus", "-1")})
	call := metrics.Call{Options: args.Options}
	if n, err := Count(call, "k"); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if x, err := Number(call, "minus"); x != -1 || err != nil {
		t.Errorf("%g, %v", x, err)
	}
	for _, name := range []string{"bad", "inf"} {
		if _, err := Number(call, name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Count(call, "minus"); err == nil {
		t.Error("a negative count passes")
	}
}
