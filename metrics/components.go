package metrics

import (
	"context"
	"errors"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/kernel/client"
)

// ComponentGaps is the metric component-gaps: for each region and score (precision, coverage) the objects' value less the backgrounds', in [-1, 1]: positive = objects are drawn better. The paper says
// that backgrounds score lower "across region subsets" and that Africa's precision is the same in both; this tells the regions apart (section 4.2 of Decomposed-DIG). scores holds the regions'
// scores of object_only and of background_only (Concat), n_used beside them where there is one. A region that lacks one of the two has no gap.
func ComponentGaps(scores datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("component-gaps", settings), map[string]datasets.Table{"in": scores})
}

func init() {
	Register(Metric{
		Info: Info{Name: "component-gaps", Title: "objects' score less backgrounds', region by region", Unit: "difference of shares", Range: "[-1, 1]", Direction: "positive: objects are drawn better",
			Citation: "Sureddy et al. 2024 (Decomposed-DIG), sections 4.1 and 4.2"},
		Version: 1, Inputs: []Input{{Role: "in", Columns: datasets.Columns("vector:text", "precision:number", "coverage:number"), About: "scores by region of object_only and background_only"}},
		Options: []Option{{Name: "region", Default: "region", About: "the column that names the regions"}},
		Columns: func(Args) []client.ColumnSpec {
			return datasets.Columns("region:text", "score:text", "object:number", "background:number", "gap:number", "n_object:number", "n_background:number")
		},
		Compute: computeComponents,
	})
}

func computeComponents(_ context.Context, call Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	places, err := f.Need(call.Options["region"], client.Text)
	if err != nil {
		return nil, err
	}
	rows, order := map[string]map[string]int{}, []string{}
	for i, region := range places.Texts {
		vector := f.Texts("vector")[i]
		if rows[region] == nil {
			rows[region] = map[string]int{}
			order = append(order, region)
		}
		if _, twice := rows[region][vector]; twice {
			return nil, fmt.Errorf("row %d: the region %q has scores of %s already; score by one column", i+1, region, vector)
		}
		rows[region][vector] = i
	}
	out, found := newRows([]string{"region", "score"}), false
	for _, score := range regionScores {
		for _, region := range order {
			at := func(vector, column string) float64 {
				row, known := rows[region][vector]
				if numbers := f.Numbers(column); known && numbers != nil {
					return numbers[row]
				}
				return missing
			}
			object, background := at("object_only", score), at("background_only", score)
			found = found || !math.IsNaN(object-background)
			out.text(region, score)
			out.number("object", object)
			out.number("background", background)
			out.number("gap", object-background)
			out.number("n_object", at("object_only", "n_used"))
			out.number("n_background", at("background_only", "n_used"))
		}
	}
	if !found && len(order) > 0 {
		return nil, errors.New("no region has scores of both components; put those of object_only and background_only under each other with Concat")
	}
	return out.frame(), nil
}
