package interval

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Methods of an [Interval].
const (
	MethodHalfSampling = "half-sampling"
	MethodBootstrap    = "clustered bootstrap"
	MethodMaxT         = "half-sampling, simultaneous (max-t)"
)

// Interval is a value with its confidence interval.
type Interval struct {
	Value, Low, High float64
	Level            float64 // nominal probability, for example 0.95
	Resamples        int     // number of resamples or half-samples
	Method           string
}

// Excludes reports whether x is outside the interval. A gap with Excludes(0) is significant.
func (i Interval) Excludes(x float64) bool { return x < i.Low || x > i.High }

// Range is the range of a score, to which intervals are clipped. The zero Range is unbounded.
type Range struct{ Min, Max float64 }

// Share is the range of shares and of precision, coverage and recall.
var Share = Range{0, 1}

func (r Range) clip(x float64) float64 {
	if r == (Range{}) {
		return x
	}
	return min(max(x, r.Min), r.Max)
}

// ErrResamples is wrapped by errors about resamples that do not determine an interval.
var ErrResamples = errors.New("interval: the resamples do not determine an interval")

// FromHalves returns the interval of a value from the scores of the half-samples (see the package comment), clipped
// to the score's range. If the value is NaN, so is its interval; a half-sample's score that is NaN is an error.
func FromHalves(value float64, samples []float64, level float64, within Range) (Interval, error) {
	if err := check(samples, level); err != nil {
		return Interval{}, err
	}
	mean, _ := spread(samples)
	sorted := slices.Sorted(slices.Values(samples))
	return Interval{
		Value: value, Level: level, Resamples: len(samples), Method: MethodHalfSampling,
		Low:  within.clip(value + Quantile(sorted, (1-level)/2) - mean),
		High: within.clip(value + Quantile(sorted, (1+level)/2) - mean),
	}, nil
}

// Simultaneous returns intervals of several values that hold simultaneously: value ± c·s, where s is the standard
// deviation of the value's half-samples and c the level-quantile, over half-samples, of the largest |score − mean|/s of
// all values (max-t). samples[v][b] is value v in half-sample b: all values must come from the same half-samples. The
// interval of a value with s = 0 has no width.
func Simultaneous(values []float64, samples [][]float64, level float64) ([]Interval, error) {
	if len(values) != len(samples) {
		return nil, fmt.Errorf("interval: %d values with half-samples for %d", len(values), len(samples))
	}
	if len(values) == 0 {
		return nil, nil
	}
	count := len(samples[0])
	largest := make([]float64, count)
	sd := make([]float64, len(values))
	for v, d := range samples {
		if err := check(d, level); err != nil {
			return nil, err
		}
		if len(d) != count {
			return nil, fmt.Errorf("interval: value %d has %d half-samples, the first has %d", v+1, len(d), count)
		}
		mean, s := spread(d)
		sd[v] = s
		if s == 0 {
			continue
		}
		for b, x := range d {
			largest[b] = max(largest[b], math.Abs(x-mean)/s)
		}
	}
	slices.Sort(largest)
	c := Quantile(largest, level)
	out := make([]Interval, len(values))
	for v, x := range values {
		out[v] = Interval{Value: x, Low: x - c*sd[v], High: x + c*sd[v], Level: level, Resamples: count,
			Method: MethodMaxT}
	}
	return out, nil
}

// SimultaneousOfFew is [Simultaneous] for values whose standard deviations have so many degrees of freedom each (units
// less strata, above 0): the quantile is that of Student's distribution at the probability of the normal one.
func SimultaneousOfFew(values []float64, samples [][]float64, free []float64, level float64) ([]Interval, error) {
	out, err := Simultaneous(values, samples, level)
	for v := range out {
		if _, s := spread(samples[v]); s > 0 {
			c := (out[v].High - values[v]) / s
			half := s * max(c, Student(min(math.Erf(c/math.Sqrt2), 1-1e-12), free[v]))
			out[v].Low, out[v].High = values[v]-half, values[v]+half
		}
	}
	return out, err
}

func check(samples []float64, level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("interval: level %g is not between 0 and 1", level)
	}
	if len(samples) < 2 {
		return fmt.Errorf("%w: %d given, at least 2 are needed", ErrResamples, len(samples))
	}
	if b := slices.IndexFunc(samples, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); b >= 0 {
		return fmt.Errorf("%w: number %d is %g", ErrResamples, b+1, samples[b])
	}
	return nil
}

// spread returns mean and standard deviation (n − 1). Package gonum/stat would add all of linear algebra to every
// notebook cell.
func spread(x []float64) (mean, sd float64) {
	n := float64(len(x))
	mean = floats.Sum(x) / n
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / (n - 1))
}

// Quantile returns the p-quantile of ascending values: linear interpolation between order statistics at p·(n+1) (type 6
// of Hyndman and Fan 1996, numpy's "weibull"). A further sample is below it with probability p, so that few resamples
// do not make intervals too narrow. It is NaN if it is infinite, p is NaN or there are no values.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || math.IsNaN(p) {
		return math.NaN()
	}
	at := min(max(p*float64(len(sorted)+1)-1, 0), float64(len(sorted)-1))
	i := int(at)
	q := sorted[i]
	if i+1 < len(sorted) && at > float64(i) {
		q += (at - float64(i)) * (sorted[i+1] - sorted[i])
	}
	if math.IsInf(q, 0) {
		return math.NaN()
	}
	return q
}
