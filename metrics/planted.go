package metrics

import (
	"context"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/kernel/client"
)

// PlantedVerdicts holds gaps against the truth of a world that knows what was planted: for every planted disparity whether it
// was found (flagged, with the right sign), and for every other group and planted score whether it was flagged by
// mistake. gaps is what [GapsToControls] gave, of one vector or several (Concat); plants is datasets.World.Plants.
func PlantedVerdicts(gaps, plants datasets.Table) datasets.Table {
	return Score(newArgs("planted-verdicts", nil), map[string]datasets.Table{"in": gaps, "plants": plants})
}

func init() {
	Register(Metric{
		Info:    Info{Name: "planted-verdicts", Title: "planted disparities found or missed, others flagged by mistake", Citation: "docs/archipelago.md"},
		Version: 1,
		Inputs: []Input{
			{Role: "in", Columns: datasets.Columns("region:text", "vector:text", "score:text", "flagged:text", "gap:number", "gap_low:number", "gap_high:number"), About: "gaps by region"},
			{Role: "plants", Columns: datasets.Columns("region:text", "component:text", "score:text"), About: "what was planted"},
		},
		Columns: func(Args) []client.ColumnSpec {
			return datasets.Columns("region:text", "vector:text", "score:text", "planted:text", "verdict:text", "gap:number", "gap_low:number", "gap_high:number", "right:number")
		},
		Compute: computeVerdicts,
	})
}

func computeVerdicts(_ context.Context, call Call) (*client.Frame, error) {
	gaps, plants := call.Inputs["in"], call.Inputs["plants"]
	planted := map[string]bool{}
	for i, region := range plants.Texts("region") {
		key := region + "\x00" + plants.Texts("component")[i] + "_only\x00" + plants.Texts("score")[i]
		planted[key] = true
	}
	out := newRows([]string{"region", "vector", "score", "planted", "verdict"})
	seen := 0
	for i, region := range gaps.Texts("region") {
		vector, score := gaps.Texts("vector")[i], gaps.Texts("score")[i]
		isPlanted := planted[region+"\x00"+vector+"\x00"+score]
		if !isPlanted && slices.Contains(plants.Texts("region"), region) {
			continue // an island with another plant is no control of this score
		}
		flagged := gaps.Texts("flagged")[i] == "yes"
		verdict, right := "not flagged", 1.0
		switch {
		case isPlanted && flagged && gaps.Numbers("gap")[i] < 0:
			verdict = "found"
		case isPlanted:
			verdict, right = "missed", 0
		case flagged:
			verdict, right = "flagged by mistake", 0
		}
		name := "no"
		if isPlanted {
			name = "yes"
			seen++
		}
		out.text(region, vector, score, name, verdict)
		for _, n := range []string{"gap", "gap_low", "gap_high"} {
			out.number(n, gaps.Numbers(n)[i])
		}
		out.number("right", right)
	}
	if seen != len(planted) {
		return nil, fmt.Errorf("%d of %d planted disparities are among the gaps: compute the gaps of the vectors and scores that were planted", seen, len(planted))
	}
	return out.frame(), nil
}
