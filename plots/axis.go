package plots

import (
	"math"
	"slices"
	"strconv"
)

// axis maps values to pixels. An axis of names has one band of width 1 for each name.
type axis struct {
	low, high float64
	ticks     []tick
	bands     bool
}

type tick struct {
	at   float64
	name string
}

// at returns the position of a value between two pixel positions; values beyond the limits are clamped.
func (a axis) at(v, from, to float64) float64 {
	t := (v - a.low) / (a.high - a.low)
	return from + min(max(t, 0), 1)*(to-from)
}

func (a axis) holds(v float64) bool { return v >= a.low && v <= a.high }

func bandAxis(names []string) axis {
	a := axis{high: float64(len(names)), bands: true}
	for i, n := range names {
		a.ticks = append(a.ticks, tick{float64(i) + 0.5, n})
	}
	return a
}

// numberAxis returns an axis with about n ticks at round numbers. Without limits it extends from the tick at or below
// low to the one at or above high; with limits both limits are ticks, of the same distance as the others where round
// numbers allow it.
func numberAxis(low, high float64, limits Range, n int) axis {
	if limits.set() {
		low, high = limits.Low, limits.High
	}
	if high-low <= 1e-12*max(math.Abs(low), math.Abs(high)) { // one value, up to rounding
		pad := max(math.Abs(low)*0.1, 0.1)
		low, high = low-pad, high+pad
	}
	const eps = 1e-9
	whole := func(v float64) bool { return math.Abs(v-math.Round(v)) < eps }
	decade := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	var step, even float64 // even: the largest such step that both limits are multiples of; 0 = there is none
	for _, k := range []float64{1, 2, 2.5, 5, 10} {
		step = decade * k
		count := (high - low) / step
		if limits.set() && whole(low/step) && whole(high/step) && count <= 1.7*float64(n) {
			even = step
		}
		if count <= float64(n)+0.5 {
			break
		}
	}
	if even > 0 {
		step = even
	}
	first, last := math.Ceil(low/step-eps), math.Floor(high/step+eps)
	if !limits.set() {
		first, last = math.Floor(low/step+eps), math.Ceil(high/step-eps)
		low, high = min(first*step, low), max(last*step, high) // 3·0.1 is above 0.3
	}
	decimals := 0
	for ; decimals < 12; decimals++ {
		if scaled := step * math.Pow10(decimals); math.Round(scaled) >= 1 &&
			math.Abs(math.Round(scaled)-scaled) < 1e-6*scaled {
			break
		}
	}
	write := func(v float64) string {
		if v == 0 {
			v = 0 // no "-0"
		}
		if decimals > 6 || max(math.Abs(low), math.Abs(high)) >= 1e7 {
			return strconv.FormatFloat(v, 'g', 6, 64)
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
	a := axis{low: low, high: high}
	if limits.set() && first*step-low > step*eps {
		a.ticks = append(a.ticks, tick{low, short(low)})
		if first*step-low < 0.35*step {
			first++
		}
	}
	beyond := limits.set() && high-last*step > step*eps
	for i := first; i <= last; i++ {
		if beyond && i == last && high-last*step < 0.35*step {
			break
		}
		a.ticks = append(a.ticks, tick{i * step, write(i * step)})
	}
	if beyond {
		a.ticks = append(a.ticks, tick{high, short(high)})
	}
	return a
}

// short formats a whole number, such as a seed, with all its digits and others with at most four significant ones.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// reach extends a range to include a value and its interval.
func reach(low, high float64, v value) (float64, float64) {
	if v.none() {
		return low, high
	}
	return min(low, v.bottom()), max(high, v.top())
}

// shareAxis returns the axis of values that are usually shares: [0, 1] where it contains all values, else round numbers
// that include zero.
func shareAxis(values []value, limits Range, free bool, n int) axis {
	low, high := 0.0, 0.0
	for _, v := range values {
		low, high = reach(low, high, v)
	}
	if low >= 0 && high <= 1 && high > 0.05 && !limits.set() && !free {
		limits = Range{0, 1}
	}
	return closed(low, high, 0, limits, n)
}

// closed is numberAxis with a share of the range as padding, but does not go beyond 0, 1 or 100, or -1 or -100, where
// the values do not: a share has no values above 1.
func closed(low, high, pad float64, limits Range, n int) axis {
	pad *= high - low
	a := numberAxis(low-pad, high+pad, limits, n)
	if limits.set() || low == high {
		return a
	}
	ends := Range{a.low, a.high}
	for _, bound := range []float64{0, 1, 100} {
		if low >= -bound {
			ends.Low = max(ends.Low, -bound)
		}
		if high <= bound {
			ends.High = min(ends.High, bound)
		}
	}
	if ends == (Range{a.low, a.high}) {
		return a
	}
	return numberAxis(low, high, ends, n)
}

// snugAxis returns an axis of round numbers around the values, with a share of their range as padding. Of whole
// numbers, such as counts and ranks, the ticks are whole, too.
func snugAxis(values []value, limits Range, n int, pad float64) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = reach(low, high, v)
	}
	if low > high {
		low, high = 0, 1
	}
	a := closed(low, high, pad, limits, n)
	fraction := func(v float64) bool { return v != math.Trunc(v) }
	if limits.set() || slices.ContainsFunc(values, func(v value) bool {
		return !v.none() && (fraction(v.bottom()) || fraction(v.top()))
	}) {
		return a
	}
	for ; n > 1 && slices.ContainsFunc(a.ticks, func(t tick) bool { return fraction(t.at) }); n-- {
		a = closed(low, high, pad, limits, n-1)
	}
	return a
}
