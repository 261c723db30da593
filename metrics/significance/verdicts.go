package significance

import (
	"context"
	"fmt"
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
	Name: "verdicts", Version: 2, // 1 had no verdict without the injected disparities
	Title: "tests or estimates compared with the injected disparities: found, missed, flagged by mistake, " +
		"not flagged; without these found, not found or undecided",
	Citation: "docs/archipelago.md",
	Inputs: []datasets.Input{
		{Role: "in", About: "one row per tested subject"},
		{Role: "injected", Optional: true, About: "the subjects with an injected disparity, where these are known"},
		{Role: "intervals", Optional: true, About: "intervals of the estimates, where the findings have none"},
	},
	Frame: computeVerdicts,
})

// The verdicts of [Decide].
const (
	Found     = "found"
	NotFound  = "not found"
	Undecided = "undecided"
)

// Verdicts compares findings with the injected disparities of a world where these are known. A row of findings is
// flagged if its p-value is at most Alpha, or without P if its interval excludes Null, and if the estimate is on the
// given Side of Null and differs from it by at least AtLeast. injected has a row for each subject (columns On) with an
// injected disparity. The result is findings with the text column verdict: found, missed, flagged by mistake or not
// flagged. A row without an estimate or p-value is not flagged.
func Verdicts(findings, injected datasets.Table, options ...VerdictOptions) datasets.Table {
	return verdicts.Table(map[string]datasets.Table{"in": findings, "injected": injected}, options...)
}

// Decide is Verdicts where the truth is not known. The verdict is
//
//	found      the row is flagged
//	not found  it is not, and its interval, X_low to X_high, has no value that would be flagged: none on Side of Null
//	           that differs from it by AtLeast or more
//	undecided  neither: the data allow both
//
// A note prints the rule. intervals has the columns On, X_low and X_high; the zero table if findings has them.
func Decide(findings, intervals datasets.Table, options ...VerdictOptions) datasets.Table {
	return verdicts.Table(map[string]datasets.Table{"in": findings, "intervals": intervals}, options...)
}

func computeVerdicts(_ context.Context, call *datasets.Call, o VerdictOptions) (*table.Frame, error) {
	in := tabular.Read(call, "in")
	injected, known := map[string]bool{}, call.Inputs["injected"] != nil
	if known {
		truth := tabular.Read(call, "injected")
		for _, g := range truth.Groups(o.On) {
			injected[strings.Join(g.By, "\x00")] = true
		}
		if truth.Err != nil {
			return nil, truth.Err
		}
	} else {
		call.Notef("%s", o.rule())
	}
	columns := []string{o.Estimate, o.Estimate + "_low", o.Estimate + "_high"}
	if o.P != "" {
		columns = []string{o.Estimate, o.P, o.P}
	}
	values, lows, highs := in.Numbers(columns[0]), in.Numbers(columns[1]), in.Numbers(columns[2])
	groups := in.Groups(o.On)
	if in.Err != nil {
		return nil, in.Err
	}
	ends, err := intervals(call, o)
	if err != nil {
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
			switch {
			case known:
				out[row] = verdictOf[[2]bool{injected[strings.Join(g.By, "\x00")], flagged}]
			case flagged:
				out[row] = Found
			case o.excludes(ends[strings.Join(g.By, "\x00")]):
				out[row] = NotFound
			default:
				out[row] = Undecided
			}
		}
	}
	return in.Frame.With(table.TextColumn("verdict", out)), nil
}

// intervals returns the intervals of the estimates by subject; none of a subject with several.
func intervals(call *datasets.Call, o VerdictOptions) (map[string][2]float64, error) {
	in, out := tabular.Read(call, "in"), map[string][2]float64{}
	if call.Inputs["intervals"] != nil {
		in = tabular.Read(call, "intervals")
	} else if !in.Frame.Has(o.Estimate+"_low") || !in.Frame.Has(o.Estimate+"_high") {
		return out, nil
	}
	low, high := in.Numbers(o.Estimate+"_low"), in.Numbers(o.Estimate+"_high")
	for _, g := range in.Groups(o.On) {
		if len(g.Rows) == 1 {
			out[strings.Join(g.By, "\x00")] = [2]float64{low[g.Rows[0]], high[g.Rows[0]]}
		}
	}
	return out, in.Err
}

// excludes reports whether an interval has no value that would be flagged; false for the zero interval.
func (o VerdictOptions) excludes(interval [2]float64) bool {
	if interval == [2]float64{} {
		return false
	}
	below, above := interval[0] > o.Null-o.AtLeast, interval[1] < o.Null+o.AtLeast // false for NaN
	switch o.Side {
	case "below":
		return below
	case "above":
		return above
	}
	return below && above
}

// rule is the rule by which rows are found, not found or undecided.
func (o VerdictOptions) rule() string {
	size := fmt.Sprintf("differs from %g", o.Null)
	switch at := o.Side + fmt.Sprintf(" %g", o.Null); {
	case o.Side == "either" && o.AtLeast > 0:
		size += fmt.Sprintf(" by at least %g", o.AtLeast)
	case o.Side != "either" && o.AtLeast > 0:
		size = fmt.Sprintf("is at least %g %s", o.AtLeast, at)
	case o.Side != "either":
		size = "is " + at
	}
	evidence := "its interval excludes " + fmt.Sprint(o.Null)
	if o.P != "" {
		evidence = fmt.Sprintf("%s is at most %g", o.P, o.Alpha)
	}
	return fmt.Sprintf("the truth is not known: found = %s %s and %s; not found = its interval has no such value; "+
		"undecided = neither", o.Estimate, size, evidence)
}

// verdictOf names the verdict on a subject by whether it carries an injected disparity and whether it is flagged.
var verdictOf = map[[2]bool]string{{true, true}: "found", {true, false}: "missed",
	{false, true}: "flagged by mistake", {false, false}: "not flagged"}
