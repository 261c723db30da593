package metrics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics/interval"
	"antipode/metrics/prdc"
)

// Sets are the two tables that a nearest-neighbour score compares: named, so that they cannot be swapped by mistake.
type Sets struct {
	Real      datasets.Table
	Generated datasets.Table
}

// Setting is a setting of a score's constructor.
type Setting func(*Args)

// set makes a setting of an option of the metric.
func set(name, value string) Setting { return func(a *Args) { a.Options[name] = value } }

// Vector names the vector column that is compared: full, object_only, background_only.
func Vector(column string) Setting { return set("vector", column) }

// K is the neighbour that gives the radius; 3 in the paper.
func K(k int) Setting { return set("k", strconv.Itoa(k)) }

// By groups the rows by text columns: each group is compared with its own photos.
func By(columns ...string) Setting { return func(a *Args) { a.By = columns } }

// Unmasked says what becomes of generated images without the vector (no mask, or a mask that leaves no patch): "miss",
// "full-image", "drop", "zero-vector"; "profile" leaves it to the profile.
func Unmasked(rule string) Setting { return set("unmasked", rule) }

// Profile names the settings of the paper ("paper") or of its released code ("public-code").
func Profile(name string) Setting { return set("profile", name) }

// Draws is the number of half-samples behind each interval; 0 = no intervals.
func Draws(n int) Setting { return set("draws", strconv.Itoa(n)) }

// SeedOf is the seed of the half-samples.
func SeedOf(seed int64) Setting { return func(a *Args) { a.Seed = seed } }

// Level is the nominal probability of the intervals; 0.95 where it is not given.
func Level(p float64) Setting { return set("level", strconv.FormatFloat(p, 'g', -1, 64)) }

// Of limits [Gaps] to one score, "precision" or "coverage".
func Of(score string) Setting { return set("scores", score) }

// Against names the groups whose mean the others are compared with; see [Gaps].
func Against(groups ...string) Setting { return set("against", strings.Join(groups, ",")) }

func newArgs(metric string, settings []Setting) Args {
	a := Args{Metric: metric, Options: map[string]string{}}
	for _, s := range settings {
		s(&a)
	}
	return a
}

// PrecisionCoverage is the metric precision-coverage (section 3.3 of Decomposed-DIG; Naeem et al. 2020 for density and coverage): generated images g_1 … g_M against real ones h_1 … h_N, group by group
// ([By]), in the space of one [Vector]. The ball of h_j reaches to its k-th nearest other real image ([K], 3; Euclidean distance, the boundary not in it):
//
//	precision = share of the g in a ball           [0, 1]   realism
//	coverage  = share of the h whose ball holds a g  [0, 1]   diversity
//	density   = mean over g of the balls it lies in, over k   [0, ∞)
//	recall    = share of the h in a ball of the g  [0, 1]
//
// Higher is better. Each has a half-sampling interval (package interval) and its counts. Images without a mask follow [Profile] or [Unmasked]. A group with no more than k real images is an error; without
// generated ones precision has no value and coverage is 0. See package prdc.
func PrecisionCoverage(sets Sets, settings ...Setting) datasets.Table {
	return Score(newArgs("precision-coverage", settings), map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated})
}

// Gaps are the differences between groups of the scores of [PrecisionCoverage]: each group's score minus the mean of the
// reference groups that [Against] names (all, where it names none); a reference group is compared with the others. The
// intervals of a score hold simultaneously over the groups (max-t over the same half-samples). A row is flagged where its interval excludes zero.
func Gaps(sets Sets, settings ...Setting) datasets.Table {
	return Score(newArgs("region-gaps", settings), map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated})
}

// GapsToControls is [Gaps] against all groups but those that a table lists in its column of the grouping's name, for
// example the islands that carry a planted disparity.
func GapsToControls(sets Sets, others datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("region-gaps", settings), map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated, "except": others})
}

func init() {
	Register(Metric{
		Info: Info{Name: "precision-coverage", Title: "precision, coverage, density and recall of generated images against real ones, by group",
			Unit: "share of images", Range: "[0, 1]; density [0, ∞)", Direction: "higher is better",
			Citation: "Sureddy et al. 2024 (Decomposed-DIG), section 3.3; Naeem et al. 2020"},
		Version: 1, Near: true, Inputs: twoSets, Options: setOptions,
		Columns: func(a Args) []client.ColumnSpec {
			var out []client.ColumnSpec
			for _, by := range a.By {
				out = append(out, client.ColumnSpec{Name: by, Kind: client.Text})
			}
			out = append(out, datasets.Columns("vector:text", "interval:text")...)
			for _, s := range prdcScores {
				out = append(out, datasets.Columns(s+":number", s+"_low:number", s+"_high:number")...)
			}
			return append(out, datasets.Columns(countColumns...)...)
		},
		Compute: computePrecisionCoverage,
	})
	Register(Metric{
		Info: Info{Name: "region-gaps", Title: "differences of precision and coverage between groups, with simultaneous intervals",
			Unit: "difference of shares", Range: "[-1, 1]", Direction: "0 is no gap", Citation: "Sureddy et al. 2024 (Decomposed-DIG), section 4.2"},
		Version: 1, Near: true,
		Inputs:  append(slices.Clone(twoSets), Input{Role: "except", Optional: true, About: "groups that are no reference, in the column that groups"}),
		Options: append(slices.Clone(setOptions), Option{Name: "scores", Default: "precision,coverage", About: "the scores whose gaps are taken"}, Option{Name: "against", About: "the groups whose mean the others are compared with, A,B,…; empty = all"}),
		Columns: func(a Args) []client.ColumnSpec {
			return datasets.Columns(strings.Join(a.By, ", ")+":text", "vector:text", "score:text", "flagged:text", "interval:text", "gap:number", "gap_low:number", "gap_high:number", "n_real:number", "n_generated:number")
		},
		Compute: computeGaps,
	})
}

var (
	prdcScores   = []string{"precision", "coverage", "density", "recall"}
	countColumns = []string{"n_real:number", "n_generated:number", "n_asked:number", "n_refused:number", "n_unmasked:number", "n_used:number"}
	twoSets      = []Input{{Role: "real", About: "the real images"}, {Role: "generated", About: "the generated images"}}
	setOptions   = []Option{
		{Name: "vector", Default: "full", About: "the vector column that is compared"},
		{Name: "k", Default: "3", About: "the neighbour that gives the radius"},
		{Name: "boundary", Default: "<", Values: []string{"<", "<="}, About: "whether a ball holds what lies exactly on its boundary"},
		{Name: "profile", Default: "paper", Values: []string{"paper", "public-code"}, About: "the settings of the paper or of its released code"},
		{Name: "unmasked", Default: "profile", Values: []string{"profile", "miss", "full-image", "drop", "zero-vector"}, About: "what becomes of a generated image without the vector"},
		{Name: "unmasked-real", Default: "profile", Values: []string{"profile", "drop", "full-image"}, About: "what becomes of a real image without the vector"},
		{Name: "min-patches", Default: "0", About: "background patches an image needs for background_only; 0 = the profile's (1; public-code 25)"},
		{Name: "cells", Default: "object", About: "the column that divides a group into cells for half-sampling, where the tables have it"},
		{Name: "draws", Default: "200", About: "half-samples behind each interval; 0 = no intervals"},
		{Name: "level", Default: "0.95", About: "the intervals' nominal probability"},
	}
)

func (c Call) note(format string, args ...any) {
	if c.Note != nil {
		c.Note(format, args...)
	}
}

// compute runs the pure function on a group, with half-samples where the call has draws. What is to be known of the result goes to notes.
func (g *group) compute(ctx context.Context, call Call, s setup, opts prdc.Options, notes *GroupNotes) (*prdc.Result, error) {
	opts.K, opts.Closed = s.k, s.closed
	sets := prdc.Sets{Real: g.real.vectors, Generated: g.generated.vectors}
	if s.draws > 0 && len(sets.Generated) > 0 {
		var err error
		if opts.RealDraws, err = g.real.halves("real", call.Seed, s.draws); err != nil {
			return nil, err
		}
		if opts.GeneratedDraws, err = g.generated.halves("generated", call.Seed, s.draws); err != nil {
			return nil, err
		}
	}
	r, err := prdc.Compute(ctx, sets, opts, call.Neighbours)
	var few *prdc.ErrTooFewSamples
	if errors.As(err, &few) && opts.RealDraws != nil {
		notes.Add("too few images for an interval", g.label(fmt.Sprintf("%d real", len(sets.Real))))
		opts.RealDraws, opts.GeneratedDraws = nil, nil
		r, err = prdc.Compute(ctx, sets, opts, call.Neighbours)
	}
	var bad *prdc.ErrVector
	if errors.As(err, &bad) {
		side := g.real
		if bad.Side == "generated" {
			side = g.generated
		}
		id := ""
		if side.ids != nil {
			id = side.ids[bad.Row]
		}
		return nil, fmt.Errorf("table %q, row %d (id %q), vector %q: %s", bad.Side, side.rows[bad.Row]+1, id, s.vector, bad.Reason)
	}
	if err != nil {
		return nil, fmt.Errorf("group %s, vector %q: %w", g.name(call.By), s.vector, err)
	}
	if r.Generated > 0 && r.Misses == r.Generated {
		notes.Add(s.vector+": none of the %d generated images has a usable component: all count as misses", g.label(), r.Generated)
	}
	if r.ZeroRadii > 0 {
		notes.Add(fmt.Sprintf("%s: %%d of %%d real images have radius 0 (%d or more exact copies): nothing can lie in their balls; remove duplicates first", s.vector, r.K),
			g.label(), r.ZeroRadii, r.Real)
	}
	if opts.Recall && r.Generated > r.Misses && math.IsNaN(r.Recall) {
		notes.Add(fmt.Sprintf("%s: recall is not available: it needs at least %d generated images with a vector, for k = %d", s.vector, r.K+1, r.K), g.label())
	}
	if slices.ContainsFunc(r.Draws, func(d prdc.Scores) bool { return math.IsNaN(d.Precision) }) && !math.IsNaN(r.Scores.Precision) { // a half without a generated image
		notes.Add("too few images for an interval", g.label(fmt.Sprintf("%d generated", len(sets.Generated))))
		r.Draws = nil
	}
	return r, nil
}

func (s side) halves(name string, seed int64, draws int) (*interval.Draws, error) {
	return interval.HalfSample(interval.Halves{Seed: uint64(seed), Count: draws, Side: name, Cells: s.cells, IDs: s.ids})
}

// scoreOf picks one of the four scores, and its range.
func scoreOf(s prdc.Scores, name string) (float64, interval.Range) {
	switch name {
	case "precision":
		return s.Precision, interval.Share
	case "coverage":
		return s.Coverage, interval.Share
	case "recall":
		return s.Recall, interval.Share
	}
	return s.Density, interval.Range{Min: 0, Max: math.Inf(1)}
}

// drawsOf are the half-samples of one score.
func drawsOf(r *prdc.Result, name string) []float64 {
	out := make([]float64, len(r.Draws))
	for i, d := range r.Draws {
		out[i], _ = scoreOf(d, name)
	}
	return out
}

func computePrecisionCoverage(ctx context.Context, call Call) (*client.Frame, error) {
	s, err := readSetup(call.Options)
	if err != nil {
		return nil, err
	}
	s.counted = true
	groups, err := gather(call, s)
	if err != nil {
		return nil, err
	}
	var notes GroupNotes
	out := newRows(append(slices.Clone(call.By), "vector", "interval"))
	for i, g := range groups {
		call.report("precision and coverage", i, len(groups))
		r, err := g.compute(ctx, call, s, prdc.Options{Recall: true}, &notes)
		if err != nil {
			return nil, err
		}
		out.text(append(slices.Clone(g.values), s.vector, s.intervalName("half-sampling interval"))...)
		for _, name := range prdcScores {
			value, within := scoreOf(r.Scores, name)
			iv := interval.Interval{Value: value, Low: math.NaN(), High: math.NaN()}
			if len(r.Draws) > 0 && !math.IsNaN(value) {
				if iv, err = interval.FromHalves(value, drawsOf(r, name), s.level, within); err != nil {
					return nil, fmt.Errorf("group %s, %s: %w", g.name(call.By), name, err)
				}
			}
			out.number(name, iv.Value)
			out.number(name+"_low", iv.Low)
			out.number(name+"_high", iv.High)
		}
		for i, n := range []int{len(g.real.rows), len(g.generated.rows), g.asked, g.refused, g.unmasked, g.used} {
			out.number(strings.TrimSuffix(countColumns[i], ":number"), float64(n))
		}
	}
	notes.Tell(call)
	return out.frame(), nil
}

func computeGaps(ctx context.Context, call Call) (*client.Frame, error) {
	s, err := readSetup(call.Options)
	if err != nil {
		return nil, err
	}
	if len(call.By) == 0 {
		return nil, errors.New("gaps are between groups: name the grouping column with By or --by")
	}
	if s.draws == 0 {
		return nil, errors.New("gaps need half-samples for their intervals: draws must not be 0")
	}
	groups, err := gather(call, s)
	if err != nil {
		return nil, err
	}
	var notes GroupNotes
	results := make([]*prdc.Result, len(groups))
	for i, g := range groups {
		call.report("gaps", i, len(groups))
		if results[i], err = g.compute(ctx, call, s, prdc.Options{}, &notes); err != nil {
			return nil, err
		}
		if len(results[i].Draws) == 0 {
			return nil, fmt.Errorf("group %s has too few images for a gap with an interval", g.name(call.By))
		}
	}
	notes.Tell(call)
	reference, err := referenceGroups(call, groups)
	if err != nil {
		return nil, err
	}
	scores := datasets.SplitColumns(call.Options["scores"])
	for _, name := range scores {
		if !slices.Contains(regionScores, name) {
			return nil, fmt.Errorf("option scores: %q is none of %v", name, regionScores)
		}
	}
	out := newRows([]string{strings.Join(call.By, ", "), "vector", "score", "flagged", "interval"})
	index := map[string]*group{}
	for _, g := range groups {
		index[strings.Join(g.values, ", ")] = g
	}
	for _, name := range scores {
		scored := make([]interval.Scored, len(groups))
		for i, g := range groups {
			value, _ := scoreOf(results[i].Scores, name)
			scored[i] = interval.Scored{Name: strings.Join(g.values, ", "), Value: value, Draws: drawsOf(results[i], name)}
		}
		gaps, err := interval.GapsToMean(scored, reference, s.level)
		if err != nil {
			return nil, fmt.Errorf("gaps of %s: %w", name, err)
		}
		for _, gap := range gaps {
			g, iv := index[gap.A], gap.Simultaneous
			flagged := "no"
			if iv.Excludes(0) {
				flagged = "yes"
			}
			out.text(gap.A, s.vector, name, flagged, s.intervalName("half-sampling interval, simultaneous over the groups"))
			out.number("gap", iv.Value)
			out.number("gap_low", iv.Low)
			out.number("gap_high", iv.High)
			out.number("n_real", float64(len(g.real.rows)))
			out.number("n_generated", float64(len(g.generated.rows)))
		}
	}
	return out.frame(), nil
}

// referenceGroups are the names of the groups that gaps are taken against.
func referenceGroups(call Call, groups []*group) ([]string, error) {
	var out []string
	names := datasets.SplitColumns(call.Options["against"])
	var except []string
	if f := call.Inputs["except"]; f != nil {
		c, err := f.Need(strings.Join(call.By, ", "), client.Text)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", "except", err)
		}
		except = c.Texts
	}
	for _, g := range groups {
		name := strings.Join(g.values, ", ")
		if slices.Contains(except, name) {
			continue
		}
		if len(names) == 0 || slices.Contains(names, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no group is left to take gaps against")
	}
	if len(names) > 0 && len(out) != len(names) {
		return nil, fmt.Errorf("against %q: %d of these groups are in the tables", call.Options["against"], len(out))
	}
	return out, nil
}

// intervalName says what the intervals are, as figures print it; "" where there are none.
func (s setup) intervalName(kind string) string {
	if s.draws == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g %% %s", 100*s.level, kind)
}

func (c Call) report(what string, done, total int) {
	if c.Progress != nil {
		c.Progress(client.Progress{Stage: what, Done: done, Total: total})
	}
}
