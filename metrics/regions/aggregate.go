package regions

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Value is a score of one region.
type Value struct {
	Region string
	Value  float64
}

// Aggregate is what several regions' scores come to.
type Aggregate struct {
	Average                 float64 // unweighted mean of the regions
	Worst, Best             float64 // minimum and maximum
	WorstRegion, BestRegion string
	Ratio                   float64 // best / worst; NaN where worst is 0
	Span                    float64 // best − worst
	Variance, SD            float64 // over the regions, divided by their number
	Regions                 int
}

// ErrNoRegions says that there is nothing to aggregate.
var ErrNoRegions = errors.New("regions: no region has a score")

// Summarise aggregates the scores of the regions.
func Summarise(values []Value) (Aggregate, error) {
	if len(values) == 0 {
		return Aggregate{}, ErrNoRegions
	}
	sorted, err := byRegion(values)
	if err != nil {
		return Aggregate{}, err
	}
	a := Aggregate{Regions: len(sorted), Worst: math.Inf(1), Best: math.Inf(-1)}
	n := float64(len(sorted))
	for _, v := range sorted {
		a.Average += v.Value / n
		if v.Value < a.Worst {
			a.Worst, a.WorstRegion = v.Value, v.Region
		}
		if v.Value > a.Best {
			a.Best, a.BestRegion = v.Value, v.Region
		}
	}
	for _, v := range sorted {
		a.Variance += (v.Value - a.Average) * (v.Value - a.Average) / n
	}
	a.SD = math.Sqrt(a.Variance)
	a.Span = a.Best - a.Worst
	a.Ratio = over(a.Best, a.Worst)
	return a, nil
}

// byRegion sorts by name and refuses names that occur twice and scores that are not available.
func byRegion(values []Value) ([]Value, error) {
	sorted := slices.SortedFunc(slices.Values(values), func(a, b Value) int { return cmp.Compare(a.Region, b.Region) })
	for i, v := range sorted {
		if i > 0 && sorted[i-1].Region == v.Region {
			return nil, fmt.Errorf("regions: %q has two scores", v.Region)
		}
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return nil, fmt.Errorf("regions: the score of %q is not available (%g); leave the region out", v.Region, v.Value)
		}
	}
	return sorted, nil
}

// over divides, and is NaN where nothing can be divided by.
func over(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// Candidate is one way to put a number on "backgrounds carry larger regional disparities". Value is Background / Object.
type Candidate struct {
	Name               string
	Formula            string
	Value              float64 // NaN where Object is 0
	Background, Object float64
}

// Decomposed are the scores of the two decomposed set-ups by region.
type Decomposed struct {
	ObjectPrecision, ObjectCoverage         []Value
	BackgroundPrecision, BackgroundCoverage []Value
}

// Candidates computes side by side the numbers that could stand behind the paper's "1.7x" (claim 3), which it does not define.
// The first, ratio-of-ratios of coverage, is the only one that fits its other claims (2 / 1.2); then follow the two spans.
func Candidates(d Decomposed) ([]Candidate, error) {
	op, err1 := Summarise(d.ObjectPrecision)
	oc, err2 := Summarise(d.ObjectCoverage)
	bp, err3 := Summarise(d.BackgroundPrecision)
	bc, err4 := Summarise(d.BackgroundCoverage)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	candidate := func(name, formula string, background, object float64) Candidate {
		return Candidate{name, formula, over(background, object), background, object}
	}
	return []Candidate{
		candidate("ratio-of-ratios, coverage", "(best / worst, background) / (best / worst, object)", bc.Ratio, oc.Ratio),
		candidate("span ratio, coverage", "(best − worst, background) / (best − worst, object)", bc.Span, oc.Span),
		candidate("span ratio, precision", "(best − worst, background) / (best − worst, object)", bp.Span, op.Span),
	}, nil
}

// Delta is a change from one template or model to another.
type Delta struct {
	Orig, New float64
	Delta     float64 // New − Orig
	Percent   float64 // 100·Delta / Orig; NaN where Orig is 0
}

// Change computes the change of a score.
func Change(orig, new float64) Delta {
	return Delta{orig, new, new - orig, over(100*(new-orig), orig)}
}

// PercentText prints the change in per cent as the paper's Table 1 does, without decimals: "52%", "-2%", "n/a".
func (d Delta) PercentText() string {
	if math.IsNaN(d.Percent) {
		return "n/a"
	}
	r := math.Round(d.Percent)
	return fmt.Sprintf("%.0f%%", r+0) // + 0 turns −0 into 0
}

// Comparison is one score under two templates (or models).
type Comparison struct {
	Average   Delta
	Worst     Delta // of the two minima, as in Table 1: they may belong to different regions
	OrigWorst string
	NewWorst  string
	// SameRegion is the change of the region that was worst under the original template.
	SameRegion Delta
	Regions    []RegionDelta // every region, by name
}

// RegionDelta is the change of one region's score.
type RegionDelta struct {
	Region string
	Delta
}

// Compare compares the scores of the same regions under two templates.
func Compare(orig, new []Value) (Comparison, error) {
	a, err := Summarise(orig)
	if err != nil {
		return Comparison{}, fmt.Errorf("original: %w", err)
	}
	b, err := Summarise(new)
	if err != nil {
		return Comparison{}, fmt.Errorf("new: %w", err)
	}
	c := Comparison{Average: Change(a.Average, b.Average), Worst: Change(a.Worst, b.Worst), OrigWorst: a.WorstRegion, NewWorst: b.WorstRegion}
	left, _ := byRegion(orig)
	right, _ := byRegion(new)
	for i, v := range left {
		if len(left) != len(right) || right[i].Region != v.Region {
			return Comparison{}, fmt.Errorf("regions: the two sides have different regions (%d and %d; first difference at %q)", len(left), len(right), v.Region)
		}
		c.Regions = append(c.Regions, RegionDelta{v.Region, Change(v.Value, right[i].Value)})
		if v.Region == a.WorstRegion {
			c.SameRegion = c.Regions[i].Delta
		}
	}
	return c, nil
}
