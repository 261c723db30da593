package metrics

import (
	"context"
	"errors"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/regions"
)

// ComponentGapRow is a row of the result of [ComponentGaps].
type ComponentGapRow struct {
	Region          string  `column:"region"`
	Score           string  `column:"score"`
	Object          float64 `column:"object" unit:"share" range:"[0, 1]"`
	Background      float64 `column:"background" unit:"share" range:"[0, 1]"`
	Gap             float64 `column:"gap" unit:"difference of shares" range:"[-1, 1]"`
	ObjectCount     float64 `column:"n_object" unit:"images"`
	BackgroundCount float64 `column:"n_background" unit:"images"`
}

var componentGaps = Define(Definition[RegionOptions, ComponentGapRow]{
	Name: "component-gaps", Version: 1, Inputs: componentInput,
	Title:     "score of objects minus score of backgrounds, by region",
	Unit:      "difference of shares",
	Range:     "[-1, 1]",
	Direction: "positive: objects are generated better",
	Citation:  "Sureddy et al. 2024 (Decomposed-DIG), sections 4.1 and 4.2",
	Compute:   computeComponents,
})

// ComponentGaps returns for each region and score (precision, coverage) the value of objects minus that of backgrounds;
// positive means that objects are generated better. The paper reports that backgrounds score lower "across region
// subsets" and that Africa's precision is the same in both (section 4.2 of Decomposed-DIG). scores holds the regions'
// scores of object_only and of background_only (Concat). A region that lacks one of the two has no gap.
func ComponentGaps(scores datasets.Table, options ...RegionOptions) datasets.Table {
	return componentGaps.Of(scores, options...)
}

func computeComponents(_ context.Context, call *Call, o RegionOptions) (out []ComponentGapRow, err error) {
	in := tabular.Read(call, "in")
	rows := map[[2]string]int{} // by region and vector
	groups := in.Groups([]string{o.Region})
	for _, g := range groups {
		for _, i := range g.Rows {
			key := [2]string{g.By[0], in.Frame.Texts("vector")[i]}
			if _, twice := rows[key]; twice {
				return nil, fmt.Errorf("row %d: the region %q has scores of %s already; group the scores by "+
					"one column only", i+1, key[0], key[1])
			}
			rows[key] = i
		}
	}
	if in.Err != nil {
		return nil, in.Err
	}
	found := false
	for _, score := range regionScores {
		for _, g := range groups {
			region := g.By[0]
			at := func(vector, column string) float64 {
				row, known := rows[[2]string{region, vector}]
				if numbers := in.Frame.Numbers(column); known && numbers != nil {
					return numbers[row]
				}
				return missing
			}
			object, background := at("object_only", score), at("background_only", score)
			found = found || !math.IsNaN(object-background)
			out = append(out, ComponentGapRow{Region: region, Score: score, Object: object, Background: background,
				Gap: object - background, ObjectCount: at("object_only", "n_used"),
				BackgroundCount: at("background_only", "n_used")})
		}
	}
	if !found && len(groups) > 0 {
		return nil, errors.New("no region has scores of both components; combine those of object_only and " +
			"background_only with Concat")
	}
	return out, nil
}

// decomposed returns the scores by region of objects and of backgrounds.
func decomposed(call *Call, role, region string) (d regions.Decomposed, err error) {
	_, precision, err := byRegion(call, role, region, "precision")
	if err != nil {
		return d, err
	}
	_, coverage, err := byRegion(call, role, region, "coverage")
	return regions.Decomposed{
		ObjectPrecision: precision["object_only"], ObjectCoverage: coverage["object_only"],
		BackgroundPrecision: precision["background_only"], BackgroundCoverage: coverage["background_only"],
	}, err
}

// bothVectors adds the fix where the scores of a component are missing.
func bothVectors(err error) error {
	if errors.Is(err, regions.ErrNoRegions) {
		return fmt.Errorf("%w; combine the scores of object_only and background_only with Concat", err)
	}
	return err
}
