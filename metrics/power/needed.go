package power

import (
	"cmp"
	"context"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// NeededOptions are the options of [Needed].
type NeededOptions struct {
	Power float64 `json:"power,omitempty" default:"0.8" min:">0" max:"1" help:"share of samples that find the disparity"`
}

// neededRow is a row of [Needed].
type neededRow struct {
	Audit    string  `column:"audit"`
	Subject  string  `column:"subject"`
	Share    float64 `column:"share" range:"[0, 1]"`
	Injected float64 `column:"injected" help:"size of the injected disparity"`
	Estimate float64 `column:"estimate" help:"mean estimate at the largest size"`
	N        float64 `column:"n" unit:"images per cell" help:"smallest size; missing if none reaches the power"`
	Rows     float64 `column:"n_rows" unit:"rows"`
	Largest  float64 `column:"n_largest" unit:"images per cell" help:"largest size of the curve"`
	Power    float64 `column:"power"`
}

var needed = metrics.Define(metrics.Definition[NeededOptions, neededRow]{
	Name: "power-needed", Title: "how many images per cell an audit needs to detect a disparity, from a power curve",
	Version: 2, // 1 took a missing share of samples for enough
	Unit:    "images per cell", Range: "[1, ∞)", Direction: "lower is more sensitive",
	Citation: "package metrics/power",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("audit:text", "kind:text", "subject:text",
		"share:number", "n:number", "found:number", "injected:number", "estimate:number", "n_rows:number"),
		About: "the result of power, of one audit or several"}},
	Compute: computeNeeded,
})

// Needed is the metric power-needed: from the table of [Curve], the smallest size from which on found is at least
// Options.Power, for each audit, subject and share. Rows of controls and families are left out. It does not
// interpolate: run [Curve] with more sizes instead.
func Needed(curve datasets.Table, options ...NeededOptions) datasets.Table {
	return needed.Of(curve, options...)
}

func computeNeeded(_ context.Context, call *metrics.Call, o NeededOptions) ([]neededRow, error) {
	f := call.Inputs["in"]
	type line struct {
		audit, subject string
		share          float64
	}
	var order []line
	rows, n, found := map[line][]int{}, f.Numbers("n"), f.Numbers("found")
	for i, kind := range f.Texts("kind") {
		if kind != "injected" && kind != "subject" {
			continue
		}
		l := line{f.Texts("audit")[i], f.Texts("subject")[i], f.Numbers("share")[i]}
		switch twice := func(k int) bool { return n[k] == n[i] }; {
		case math.IsNaN(l.share):
			return nil, tabular.BadRow(f, i, "share", "it is blank")
		case math.IsNaN(n[i]):
			return nil, tabular.BadRow(f, i, "n", "it is blank")
		case slices.ContainsFunc(rows[l], twice):
			return nil, tabular.BadRow(f, i, "n", "audit %q has a row of %q for %g images at share %g; give the "+
				"audits names", l.audit, l.subject, n[i], l.share)
		case rows[l] == nil:
			order = append(order, l)
		}
		rows[l] = append(rows[l], i)
	}
	var out []neededRow
	for _, l := range order {
		at := rows[l]
		slices.SortFunc(at, func(a, b int) int { return cmp.Compare(n[b], n[a]) }) // descending
		size, total, largest := math.NaN(), math.NaN(), at[0]
		for _, i := range at {
			if !(found[i] >= o.Power) {
				break
			}
			size, total = n[i], f.Numbers("n_rows")[i]
		}
		out = append(out, neededRow{l.audit, l.subject, l.share, f.Numbers("injected")[largest],
			f.Numbers("estimate")[largest], size, total, n[largest], o.Power})
	}
	return out, nil
}
