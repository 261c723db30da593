package metrics

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics/regions"
)

// TrendLines holds a new run of Decomposed-DIG against the paper's findings, in signs and order and not in decimals: a line for each expectation with its two numbers and pass or FAIL.
// original holds the scores by region of object_only and background_only under the template "{object} in {region}", as [PrecisionCoverage] gives them (Concat):
//
//	average precision of objects above that of backgrounds; average coverage of both about equal; best/worst coverage larger for backgrounds;
//	smallest background coverage in Africa, largest in SouthEastAsia; Africa's precision about equal in both set-ups
//
// Columns: trend, verdict (pass, FAIL), a_name, a, b_name, b, rule, line (all of it as text). Settings: [About], [Expected], [AnyRegions]. See [regions.Trends].
func TrendLines(original datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("trend-lines", settings), map[string]datasets.Table{"original": original})
}

// TrendLinesOfTwo is [TrendLines] with the scores of the new template, "{adjective} {object}", and what is expected of the change: average and worst background coverage clearly up, average
// background precision little changed, average object precision up.
func TrendLinesOfTwo(original, changed datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("trend-lines", settings), map[string]datasets.Table{"original": original, "changed": changed})
}

// About sets the thresholds of [TrendLines]: at most equal apart is "about equal" (0.05 by default), up by clearly or more is "clearly up" (0.02).
func About(equal, clearly float64) Setting {
	return func(a *Args) {
		a.Options["equal"], a.Options["clearly"] = strconv.FormatFloat(equal, 'g', -1, 64), strconv.FormatFloat(clearly, 'g', -1, 64)
	}
}

// Expected names the regions of [TrendLines] with the smallest and the largest background coverage; the defaults are Africa and SouthEastAsia.
func Expected(low, high string) Setting {
	return func(a *Args) { a.Options["low"], a.Options["high"] = low, high }
}

// AnyRegions leaves out what [TrendLines] expects of named regions: for other worlds than GeoDE's.
func AnyRegions() Setting { return set("regions", "any") }

// bothVectors adds what to do where a set-up is missing.
func bothVectors(err error) error {
	if errors.Is(err, regions.ErrNoRegions) {
		return fmt.Errorf("%w; put the scores of object_only and background_only under each other with Concat", err)
	}
	return err
}

func init() {
	scores := datasets.Columns("vector:text", "precision:number", "coverage:number")
	Register(Metric{
		Info: Info{Name: "trend-lines", Title: "the paper's findings as expectations of a new run: pass or fail, with the two numbers", Unit: "share of images; ratio", Range: "[0, 1]; [1, ∞)", Direction: "pass is as in the paper",
			Citation: "Sureddy et al. 2024 (Decomposed-DIG), sections 4 and 5, Table 1"},
		Version: 1, Inputs: []Input{{Role: "original", Columns: scores, About: "scores by region of object_only and background_only, original template"}, {Role: "changed", Columns: scores, Optional: true, About: "the same under the new template"}},
		Options: []Option{{Name: "region", Default: "region", About: "the column that names the regions"}, {Name: "equal", Default: "0.05", About: "at most this far apart is about equal"},
			{Name: "clearly", Default: "0.02", About: "up by at least this is clearly up"}, {Name: "low", Default: "Africa", About: "the region expected to have the smallest background coverage"},
			{Name: "high", Default: "SouthEastAsia", About: "the region expected to have the largest"}, {Name: "regions", Default: "named", Values: []string{"named", "any"}, About: "expectations of named regions, or none"}},
		Columns: func(Args) []client.ColumnSpec {
			return datasets.Columns("trend:text", "verdict:text", "a_name:text", "b_name:text", "rule:text", "line:text", "a:number", "b:number")
		},
		Compute: computeTrends,
	})
}

// decomposed are the scores by region of the two decomposed set-ups.
func decomposed(f *client.Frame, region string) (d regions.Decomposed, err error) {
	for score, to := range map[string][2]*[]regions.Value{
		"precision": {&d.ObjectPrecision, &d.BackgroundPrecision}, "coverage": {&d.ObjectCoverage, &d.BackgroundCoverage},
	} {
		_, values, err := byRegion(f, region, score)
		if err != nil {
			return d, err
		}
		*to[0], *to[1] = values["object_only"], values["background_only"]
	}
	return d, nil
}

func computeTrends(_ context.Context, call Call) (*client.Frame, error) {
	o := regions.TrendOptions{LowRegion: call.Options["low"], HighRegion: call.Options["high"], SkipRegions: call.Options["regions"] == "any"}
	for name, into := range map[string]*float64{"equal": &o.Equal, "clearly": &o.Clearly} {
		x, err := strconv.ParseFloat(call.Options[name], 64)
		if err != nil || !(x > 0) {
			return nil, fmt.Errorf("option %s=%q: give a number above 0", name, call.Options[name])
		}
		*into = x
	}
	original, err := decomposed(call.Inputs["original"], call.Options["region"])
	if err != nil {
		return nil, err
	}
	var changed *regions.Decomposed
	if f := call.Inputs["changed"]; f != nil {
		d, err := decomposed(f, call.Options["region"])
		if err != nil {
			return nil, err
		}
		changed = &d
	}
	trends, err := regions.Trends(original, changed, o)
	if err != nil {
		return nil, bothVectors(err)
	}
	out := newRows([]string{"trend", "verdict", "a_name", "b_name", "rule", "line"})
	for _, t := range trends {
		verdict := "FAIL"
		if t.Pass {
			verdict = "pass"
		}
		out.text(t.Name, verdict, t.AName, t.BName, t.Rule, t.String())
		out.number("a", t.A)
		out.number("b", t.B)
	}
	return out.frame(), nil
}
