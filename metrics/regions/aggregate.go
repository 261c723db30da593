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

// Aggregate summarizes the scores of several regions.
type Aggregate struct {
	WorstRegion string  `column:"worst_region"`
	BestRegion  string  `column:"best_region"`
	Average     float64 `column:"average" unit:"share" range:"[0, 1]"`      // unweighted mean of the regions
	Worst       float64 `column:"worst" unit:"share" range:"[0, 1]"`        // minimum
	Best        float64 `column:"best" unit:"share" range:"[0, 1]"`         // maximum
	Ratio       float64 `column:"ratio" unit:"best / worst" range:"[1, ∞)"` // NaN if worst is 0
	Span        float64 `column:"span" unit:"best − worst" range:"[0, 1]"`
	Variance    float64 `column:"variance" range:"[0, 1]"` // over the regions, divided by their number
	SD          float64 `column:"sd" range:"[0, 1]"`
	Regions     int     `column:"n_regions"`
}

// ErrNoRegions reports an empty list of scores.
var ErrNoRegions = errors.New("regions: no region has a score")

// Summarize aggregates the scores of the regions.
func Summarize(values []Value) (Aggregate, error) {
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

// byRegion sorts by name. A name that occurs twice and a score that is not available are errors.
func byRegion(values []Value) ([]Value, error) {
	sorted := slices.SortedFunc(slices.Values(values), func(a, b Value) int { return cmp.Compare(a.Region, b.Region) })
	for i, v := range sorted {
		if i > 0 && sorted[i-1].Region == v.Region {
			return nil, fmt.Errorf("regions: %q has two scores", v.Region)
		}
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return nil, fmt.Errorf("regions: the score of %q is not available (%g); leave the region out", v.Region,
				v.Value)
		}
	}
	return sorted, nil
}

// over returns a / b, or NaN if b is 0.
func over(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// Candidate is one definition of "backgrounds carry larger regional disparities" as a number: Background / Object.
type Candidate struct {
	Name               string
	Formula            string
	Value              float64 // NaN if Object is 0
	Background, Object float64
}

// Decomposed are the scores of objects and backgrounds by region.
type Decomposed struct {
	ObjectPrecision, ObjectCoverage         []Value
	BackgroundPrecision, BackgroundCoverage []Value

	// Intervals are the ends of the intervals by region, of object precision, background precision, background coverage
	// and object coverage; nil where the scores have none.
	Intervals [4]map[string][2]float64
}

// Candidates returns the possible definitions of the paper's "1.7x" (claim 3), which it does not define: the ratio of
// ratios of coverage, the only one that agrees with its other claims (2 / 1.2), and two ratios of spans.
func Candidates(d Decomposed) ([]Candidate, error) {
	s, err := d.summaries()
	if err != nil {
		return nil, err
	}
	candidate := func(name, formula string, background, object float64) Candidate {
		return Candidate{name, formula, over(background, object), background, object}
	}
	return []Candidate{
		candidate("ratio-of-ratios, coverage", "(best / worst, background) / (best / worst, object)", s.bc.Ratio,
			s.oc.Ratio),
		candidate("span ratio, coverage", "(best − worst, background) / (best − worst, object)", s.bc.Span, s.oc.Span),
		candidate("span ratio, precision", "(best − worst, background) / (best − worst, object)", s.bp.Span, s.op.Span),
	}, nil
}

// Delta is a change from one template or model to another.
type Delta struct {
	Orig, New float64
	Delta     float64 // New − Orig
	Percent   float64 // 100·Delta / Orig; NaN if Orig is 0
}

// Change returns the change of a score.
func Change(orig, new float64) Delta {
	return Delta{orig, new, new - orig, over(100*(new-orig), orig)}
}

// PercentText formats the change in percent as in the paper's Table 1, without decimals: "52%", "-2%", "n/a".
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
	Worst     Delta // of the two minima, as in Table 1; they may be of different regions
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
	a, err := Summarize(orig)
	if err != nil {
		return Comparison{}, fmt.Errorf("original: %w", err)
	}
	b, err := Summarize(new)
	if err != nil {
		return Comparison{}, fmt.Errorf("new: %w", err)
	}
	c := Comparison{Average: Change(a.Average, b.Average), Worst: Change(a.Worst, b.Worst), OrigWorst: a.WorstRegion,
		NewWorst: b.WorstRegion}
	left, _ := byRegion(orig)
	right, _ := byRegion(new)
	for i, v := range left {
		if len(left) != len(right) || right[i].Region != v.Region {
			return Comparison{}, fmt.Errorf("regions: the two sides have different regions (%d and %d; first "+
				"difference at %q)", len(left), len(right), v.Region)
		}
		c.Regions = append(c.Regions, RegionDelta{v.Region, Change(v.Value, right[i].Value)})
		if v.Region == a.WorstRegion {
			c.SameRegion = c.Regions[i].Delta
		}
	}
	return c, nil
}
