package interval

import (
	"fmt"
	"math"
	"slices"
)

// Powered is the prediction-powered estimate of a mean (Angelopoulos et al., Science 382, 2023; with power tuning,
// PPI++, arXiv 2311.01453): the mean of a judge's values, corrected by what labels show of the judge's errors.
type Powered struct {
	Value  float64 // λ·mean(rest) + mean(labels − λ·judged)
	Tuning float64 // λ from 0 (the judge is of no use) to 1, by which the variance is smallest
	N      int     // labels

	center, judge, rectifier float64 // of the interval; variances of the two means
	free                     float64 // degrees of freedom, 0 = as published
}

// PredictionPowered estimates a mean from the labels of some units with a judge's values of the same units, and the
// judge's values of the other units. The labeled units are a random sample.
//
// As published the interval is normal, with the variance of the errors in the sample: for a judge that is right about
// all of ten images it has almost no width. Otherwise it is Student's and, if all values are from 0 to 1, a half of
// each pair of 0 and 1 is added to the labeled sample (Agresti and Min, Biometrics 61, 2005), so that intervals of few
// labels keep their coverage. The value is the published one in both.
//
// Errors: fewer than two labels, unequal numbers, values that are NaN or infinite.
func PredictionPowered(labels, judged, rest []float64, published bool) (Powered, error) {
	if len(labels) != len(judged) || len(labels) < 2 {
		return Powered{}, fmt.Errorf("interval: %d labels of %d judged units; give two or more, and a label for each",
			len(labels), len(judged))
	}
	bounded := true
	for _, v := range slices.Concat(labels, judged, rest) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Powered{}, fmt.Errorf("interval: the values contain NaN or infinity; leave such rows out")
		}
		bounded = bounded && v >= 0 && v <= 1
	}
	p := powered(labels, judged, rest, ones(len(labels)))
	if published {
		return p, nil
	}
	value, tuning := p.Value, p.Tuning
	if bounded {
		weights := append(ones(len(labels)), 0.5, 0.5, 0.5, 0.5)
		p = powered(slices.Concat(labels, []float64{0, 0, 1, 1}), slices.Concat(judged, []float64{0, 1, 0, 1}), rest,
			weights)
	}
	p.Value, p.Tuning, p.N, p.free = value, tuning, len(labels), float64(len(labels)-1)
	return p, nil
}

// SampleMean is the mean of values, two or more finite ones, with the variance that [PredictionPowered] gives it
// without a judge.
func SampleMean(values []float64) Powered {
	p, _ := PredictionPowered(values, make([]float64, len(values)), nil, false) // no error of such values
	return p
}

// Plain is the mean of values of one sample, two or more, with Student's interval.
func Plain(values []float64) Powered {
	p, n := powered(values, values, nil, ones(len(values))), float64(len(values))
	p.rectifier, p.free = p.rectifier*n/(n-1), n-1
	return p
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// powered returns the published estimate of a sample with weights.
func powered(labels, judged, rest, weights []float64) Powered {
	n, pooled := 0.0, slices.Concat(judged, rest)
	for _, w := range weights {
		n += w
	}
	mean := func(of func(i int) float64) (m float64) {
		for i, w := range weights {
			m += w * of(i) / n
		}
		return m
	}
	p := Powered{N: len(labels)}
	label, judge := mean(func(i int) float64 { return labels[i] }), mean(func(i int) float64 { return judged[i] })
	_, sd := spread(pooled)
	if variance := sd * sd; variance > 0 && len(rest) > 0 {
		covariance := mean(func(i int) float64 { return (labels[i] - label) * (judged[i] - judge) })
		p.Tuning = min(max(covariance/((1+n/float64(len(rest)))*variance), 0), 1)
		m, sd := spread(rest)
		p.Value = p.Tuning * m
		if k := float64(len(rest)); k > 1 {
			p.judge = p.Tuning * p.Tuning * sd * sd * (k - 1) / k / k
		}
	}
	errors := mean(func(i int) float64 { return labels[i] - p.Tuning*judged[i] })
	p.Value += errors
	p.center = p.Value
	p.rectifier = mean(func(i int) float64 { return math.Pow(labels[i]-p.Tuning*judged[i]-errors, 2) }) / n
	return p
}

// Variance returns the squared standard error of the estimate.
func (p Powered) Variance() float64 { return p.judge + p.rectifier }

// Interval returns the interval of a level.
func (p Powered) Interval(level float64) (low, high float64) {
	return PoweredGap(level, []float64{1}, p)
}

// PoweredGap returns the interval of a weighted sum of estimates from different units, such as a difference of two
// groups. Degrees of freedom are those of Welch and Satterthwaite.
func PoweredGap(level float64, weights []float64, of ...Powered) (low, high float64) {
	center, variance, share, published := 0.0, 0.0, 0.0, false
	for i, p := range of {
		v := weights[i] * weights[i] * p.Variance()
		center, variance = center+weights[i]*p.center, variance+v
		if published = published || p.free == 0; !published {
			share += v * v / p.free
		}
	}
	quantile := math.Sqrt2 * math.Erfinv(level)
	if !published && share > 0 {
		quantile = Student(level, variance*variance/share)
	}
	half := quantile * math.Sqrt(variance)
	return center - half, center + half
}

// PoweredToMean returns the difference of estimate i to the mean of the others with its interval, minus the same of
// other estimates, nil = none.
func PoweredToMean(level float64, i int, of, minus []Powered) Interval {
	weights := slices.Repeat([]float64{-1 / float64(len(of)-1)}, len(of))
	weights[i] = 1
	for k := range minus {
		weights = append(weights, -weights[k])
	}
	of = slices.Concat(of, minus)
	out := Interval{Level: level}
	for k, w := range weights {
		out.Value += w * of[k].Value
	}
	out.Low, out.High = PoweredGap(level, weights, of...)
	return out
}

// Labels returns the number of labels for which the interval reaches so far to either side, NaN if no number does with
// so many judged units.
func (p Powered) Labels(level, half float64) float64 {
	z := math.Sqrt2 * math.Erfinv(level)
	if left := half*half/(z*z) - p.judge; left > 0 {
		return math.Ceil(p.rectifier * float64(p.N) / left)
	}
	return math.NaN()
}
