package cell

import (
	"math"
	"strings"
	"testing"
)

func TestExpect(t *testing.T) {
	for _, c := range []struct {
		got, want any
		ok        bool
	}{
		{3, 3.0, true}, {uint8(3), 3, true}, {0.57 * 100, 57, true}, {math.NaN(), math.NaN(), true}, {3, 4, false},
		{0.3871, "0.39", true}, {0.3799, "0.39", false}, {-0.3333, "-0.33", true}, {4833, "4833", true},
		{0.4, "0.39", false}, {math.NaN(), "0.39", false}, {0.39, "much", false},
		{"yes", "yes", true}, {"yes", "no", false}, {"1", 1, false}, {true, true, true}, {nil, 1, false},
		{[]float64{23.184, 22.46}, []string{"23.18", "22.46"}, true}, {[]float64{1, 2}, []any{1, "2.0"}, true},
		{[]float64{1, 2}, []int{1}, false}, {[]string{"a"}, []string{"a"}, true}, {[]string{"a"}, []string{"b"}, false},
	} {
		failed := ""
		func() {
			defer func() {
				if r := recover(); r != nil {
					failed = r.(error).Error()
				}
			}()
			Expect("a number", c.got, c.want)
		}()
		if c.ok != (failed == "") || !c.ok && !strings.HasPrefix(failed, "expect_test.go:") {
			t.Errorf("Expect(%v, %v): %q", c.got, c.want, failed)
		}
	}
}
