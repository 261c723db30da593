package visage

import (
	"context"
	"fmt"
	"math"
	"sort"

	data "antipode/datasets/visage"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

func register(name, title, unit, span, source string, in metrics.Input, options []metrics.Option, specs func(metrics.Args) []client.ColumnSpec, f compute) {
	registerAll(name, title, unit, span, source, []metrics.Input{in}, options, specs, f)
}

func registerAll(name, title, unit, span, source string, inputs []metrics.Input, options []metrics.Option, specs func(metrics.Args) []client.ColumnSpec, f compute) {
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: name, Title: title, Unit: unit, Range: span, Direction: "none", Citation: citation + ", " + source},
		Version: 2, Inputs: inputs, Options: options, Columns: specs, Compute: f, // 2: settings in every row
	})
}

func init() {
	rows := with(stereoOptions, modeOption)
	register("visage-association", "likelihood of stereotypes and of other attributes by identity, and their ratio theta", "share of showings; ratio", "[0, 1]; [0, ∞)", "Tables 1 and 2",
		inRows, with(rows, leastOption, drawsOption),
		fixed("=identity", "l_stereo", "l_stereo_low", "l_stereo_high", "l_random", "l_random_low", "l_random_high", "theta", "theta_low", "theta_high", "=theta_text",
			"n_stereotypes", "n_random", "n_used", "n_pictures", "=mode", "=interval"), association)
	register("visage-likelihood", "likelihood of each attribute by identity", "share of showings", "[0, 1]", "section 4",
		inRows, with(rows, leastOption, drawsOption),
		fixed("=identity", "=attribute", "likelihood", "likelihood_low", "likelihood_high", "n_used", "n_selected", "=kind", "=mode", "=interval"), likelihoods)
	register("visage-overall", "how much likelier stereotypes are than other attributes, by named aggregation", "ratio", "[0, ∞)", "section 5.1",
		inRows, with(rows, leastOption, metrics.Option{Name: "draws", Default: "1000", About: "bootstrap draws of identities; 0 = no intervals"}),
		fixed("=aggregation", "=about", "ratio", "ratio_low", "ratio_high", "n_identities", "=mode", "=interval"), overall)
	register("visage-tables", "Tables 1 and 2 as printed beside the same from the annotations", "share of showings; ratio", "[0, 1]; [0, ∞)", "Tables 1 and 2",
		inRows, rows,
		fixed("=identity", "table", "printed_l_stereo", "l_stereo", "printed_l_random", "l_random", "=printed_theta", "=theta", "cells_equal", "n_stereotypes", "n_random", "=mode"), tables)
	register("visage-consensus", "attributes on which two of three annotators gave the same label", "percent of attributes", "[0, 100]", "Figure 6",
		metrics.Input{Role: "in", Columns: ratingColumns, About: "one row for each rated attribute"},
		[]metrics.Option{{Name: "draws", Default: "1000", About: "bootstrap draws of attributes; 0 = no intervals"}},
		fixed("=label", "share", "share_low", "share_high", "n_attributes", "n_used", "=interval"), consensus)
	register("visage-stereotypes", "number of visual stereotypes by identity", "attributes", "[0, ∞)", "Figure 2",
		inPairs, stereoOptions, fixed("=identity", "n_stereotypes", "n_used"), counts)
	register("visage-offensiveness", "mean offensiveness of the stereotypes that annotators saw", "SeeGULL's scale", "[-1, 4]", "Figure 8",
		metrics.Input{Role: "in", Columns: append(append([]client.ColumnSpec(nil), rowIn...), client.ColumnSpec{Name: "offensiveness", Kind: client.Number}), About: inRows.About},
		with(rows, leastOption,
			metrics.Option{Name: "present", Default: "any", About: "a stereotype is present when selected at least once, or when L(a, id) reaches the threshold", Values: []string{"any", "share"}},
			metrics.Option{Name: "threshold", Default: "0.5", About: "least L(a, id), with present=share"},
			metrics.Option{Name: "weight", Default: "once", About: "stereotypes weigh the same, or by L(a, id)", Values: []string{"once", "likelihood"}},
			metrics.Option{Name: "unrated", Default: "skip", About: "pairs that nobody rated are left out, or count as 0", Values: []string{"skip", "zero"}},
			metrics.Option{Name: "negative", Default: "keep", About: "means below 0 stay, or count as 0", Values: []string{"keep", "zero"}},
			metrics.Option{Name: "draws", Default: "1000", About: "bootstrap draws of the stereotypes present; 0 = no intervals"}),
		fixed("=identity", "offensiveness", "offensiveness_low", "offensiveness_high", "normalised", "n_present", "n_rated", "n_unrated", "=mode", "=interval"), offensiveness)
}

func association(_ context.Context, call metrics.Call) (*client.Frame, error) {
	ts, err := scored(call)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, t := range ts {
		out = append(out, []any{t.Identity, t.Stereo, t.StereoLow, t.StereoHigh, t.Other, t.OtherLow, t.OtherHigh, t.Theta, t.ThetaLow, t.ThetaHigh, ThetaText(t),
			t.Stereotypes, t.Random, t.Showings, t.Pictures, call.Options["mode"], intervalName(call)})
	}
	return result("visage-association", call, out)
}

// intervalName says what the intervals of a table are, "" where it has none.
func intervalName(call metrics.Call) string {
	if call.Options["draws"] == "0" {
		return ""
	}
	return "95 % bootstrap interval over pictures"
}

// drawn says what a bootstrap of draws drew, "" where there was none.
func drawn(draws int, what string) string {
	if draws == 0 {
		return ""
	}
	return "95 % bootstrap interval over " + what
}

// scored are the listed tendencies, in the order of the paper's tables: N/A first by L(stereo), then by theta, both largest first.
func scored(call metrics.Call) ([]Tendency, error) {
	ts, err := tendencies(call, Mode(call.Options["mode"]))
	if err != nil {
		return nil, err
	}
	if ts, err = listed(call, ts); err != nil {
		return nil, err
	}
	sort.SliceStable(ts, func(i, j int) bool {
		a, b := ts[i], ts[j]
		if na, nb := math.IsNaN(a.Theta), math.IsNaN(b.Theta); na || nb {
			return na && (!nb || a.Stereo > b.Stereo)
		}
		return a.Theta > b.Theta
	})
	return ts, nil
}

// point is the call without draws: the draws of a metric that aggregates likelihoods are its own, not those of each likelihood.
func point(call metrics.Call) metrics.Call {
	call.Options = withOption(call.Options, "draws", "0")
	return call
}

// ThetaText is theta as the paper prints it: two decimals, "N/A" where L(random, id) is 0.
func ThetaText(t Tendency) string {
	if math.IsNaN(t.Theta) {
		return "N/A"
	}
	return fmt.Sprintf("%.2f", t.Theta)
}

func likelihoods(_ context.Context, call metrics.Call) (*client.Frame, error) {
	ts, err := scored(call)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, t := range ts {
		for _, l := range t.Attributes {
			if l.Attribute == NoneOfTheAbove {
				continue
			}
			kind := "random"
			if l.Stereotype {
				kind = "stereotype"
			}
			out = append(out, []any{t.Identity, l.Attribute, l.Value, l.Low, l.High, l.Shown, l.Selected, kind, call.Options["mode"], intervalName(call)})
		}
	}
	return result("visage-likelihood", call, out)
}

func overall(_ context.Context, call metrics.Call) (*client.Frame, error) {
	ts, err := scored(point(call))
	if err != nil {
		return nil, err
	}
	var out [][]any
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	for _, a := range Overall(ts, draws, call.Seed) {
		out = append(out, []any{a.Name, a.About, a.Value, a.Low, a.High, a.N, call.Options["mode"], drawn(draws, "identities")})
	}
	return result("visage-overall", call, out)
}

// Agrees says whether a value rounds to a printed one: they differ by no more than half a unit of the last printed digit, ties included.
func Agrees(value, printed float64, decimals int) bool {
	half := 0.5 * math.Pow(10, -float64(decimals))
	return math.Abs(value-printed) <= half*(1+1e-9)
}

func tables(_ context.Context, call metrics.Call) (*client.Frame, error) {
	ts, err := tendencies(call, Mode(call.Options["mode"]))
	if err != nil {
		return nil, err
	}
	by := map[string]Tendency{}
	for _, t := range ts {
		by[t.Identity] = t
	}
	var out [][]any
	for _, p := range data.PrintedTables() {
		t, known := by[p.Identity]
		if !known {
			return nil, fmt.Errorf("the rows hold no identity %q, which the paper's Table %d lists", p.Identity, p.Table)
		}
		equal := 0
		for _, ok := range []bool{Agrees(t.Stereo, p.Stereo, 2), Agrees(t.Other, p.Random, 2), p.ThetaText == ThetaText(t) || Agrees(t.Theta, p.Theta, 2)} {
			if ok {
				equal++
			}
		}
		out = append(out, []any{p.Label, p.Table, p.Stereo, t.Stereo, p.Random, t.Other, p.ThetaText, ThetaText(t), equal, t.Stereotypes, t.Random, call.Options["mode"]})
	}
	return result("visage-tables", call, out)
}

func consensus(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	a, e, n := f.Numbers("score_asia"), f.Numbers("score_europe"), f.Numbers("score_na")
	scores := make([][3]float64, f.Len())
	for i := range scores {
		scores[i] = [3]float64{a[i], e[i], n[i]}
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	bars, err := ConsensusOf(scores, draws, call.Seed)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, c := range bars {
		out = append(out, []any{c.Label, c.Share, c.Low, c.High, c.Count, c.Of, drawn(draws, "attributes")})
	}
	return result("visage-consensus", call, out)
}

func counts(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	stereo, err := stereotypes(call, f)
	if err != nil {
		return nil, err
	}
	type count struct{ stereo, pairs int }
	by := map[string]count{}
	for i, id := range f.Texts("identity") {
		c := by[id]
		c.pairs++
		if stereo[i] {
			c.stereo++
		}
		by[id] = c
	}
	var ids []string
	for id, c := range by {
		if c.stereo > 0 {
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, j int) bool {
		if a, b := by[ids[i]].stereo, by[ids[j]].stereo; a != b {
			return a > b
		}
		return ids[i] < ids[j]
	})
	var out [][]any
	for _, id := range ids {
		out = append(out, []any{data.DisplayName(id), by[id].stereo, by[id].pairs})
	}
	return result("visage-stereotypes", call, out)
}

func offensiveness(_ context.Context, call metrics.Call) (*client.Frame, error) {
	ts, err := scored(point(call))
	if err != nil {
		return nil, err
	}
	f := call.Inputs["in"]
	rated := map[[2]string]float64{}
	identities, attributes, values := f.Texts("identity"), f.Texts("attribute"), f.Numbers("offensiveness")
	for i, id := range identities {
		rated[[2]string{id, attributes[i]}] = values[i]
	}
	threshold, err := tabular.Number(call, "threshold")
	if err != nil {
		return nil, err
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	rows, err := OffensivenessOf(ts, func(id, attribute string) float64 { return rated[[2]string{id, attribute}] },
		OffensivenessOptions{Present: call.Options["present"], Threshold: threshold, Weight: call.Options["weight"], Unrated: call.Options["unrated"], Negative: call.Options["negative"], Draws: draws, Seed: call.Seed})
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, r := range rows {
		out = append(out, []any{data.DisplayName(r.Identity), r.Value, r.Low, r.High, r.Scaled, r.Present, r.Rated, r.Unrated, call.Options["mode"], drawn(draws, "stereotypes present")})
	}
	return result("visage-offensiveness", call, out)
}
