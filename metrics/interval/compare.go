package interval

import (
	"math"
	"slices"
)

// Bounded is a value with its interval; Low and High are NaN, or both equal, where it has none.
type Bounded struct{ Value, Low, High float64 }

// known reports whether there is an interval.
func (b Bounded) known() bool { return b.Low < b.High }

// Minus returns a − b. The interval is that of two independent estimates by the method of variance estimates recovery
// (Zou and Donner 2008): the distances of the ends from the values add up by their squares. For estimates that are
// correlated positively, such as those of the same prompts or reference images, it is too wide, never too narrow.
func (b Bounded) Minus(other Bounded) Bounded {
	d := Bounded{b.Value - other.Value, math.NaN(), math.NaN()}
	if b.known() && other.known() {
		d.Low = d.Value - math.Hypot(b.Value-b.Low, other.High-other.Value)
		d.High = d.Value + math.Hypot(b.High-b.Value, other.Value-other.Low)
	}
	return d
}

// MinusMean returns b minus the mean of others, independent estimates from at least n images each, as Minus does. The
// interval is widened so that so many of them hold at once with the probability level of the estimates' intervals: by
// the ratio of Student's quantiles with n − 1 degrees of freedom (Bonferroni). It is NaN if an estimate has none.
func (b Bounded) MinusMean(others []Bounded, family int, level float64, n int) Bounded {
	count := float64(len(others))
	mean, below, above := 0.0, 0.0, 0.0 // sums of squares
	for _, o := range others {
		mean += o.Value / count
		below, above = below+math.Pow((o.Value-o.Low)/count, 2), above+math.Pow((o.High-o.Value)/count, 2)
	}
	free := float64(max(n-1, 1))
	wider := Student(1-(1-level)/float64(family), free) / Student(level, free)
	d := b.Value - mean
	return Bounded{d, d - wider*math.Hypot(b.Value-b.Low, math.Sqrt(above)),
		d + wider*math.Hypot(b.High-b.Value, math.Sqrt(below))}
}

// Verdicts of [Bounded.Within].
const (
	Pass      = "pass"
	Fail      = "FAIL"
	Undecided = "undecided"
)

// Within tells whether the value is above least and at most most: [Pass], or [Fail]; [Undecided] if it has an interval
// with values on both sides of an end. Without an interval the value decides.
func (b Bounded) Within(least, most float64) string {
	low, high := b.Low, b.High
	if !b.known() {
		low, high = b.Value, b.Value
	}
	switch {
	case low > least && high <= most:
		return Pass
	case high <= least || low > most || math.IsNaN(low):
		return Fail
	}
	return Undecided
}

// Every returns the verdict on a conjunction: [Fail] if one of the verdicts is, else [Undecided] if one is, and else
// [Pass].
func Every(verdicts ...string) string {
	for _, v := range []string{Fail, Undecided} {
		if slices.Contains(verdicts, v) {
			return v
		}
	}
	return Pass
}
