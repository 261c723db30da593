package interval

import (
	"fmt"
	"slices"
)

// Scored is a score of one region with its half-samples.
type Scored struct {
	Name  string
	Value float64
	Draws []float64
}

// Gap is the difference of two scores, A minus B.
type Gap struct {
	A, B         string
	Single       Interval // holds for this gap alone
	Simultaneous Interval // all gaps of the family hold together
}

// Gaps gives the differences of all pairs of regions, in their order, from the same draws.
func Gaps(scored []Scored, level float64) ([]Gap, error) {
	var gaps []Gap
	var draws [][]float64
	for i, a := range scored {
		for _, b := range scored[i+1:] {
			d, err := minus(a, b)
			if err != nil {
				return nil, err
			}
			gaps = append(gaps, Gap{A: a.Name, B: b.Name, Single: Interval{Value: a.Value - b.Value}})
			draws = append(draws, d)
		}
	}
	return finish(gaps, draws, level)
}

// GapsToMean gives each region's difference to the unweighted mean of the reference regions, from the same draws. A
// region that is a reference itself is compared with the other references; a lone one is left out.
func GapsToMean(scored []Scored, reference []string, level float64) ([]Gap, error) {
	for _, name := range reference {
		if !slices.ContainsFunc(scored, func(s Scored) bool { return s.Name == name }) {
			return nil, fmt.Errorf("interval: there is no score of the reference %q", name)
		}
	}
	var gaps []Gap
	var draws [][]float64
	for _, a := range scored {
		mean, n := Scored{Name: "mean of references", Draws: make([]float64, len(a.Draws))}, 0.
		for _, r := range scored {
			if r.Name == a.Name || !slices.Contains(reference, r.Name) {
				continue
			}
			if len(r.Draws) != len(a.Draws) {
				return nil, fmt.Errorf("interval: %q has %d draws, %q has %d", a.Name, len(a.Draws), r.Name, len(r.Draws))
			}
			n++
			mean.Value += r.Value
			for b, x := range r.Draws {
				mean.Draws[b] += x
			}
		}
		if n == 0 {
			continue
		}
		mean.Value /= n
		for b := range mean.Draws {
			mean.Draws[b] /= n
		}
		d, err := minus(a, mean)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, Gap{A: a.Name, B: mean.Name, Single: Interval{Value: a.Value - mean.Value}})
		draws = append(draws, d)
	}
	return finish(gaps, draws, level)
}

func minus(a, b Scored) ([]float64, error) {
	if len(a.Draws) != len(b.Draws) {
		return nil, fmt.Errorf("interval: %q has %d draws, %q has %d", a.Name, len(a.Draws), b.Name, len(b.Draws))
	}
	d := make([]float64, len(a.Draws))
	for i := range d {
		d[i] = a.Draws[i] - b.Draws[i]
	}
	return d, nil
}

func finish(gaps []Gap, draws [][]float64, level float64) ([]Gap, error) {
	values := make([]float64, len(gaps))
	for g := range gaps {
		values[g] = gaps[g].Single.Value
		single, err := FromHalves(values[g], draws[g], level, Range{})
		if err != nil {
			return nil, fmt.Errorf("gap %s − %s: %w", gaps[g].A, gaps[g].B, err)
		}
		gaps[g].Single = single
	}
	all, err := Simultaneous(values, draws, level)
	if err != nil {
		return nil, err
	}
	for g := range gaps {
		gaps[g].Simultaneous = all[g]
	}
	return gaps, nil
}
