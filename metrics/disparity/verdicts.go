package disparity

import (
	"antipode/metrics"
	"context"
	"fmt"
	"slices"

	"antipode/datasets"
)

// injectedVerdictRow is a row of the result of [InjectedVerdicts].
type injectedVerdictRow struct {
	Region   string  `column:"region"`
	Vector   string  `column:"vector"`
	Score    string  `column:"score"`
	Injected bool    `column:"injected" help:"yes where a disparity is injected"`
	Verdict  string  `column:"verdict" help:"found, missed, flagged by mistake, not flagged"`
	Gap      float64 `column:"gap" unit:"difference of shares" range:"[-1, 1]"`
	Low      float64 `column:"gap_low" unit:"difference of shares" range:"[-1, 1]"`
	High     float64 `column:"gap_high" unit:"difference of shares" range:"[-1, 1]"`
	Right    int     `column:"right" help:"1 where the verdict is found or not flagged"`
}

var injectedVerdicts = datasets.Define(datasets.Operation[struct{}, injectedVerdictRow]{
	Name: "injected-verdicts", Version: 1,
	Title:    "injected disparities found or missed, others flagged by mistake",
	Citation: "docs/archipelago.md",
	Inputs: []metrics.Input{
		{Role: "in", Columns: datasets.Columns("region:text", "vector:text", "score:text", "flagged:text",
			"gap:number", "gap_low:number", "gap_high:number"), About: "gaps by region"},
		{Role: "injected", Columns: datasets.Columns("region:text", "component:text", "score:text"),
			About: "the disparities injected into the training world"},
	},
	Compute: computeVerdicts,
})

// InjectedVerdicts compares gaps with the disparities injected into a world: for each injected disparity whether it is
// found (flagged, and negative), and for every other region and injected score whether it is flagged by mistake. gaps
// is a result of [GapsToControls], of one vector or several (Concat); injected is datasets.World.InjectedDisparities.
func InjectedVerdicts(gaps, injected datasets.Table) datasets.Table {
	return injectedVerdicts.Table(map[string]datasets.Table{"in": gaps, "injected": injected})
}

func computeVerdicts(_ context.Context, call *metrics.Call, _ struct{}) (out []injectedVerdictRow, err error) {
	gaps, injected := call.Inputs["in"], call.Inputs["injected"]
	known := map[string]bool{}
	for i, region := range injected.Texts("region") {
		known[region+"\x00"+injected.Texts("component")[i]+"_only\x00"+injected.Texts("score")[i]] = true
	}
	seen := 0
	for i, region := range gaps.Texts("region") {
		row := injectedVerdictRow{Region: region, Vector: gaps.Texts("vector")[i], Score: gaps.Texts("score")[i],
			Gap: gaps.Numbers("gap")[i], Low: gaps.Numbers("gap_low")[i], High: gaps.Numbers("gap_high")[i]}
		row.Injected = known[region+"\x00"+row.Vector+"\x00"+row.Score]
		if !row.Injected && slices.Contains(injected.Texts("region"), region) {
			continue // a region with another injected disparity is no control of this score
		}
		flagged := gaps.Texts("flagged")[i] == "yes"
		switch {
		case row.Injected && flagged && row.Gap < 0:
			row.Verdict, row.Right = "found", 1
		case row.Injected:
			row.Verdict = "missed"
		case flagged:
			row.Verdict = "flagged by mistake"
		default:
			row.Verdict, row.Right = "not flagged", 1
		}
		if row.Injected {
			seen++
		}
		out = append(out, row)
	}
	if seen != len(known) {
		return nil, fmt.Errorf("%d of %d injected disparities are among the gaps; compute the gaps of the vectors and "+
			"scores that they concern", seen, len(known))
	}
	return out, nil
}
