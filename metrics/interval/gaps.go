package interval

import (
	"fmt"
	"slices"
)

// Scored is a score of a region and its half-samples.
type Scored struct {
	Name    string
	Value   float64
	Samples []float64
}

// Gap is the difference of two scores, A minus B.
type Gap struct {
	A, B         string
	Single       Interval // of this gap alone
	Simultaneous Interval // holds simultaneously for all gaps of the family

	Samples []float64 // the difference in each half-sample
}

// Gaps returns the differences of all pairs of regions, in their order. All must have the same half-samples.
func Gaps(scored []Scored, level float64) ([]Gap, error) {
	var gaps []Gap
	var samples [][]float64
	for i, a := range scored {
		for _, b := range scored[i+1:] {
			d, err := minus(a, b)
			if err != nil {
				return nil, err
			}
			gaps = append(gaps, Gap{A: a.Name, B: b.Name, Single: Interval{Value: a.Value - b.Value}})
			samples = append(samples, d)
		}
	}
	return finish(gaps, samples, level)
}

// GapsToMean returns each region's difference from the unweighted mean of the reference regions. All must have the same
// half-samples. A region that is a reference is compared with the other references, and left out if there are none.
func GapsToMean(scored []Scored, reference []string, level float64) ([]Gap, error) {
	for _, name := range reference {
		if !slices.ContainsFunc(scored, func(s Scored) bool { return s.Name == name }) {
			return nil, fmt.Errorf("interval: the reference %q has no score", name)
		}
	}
	var gaps []Gap
	var samples [][]float64
	for _, a := range scored {
		mean, n := Scored{Name: "mean of references", Samples: make([]float64, len(a.Samples))}, 0.
		for _, r := range scored {
			if r.Name == a.Name || !slices.Contains(reference, r.Name) {
				continue
			}
			if len(r.Samples) != len(a.Samples) {
				return nil, fmt.Errorf("interval: %q has %d half-samples, %q has %d", a.Name, len(a.Samples), r.Name,
					len(r.Samples))
			}
			n++
			mean.Value += r.Value
			for b, x := range r.Samples {
				mean.Samples[b] += x
			}
		}
		if n == 0 {
			continue
		}
		mean.Value /= n
		for b := range mean.Samples {
			mean.Samples[b] /= n
		}
		d, err := minus(a, mean)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, Gap{A: a.Name, B: mean.Name, Single: Interval{Value: a.Value - mean.Value}})
		samples = append(samples, d)
	}
	return finish(gaps, samples, level)
}

func minus(a, b Scored) ([]float64, error) {
	if len(a.Samples) != len(b.Samples) {
		return nil, fmt.Errorf("interval: %q has %d half-samples, %q has %d", a.Name, len(a.Samples), b.Name,
			len(b.Samples))
	}
	d := make([]float64, len(a.Samples))
	for i := range d {
		d[i] = a.Samples[i] - b.Samples[i]
	}
	return d, nil
}

// finish adds the intervals.
func finish(gaps []Gap, samples [][]float64, level float64) ([]Gap, error) {
	values := make([]float64, len(gaps))
	for g := range gaps {
		values[g] = gaps[g].Single.Value
		single, err := FromHalves(values[g], samples[g], level, Range{})
		if err != nil {
			return nil, fmt.Errorf("gap %s − %s: %w", gaps[g].A, gaps[g].B, err)
		}
		gaps[g].Single, gaps[g].Samples = single, samples[g]
	}
	all, err := Simultaneous(values, samples, level)
	if err != nil {
		return nil, err
	}
	for g := range gaps {
		gaps[g].Simultaneous = all[g]
	}
	return gaps, nil
}
