package consistency

import (
	"context"
	"maps"
	"slices"
	"testing"

	"antipode/datasets"
	"antipode/datasets/indictti"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/interval"
)

// printedScores returns the printed cells of some tables as scores of a run.
func printedScores(t *testing.T, tables ...int) *table.Frame {
	t.Helper()
	f := table.NewFrame([]table.ColumnSpec{{Name: "model", Kind: "text"}, {Name: "language", Kind: "text"},
		{Name: "score", Kind: "text"}, {Name: "value", Kind: "number"}, {Name: "n", Kind: "number"}})
	for _, number := range tables {
		cells := must.Get(indictti.PrintedTable(number))(t)
		for _, c := range cells {
			f.Add([]string{c.Model, c.Language, indictti.ScoreNames[c.Score]}, c.Value/100, 160)
		}
	}
	return f
}

// items returns indictti.PrintedItems.
func items(t *testing.T) *table.Frame {
	t.Helper()
	f := must.Get(operation.EvaluatorOf("indictti-items")(context.Background(), datasets.Call{}, []byte("{}"), nil))(t)
	return f
}

func verdictsOf(t *testing.T, inputs map[string]*table.Frame) map[string]string {
	t.Helper()
	f, _ := must.Get2(compute("indictti-claims", nil, nil, inputs))(t)
	out := map[string]string{}
	for i, c := range f.Texts("claim") {
		out[c] = f.Texts("verdict")[i]
	}
	return out
}

// Every claim, of scores that make it pass, and the same scores negated.
func TestClaims(t *testing.T) {
	level := map[string]float64{"Alt Diffusion m9": 0.2, "Alt Diffusion": 0.3, "Stable Diffusion": 0.4,
		"Midjourney": 0.5, "Dalle3": 0.9}
	indic := map[string]float64{"Alt Diffusion m9": 0.10, "Alt Diffusion": 0.09, "Stable Diffusion": 0.08,
		"Midjourney": 0.07, "Dalle3": 0.20}
	distinct := map[string]float64{"Alt Diffusion m9": 0.68, "Alt Diffusion": 0.6, "Stable Diffusion": 0.5,
		"Midjourney": 0.4, "Dalle3": 0.7}
	steady := map[string]float64{"Alt Diffusion m9": 0.05, "Alt Diffusion": 0.6, "Stable Diffusion": 0.5,
		"Midjourney": 0.4, "Dalle3": 0.7}
	frames := func(sign float64) map[string]*table.Frame {
		scores := table.NewFrame(inStudy[0].Columns)
		pairs := table.NewFrame(inStudy[1].Columns)
		languages := indictti.Languages()
		for _, m := range slices.Sorted(maps.Keys(level)) {
			for _, l := range languages {
				value := indic[m]
				low, bengal := 0.0, 0.0 // less for the languages that are lowest
				if unknown(l.Code) {
					low = 0.02
				}
				if bengali(l.Code) {
					bengal = 0.02
				}
				if l.Code == indictti.English {
					value = level[m]
				}
				for _, s := range []string{"CLGC", "IGC", "LGC"} {
					scores.Add([]string{m, l.Code, s}, sign*(value-low-bengal))
				}
				within := steady[m]
				if english(l.Code) {
					within += 0.1
				}
				if unwritten(l.Code) {
					low = 0.03
				}
				scores.Add([]string{m, l.Code, "SCWL"}, sign*(within-low))
				scores.Add([]string{m, l.Code, "DWL"}, sign*(distinct[m]-low))
				for _, k := range languages {
					v := level[m]
					switch far := english(l.Code) || english(k.Code); {
					case k.Code == l.Code:
						continue
					case far && m != "Dalle3" || far && (unknown(l.Code) || unknown(k.Code)):
						v -= 0.05
					case k.Script == "Deva" && l.Script == "Deva":
						v += 0.05
					}
					pairs.Add([]string{m, l.Code, k.Code, "SCAL"}, sign*v)
				}
			}
		}
		return map[string]*table.Frame{"scores": scores, "pairs": pairs}
	}
	holds, fails := verdictsOf(t, frames(1)), verdictsOf(t, frames(-1))
	listed := items(t)
	n := 0
	for _, item := range listed.Texts("item") {
		if item[:5] != "claim" {
			continue
		}
		n++
		must.Equal(t, holds[item], "pass", item, "and, negated")
		must.Equal(t, fails[item], "FAIL", item, "and, negated")
	}
	must.Equal(t, n, len(holds))
	few := frames(1)
	rows := sequence(few["scores"].Len())
	few["scores"] = few["scores"].Pick(slices.DeleteFunc(rows, func(i int) bool {
		return few["scores"].Texts("model")[i] == "Midjourney"
	}))
	if _, known := verdictsOf(t, few)["claim 10: Dalle3 highest in other languages, IGC"]; known {
		t.Error("a claim without one of its models")
	}
	ties := paperScores{cells: map[[3]string]scored{{"DWL", "m", "a"}: {Bounded: interval.Bounded{Value: 1, Low: 0}},
		{"DWL", "m", "b"}: {Bounded: interval.Bounded{Value: 1, Low: 0.5}}}}
	for range 20 { // not in the order of a map
		least, most := ties.extremes("DWL", "m", func(string) bool { return true })
		must.Equal(t, [2]float64{least.Low, most.Low}, [2]float64{0, 0.5}, "ties")
	}
}

// The printed tables, read as a run, are in the ledger to the digit.
func TestStudyValues(t *testing.T) {
	common, complete := printedScores(t, 6, 7, 8), printedScores(t, 9, 10, 11)
	overall := table.NewFrame([]table.ColumnSpec{{Name: "model", Kind: "text"}, {Name: "scal", Kind: "number"}})
	overall.Add([]string{"Dalle3"}, 0.2990)
	overall.Add([]string{""}, 0.1) // of no model
	ours, _ := must.Get2(compute("indictti-values", nil, nil,
		map[string]*table.Frame{"complete": complete, "common": common, "overall": overall}))(t)
	printed := items(t)
	ledger, _ := must.Get2(compute("ledger", nil, nil, map[string]*table.Frame{"printed": printed, "ours": ours}))(t)
	count := map[string]int{}
	for i, v := range ledger.Texts("verdict") {
		count[v]++
		if item := ledger.Texts("item")[i]; item[:5] == "Table" && v != metrics.SameDigits {
			t.Errorf("%s: printed %s, ours %v: %s", item, ledger.Texts("printed")[i], ledger.Numbers("ours")[i], v)
		}
	}
	for i, item := range ledger.Texts("item") {
		want := map[string]string{"mean drop of IGC from English, common set, Dalle3": metrics.SameDigits,
			"overall SCAL, common set, Dalle3":                            metrics.SameDigits,
			"overall SCAL, common set, Midjourney":                        metrics.NotComputable,
			"claim 10: Dalle3 highest in other languages, IGC":            metrics.DirectionOnly,
			"mean LGC of the 30 languages, common set, Dalle3":            metrics.Differs, // two cells are lost
			"percent agreement on translations":                           metrics.NotComputable,
			"claim 16: SCAL higher within Devanagari, Midjourney":         metrics.NotComputable,
			"claim 12: Alt Diffusion m9 lowest in English, IGC":           metrics.DirectionOnly,
			"mean drop of IGC from English, common set, Stable Diffusion": metrics.SameDigits}[item]
		if want != "" && ledger.Texts("verdict")[i] != want {
			t.Errorf("%s: %s, want %s", item, ledger.Texts("verdict")[i], want)
		}
	}
	if count[metrics.SameDigits] < 1000 {
		t.Errorf("verdicts %v", count)
	}
}
