package significance

import (
	"cmp"
	"context"
	"math"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
)

// VerdictOptions are the options of [Verdicts].
type VerdictOptions struct {
	On       []string `json:"on,omitempty" required:"true" help:"text columns that identify a subject in both tables"`
	Estimate string   `json:"estimate,omitempty" default:"difference" help:"number column of the estimate X, with its interval in X_low and X_high"`
	P        string   `json:"p,omitempty" help:"number column of p-values, corrected for their family; empty = the interval decides"`
	Alpha    float64  `json:"alpha,omitempty" default:"0.05" min:">0" max:"<1" help:"largest p that is flagged"`
	Null     float64  `json:"null,omitempty" help:"value of the estimate without a disparity"`
	Side     string   `json:"side,omitempty" default:"either" values:"either,below,above" help:"side of the null on which an estimate is flagged"`
	AtLeast  float64  `json:"at_least,omitempty" min:"0" help:"smallest distance from the null that is flagged"`
}

var verdicts = datasets.Define(datasets.Operation[VerdictOptions, struct{}]{
	Name: "verdicts", Version: 1,
	Title: "tests or estimates compared with the injected disparities: found, missed, flagged by mistake, " +
		"not flagged",
	Citation: "docs/archipelago.md",
	Inputs: []datasets.Input{
		{Role: "in", About: "one row per tested subject"},
		{Role: "injected", About: "the subjects that carry an injected disparity"},
	},
	Frame: computeVerdicts,
})

// Verdicts compares findings with the injected disparities of a world where these are known. A row of findings is
// flagged if its p-value is at most Alpha, or without P if its interval excludes Null, and if the estimate is on the
// given Side of Null and differs from it by at least AtLeast. injected has a row for each subject (columns On) with an
// injected disparity. The result is findings with the text column verdict: found, missed, flagged by mistake or not
// flagged. A row without an estimate or p-value is not flagged.
func Verdicts(findings, injected datasets.Table, options ...VerdictOptions) datasets.Table {
	return verdicts.Table(map[string]datasets.Table{"in": findings, "injected": injected}, options...)
}

func computeVerdicts(_ context.Context, call *datasets.Call, o VerdictOptions) (*table.Frame, error) {
	in, truth := tabular.Read(call, "in"), tabular.Read(call, "injected")
	injected := map[string]bool{}
	for _, g := range truth.Groups(o.On) {
		injected[strings.Join(g.By, "\x00")] = true
	}
	columns := []string{o.Estimate, o.Estimate + "_low", o.Estimate + "_high"}
	if o.P != "" {
		columns = []string{o.Estimate, o.P, o.P}
	}
	values, lows, highs := in.Numbers(columns[0]), in.Numbers(columns[1]), in.Numbers(columns[2])
	groups := in.Groups(o.On)
	if err := cmp.Or(in.Err, truth.Err); err != nil {
		return nil, err
	}
	out := make([]string, in.Frame.Len())
	for _, g := range groups {
		for _, row := range g.Rows {
			flagged := lows[row] > o.Null || highs[row] < o.Null
			if o.P != "" {
				flagged = lows[row] <= o.Alpha
			}
			distance := values[row] - o.Null
			flagged = flagged && math.Abs(distance) >= o.AtLeast &&
				(o.Side == "either" || (o.Side == "above") == (distance > 0))
			out[row] = verdictOf[[2]bool{injected[strings.Join(g.By, "\x00")], flagged}]
		}
	}
	return in.Frame.With(table.TextColumn("verdict", out)), nil
}

// verdictOf names the verdict on a subject by whether it carries an injected disparity and whether it is flagged.
var verdictOf = map[[2]bool]string{{true, true}: "found", {true, false}: "missed",
	{false, true}: "flagged by mistake", {false, false}: "not flagged"}
