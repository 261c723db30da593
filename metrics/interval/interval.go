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

// Interval is a value with what is known of its uncertainty.
type Interval struct {
	Value, Low, High float64
	Level            float64 // nominal probability, for example 0.95
	Draws            int     // number of resamples behind it
	Method           string
}

// Excludes says whether the interval leaves a number out: Excludes(0) of a gap is "the gap is there".
func (i Interval) Excludes(x float64) bool { return x < i.Low || x > i.High }

// Range bounds an interval. The zero Range bounds nothing.
type Range struct{ Min, Max float64 }

// Share is the range of shares and of precision, coverage and recall.
var Share = Range{0, 1}

func (r Range) clip(x float64) float64 {
	if r == (Range{}) {
		return x
	}
	return min(max(x, r.Min), r.Max)
}

// ErrDraws is wrapped by errors about draws from which no interval can be made.
var ErrDraws = errors.New("interval: no interval from these draws")

// FromHalves gives the interval of a value from the same score of the half-samples (see the package's formula), cut to the score's range.
// A value that is not available (NaN) gets an interval that is not available; a draw that is NaN is an error.
func FromHalves(value float64, draws []float64, level float64, within Range) (Interval, error) {
	if err := check(draws, level); err != nil {
		return Interval{}, err
	}
	mean, _ := spread(draws)
	sorted := slices.Sorted(slices.Values(draws))
	return Interval{
		Value: value, Level: level, Draws: len(draws), Method: MethodHalfSampling,
		Low:  within.clip(value + quantile(sorted, (1-level)/2) - mean),
		High: within.clip(value + quantile(sorted, (1+level)/2) - mean),
	}, nil
}

// Simultaneous gives the intervals of several values that hold together: each is value ± c·s, with s the standard
// deviation of its draws and c the level-quantile, over draws, of the largest |draw − mean|/s of all values (max-t).
// draws[v][b] is value v in draw b: all values must come from the same draws. A value whose draws never move gets an interval of no width.
func Simultaneous(values []float64, draws [][]float64, level float64) ([]Interval, error) {
	if len(values) != len(draws) {
		return nil, fmt.Errorf("interval: %d values with draws for %d", len(values), len(draws))
	}
	if len(values) == 0 {
		return nil, nil
	}
	count := len(draws[0])
	largest := make([]float64, count)
	sd := make([]float64, len(values))
	for v, d := range draws {
		if err := check(d, level); err != nil {
			return nil, err
		}
		if len(d) != count {
			return nil, fmt.Errorf("interval: value %d has %d draws, the first has %d", v+1, len(d), count)
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
	c := quantile(largest, level)
	out := make([]Interval, len(values))
	for v, x := range values {
		out[v] = Interval{Value: x, Low: x - c*sd[v], High: x + c*sd[v], Level: level, Draws: count, Method: MethodMaxT}
	}
	return out, nil
}

func check(draws []float64, level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("interval: level %g is not between 0 and 1 (0.95 is usual)", level)
	}
	if len(draws) < 2 {
		return fmt.Errorf("%w: there are %d, at least 2 are needed", ErrDraws, len(draws))
	}
	if b := slices.IndexFunc(draws, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); b >= 0 {
		return fmt.Errorf("%w: draw %d is %g", ErrDraws, b+1, draws[b])
	}
	return nil
}

// spread gives mean and standard deviation (n − 1). Package gonum/stat would do it, but it brings all of linear algebra into every cell.
func spread(x []float64) (mean, sd float64) {
	n := float64(len(x))
	mean = floats.Sum(x) / n
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / (n - 1))
}

// quantile interpolates linearly between order statistics at p·(n+1) (type 6, numpy's "weibull"): a further value of the
// same kind lies below it with probability p, so that few draws do not make intervals too narrow. sorted must be ascending and not empty.
func quantile(sorted []float64, p float64) float64 {
	at := min(max(p*float64(len(sorted)+1)-1, 0), float64(len(sorted)-1))
	i := min(int(at), max(len(sorted)-2, 0))
	if len(sorted) == 1 {
		return sorted[0]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
