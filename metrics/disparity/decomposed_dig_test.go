package disparity

import (
	"antipode/metrics"
	"encoding/csv"
	"math"
	"os"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// regionScores6 returns scores of six regions with the average and the worst region (Africa) of each score, in the
// order of Table 1: object precision and coverage, background precision and coverage.
func regionScores6(t *testing.T, cells []float64) *table.Frame {
	t.Helper()
	var region, vector []string
	var precision, coverage []float64
	others := func(average, worst float64) float64 { return (6*average - worst) / 5 }
	for at, v := range []string{"object_only", "background_only"} {
		c := cells[4*at:]
		for i, r := range []string{"Africa", "Americas", "EastAsia", "Europe", "SouthEastAsia", "WestAsia"} {
			region, vector = append(region, r), append(vector, v)
			p, q := others(c[0], c[1]), others(c[2], c[3])
			if i == 0 {
				p, q = c[1], c[3]
			}
			precision, coverage = append(precision, p), append(coverage, q)
		}
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("region", region),
		table.TextColumn("vector", vector), table.NumberColumn("precision", precision),
		table.NumberColumn("coverage", coverage)}}
}

// From the two printed rows of Table 1, every delta and percentage of the table comes out to the digit (row 13 of the
// checklist); every item that is computed is one that the paper prints.
func TestDecomposedDIGValues(t *testing.T) {
	file := must.Get(os.Open("../../datasets/digin/printed.csv"))(t)
	defer file.Close()
	records := must.Get(csv.NewReader(file).ReadAll())(t)
	var items, printed []string
	for _, r := range records[1:] {
		items, printed = append(items, r[0]), append(printed, r[1])
	}
	orig := regionScores6(t, []float64{0.617, 0.564, 0.377, 0.352, 0.481, 0.363, 0.383, 0.278})
	changed := regionScores6(t, []float64{0.665, 0.609, 0.390, 0.344, 0.466, 0.389, 0.461, 0.423})
	values, _ := must.Get2(evaluate(t, ask{Metric: "decomposed-dig-values"}, orig, changed))(t)
	for _, item := range values.Texts("item") {
		if !strings.Contains(strings.Join(items, "\n")+"\n", item+"\n") {
			t.Errorf("the paper prints no %q", item)
		}
	}
	f, _ := must.Get2(evaluate(t, ask{Metric: "ledger"}, &table.Frame{Columns: []table.Column{
		table.TextColumn("paper", make([]string, len(items))), table.TextColumn("item", items),
		table.TextColumn("printed", printed)}}, values))(t)
	count := map[string]int{}
	for i, verdict := range f.Texts("verdict") {
		count[verdict]++
		if strings.HasPrefix(f.Texts("item")[i], "Table 1") && verdict != metrics.SameDigits {
			t.Errorf("%s: %v is not the printed %s", f.Texts("item")[i], f.Numbers("ours")[i], f.Texts("printed")[i])
		}
	}
	if count[metrics.SameDigits] < 32 || count[metrics.DirectionOnly] != 10 || count[metrics.NotComputable] != 4 {
		t.Errorf("verdicts %v", count)
	}
	deltas, _ := must.Get2(evaluate(t, ask{Metric: "template-deltas"}, orig, changed))(t)
	layout, _, err := evaluate(t, ask{Metric: "decomposed-dig-table"}, deltas)
	if err != nil || len(layout.Columns) != 9 {
		t.Fatalf("%d columns, %v", len(layout.Columns), err)
	}
	for column, want := range map[string][]string{"Obj-only, Worst Covg.": {"0.352", "0.344", "-0.008", "-2%"},
		"BG-only, Avg. Prec.": {"0.481", "0.466", "-0.015", "-3%"}, "row": {"Orig.", "New", "Delta", "Delta (%)"},
		"BG-only, Worst Covg.": {"0.278", "0.423", "0.145", "52%"}} {
		must.EqualSlices(t, layout.Texts(column), want, "Table 1", column, "the paper prints")
	}
	one, _, err := evaluate(t, ask{Metric: "decomposed-dig-values"}, orig.Pick([]int{1, 2, 7, 8}))
	if err != nil || one.Len() != 8+4+3 || !math.IsNaN(one.Numbers("n")[0]) {
		t.Errorf("one template, regions without Africa: %d rows, %v", one.Len(), err)
	}
}
