package disparity

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"antipode/metrics/internal/tabular"
)

// regionScore is a score of one region.
type regionScore struct {
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

// errNoRegions reports an empty list of scores.
var errNoRegions = errors.New("disparity: no region has a score")

// summarize aggregates the scores of the regions.
func summarize(values []regionScore) (Aggregate, error) {
	if len(values) == 0 {
		return Aggregate{}, errNoRegions
	}
	sorted, err := sortedByRegion(values)
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
	a.Ratio = tabular.Ratio(a.Best, a.Worst)
	return a, nil
}

// sortedByRegion sorts by name. A name that occurs twice and a score that is not available are errors.
func sortedByRegion(values []regionScore) ([]regionScore, error) {
	sorted := slices.SortedFunc(slices.Values(values), func(a, b regionScore) int {
		return cmp.Compare(a.Region,
			b.Region)
	})
	for i, v := range sorted {
		if i > 0 && sorted[i-1].Region == v.Region {
			return nil, fmt.Errorf("disparity: %q has two scores", v.Region)
		}
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return nil, fmt.Errorf("disparity: the score of %q is not available (%g); leave the region out", v.Region,
				v.Value)
		}
	}
	return sorted, nil
}

// components are the scores of objects and backgrounds by region.
type components struct {
	ObjectPrecision, ObjectCoverage         []regionScore
	BackgroundPrecision, BackgroundCoverage []regionScore

	// Intervals are the ends of the intervals by region, of object precision, background precision, background coverage
	// and object coverage; nil where the scores have none.
	Intervals [4]map[string][2]float64
}

// candidates returns the possible definitions of the paper's "1.7x" (claim 3), which it does not define: the ratio of
// ratios of coverage, the only one that agrees with its other claims (2 / 1.2), and two ratios of spans.
func candidates(d components) ([]disparityRatioRow, error) {
	s, err := d.summaries()
	if err != nil {
		return nil, err
	}
	of := func(name, formula string, background, object float64) disparityRatioRow {
		return disparityRatioRow{name, formula, tabular.Ratio(background, object), background, object}
	}
	return []disparityRatioRow{
		of("ratio-of-ratios, coverage", "(best / worst, background) / (best / worst, object)", s.bc.Ratio,
			s.oc.Ratio),
		of("span ratio, coverage", "(best − worst, background) / (best − worst, object)", s.bc.Span, s.oc.Span),
		of("span ratio, precision", "(best − worst, background) / (best − worst, object)", s.bp.Span, s.op.Span),
	}, nil
}

// changeOf returns a change from one template or model to another, in percent as the paper's Table 1 prints it: without
// decimals, "52%", "-2%", "n/a".
func changeOf(of, region string, original, changed float64) templateDeltaRow {
	r := templateDeltaRow{Of: of, Region: region, Percent: "n/a", Original: original, Changed: changed,
		Delta: changed - original, DeltaPercent: tabular.Ratio(100*(changed-original), original)}
	if !math.IsNaN(r.DeltaPercent) {
		r.Percent = fmt.Sprintf("%.0f%%", math.Round(r.DeltaPercent)+0) // + 0 turns −0 into 0
	}
	return r
}

// compareTemplates compares the scores of the same regions under two templates: the changes of the average, of the
// worst region, which may be another one then as in Table 1, of the region that was worst, and of every region by name.
func compareTemplates(original, changed []regionScore) ([]templateDeltaRow, error) {
	a, err := summarize(original)
	if err != nil {
		return nil, fmt.Errorf("original: %w", err)
	}
	b, err := summarize(changed)
	if err != nil {
		return nil, fmt.Errorf("new: %w", err)
	}
	worst := a.WorstRegion
	if b.WorstRegion != worst {
		worst += ", then " + b.WorstRegion
	}
	var was templateDeltaRow
	var regions []templateDeltaRow
	left, _ := sortedByRegion(original)
	right, _ := sortedByRegion(changed)
	for i, v := range left {
		if len(left) != len(right) || right[i].Region != v.Region {
			return nil, fmt.Errorf("disparity: the two sides have different regions (%d and %d; first difference at "+
				"%q)", len(left), len(right), v.Region)
		}
		regions = append(regions, changeOf("region", v.Region, v.Value, right[i].Value))
		if v.Region == a.WorstRegion {
			was = changeOf("region that was worst", v.Region, v.Value, right[i].Value)
		}
	}
	return append([]templateDeltaRow{changeOf("average", "", a.Average, b.Average),
		changeOf("worst region", worst, a.Worst, b.Worst), was}, regions...), nil
}
