package metrics

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

type ask = tabulartest.Ask

var (
	evaluate = tabulartest.Answer
	options  = tabulartest.Options
)

func TestLedger(t *testing.T) {
	none := math.NaN()
	items := []string{"rounds", "rounded up", "near", "far", "percent", "times", "claim", "denied", "missing", "empty"}
	paper := make([]string, len(items))
	printed := &table.Frame{Columns: []table.Column{table.TextColumn("paper", paper), table.TextColumn("item", items),
		table.TextColumn("printed", []string{"0.42", "0.42", "0.42", "0.42", "−2 %", "1.7x", "higher", "higher", "0.1",
			"0.2"})}}
	ours := &table.Frame{Columns: []table.Column{
		table.TextColumn("item", []string{"rounds", "rounded up", "near", "far", "percent", "times", "claim", "denied",
			"empty", "unknown"}),
		table.NumberColumn("value", []float64{0.4249, 0.4251, 0.5, 0.5, -2.2, 1.74, none, none, none, 3}),
		table.NumberColumn("value_low", []float64{none, none, 0.41, 0.45, none, none, none, none, none, none}),
		table.NumberColumn("value_high", []float64{none, none, 0.6, 0.6, none, none, none, none, none, none}),
		table.TextColumn("holds", []string{"", "", "", "", "", "", "yes", "no", "", ""})}}
	f, _ := must.Get2(evaluate(t, ask{Metric: "ledger", Options: options("why", "no images")}, printed, ours))(t)
	var got []string
	for i, item := range f.Texts("item") {
		got = append(got, strings.TrimSuffix(fmt.Sprintf("%s: %s, %s", item, f.Texts("verdict")[i],
			f.Texts("why")[i]), ", "))
	}
	want := []string{"rounds: same to the digit", "rounded up: differs", "near: inside our interval", "far: differs",
		"percent: same to the digit", "times: same to the digit", "claim: direction only, holds",
		"denied: direction only, does not hold", "missing: not computable, no images",
		"empty: not computable, no images"}
	must.Equal(t, cmp.Diff(want, got), "")
	f, _ = must.Get2(evaluate(t, ask{Metric: "ledger"}, printed))(t)
	must.Equal(t, f.Texts("verdict")[0], NotComputable, "without our values")
	must.Fail(evaluate(t, ask{Metric: "ledger"}, printed, ours.Pick([]int{0, 0})))(t, `"rounds" has two values`)
}
