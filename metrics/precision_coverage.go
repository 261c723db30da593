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

// Against names the groups whose mean the others are compared with; see [Gaps].
func Against(groups ...string) Setting { return set("against", strings.Join(groups, ",")) }

func newArgs(metric string, settings []Setting) Args {
	a := Args{Metric: metric, Options: map[string]string{}}
	for _, s := range settings {
		s(&a)
	}
	return a
}

// PrecisionCoverage compares generated images with real ones, group by group: precision (realism: the share of
// generated images inside the manifold of the real ones) and coverage (diversity: the share of real images whose
// neighbourhood holds a generated one), density and recall, each with a half-sampling interval and its counts.
// Decomposed-DIG, section 3; Naeem et al. 2020 for density and coverage.
func PrecisionCoverage(sets Sets, settings ...Setting) datasets.Table {
	return Score(newArgs("precision-coverage", settings), map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated})
}

// Gaps are the differences between groups of the scores of [PrecisionCoverage]: each group's score minus the mean of the groups
// that [Against] names (all groups, where it names none), with intervals that hold simultaneously over all rows
// (max-t over the same half-samples). A row is flagged where its interval excludes zero.
func Gaps(sets Sets, settings ...Setting) datasets.Table {
	return Score(newArgs("region-gaps", settings), map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated})
}

func init() {
	Register(Metric{
		Info: Info{Name: "precision-coverage", Title: "precision, coverage, density and recall of generated images against real ones, by group",
			Unit: "share of images", Range: "[0, 1]; density [0, ∞)", Direction: "higher is better",
			Citation: "Sureddy et al. 2024 (Decomposed-DIG), section 3.3; Naeem et al. 2020"},
		Version: 1, Inputs: twoSets, Options: setOptions,
		Columns: func(a Args) []client.ColumnSpec {
			var out []client.ColumnSpec
			for _, by := range a.By {
				out = append(out, client.ColumnSpec{Name: by, Kind: client.Text})
			}
			out = append(out, datasets.Columns("vector:text")...)
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
		Version: 1, Inputs: twoSets,
		Options: append(slices.Clone(setOptions), Option{Name: "against", About: "the groups whose mean the others are compared with, A,B,…; empty = all"}),
		Columns: func(a Args) []client.ColumnSpec {
			return datasets.Columns(strings.Join(a.By, ", ")+":text", "vector:text", "score:text", "gap:number", "gap_low:number", "gap_high:number", "flagged:text", "n_real:number", "n_generated:number")
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
		{Name: "unmasked-real", Default: "drop", Values: []string{"drop", "full-image"}, About: "what becomes of a real image without the vector"},
		{Name: "min-patches", Default: "0", About: "background patches an image needs for background_only; 0 = the profile's (1; public-code 25)"},
		{Name: "cells", Default: "object", About: "the column that divides a group into cells for half-sampling, where the tables have it"},
		{Name: "draws", Default: "200", About: "half-samples behind each interval; 0 = no intervals"},
		{Name: "level", Default: "0.95", About: "the intervals' nominal probability"},
	}
)

// setup is what the options of a nearest-neighbour score ask for.
type setup struct {
	vector, unmasked, unmaskedReal, cells string
	k, minPatches, draws                  int
	level                                 float64
	closed                                bool
}

// publicCodePatches is "more than 25 kept tokens, the class token among them", in patches.
const publicCodePatches = 25

func readSetup(o map[string]string) (s setup, err error) {
	number := func(name string, least int) int {
		n, convErr := strconv.Atoi(o[name])
		if (convErr != nil || n < least) && err == nil {
			err = fmt.Errorf("option %s=%q: give a whole number of at least %d", name, o[name], least)
		}
		return n
	}
	s = setup{vector: o["vector"], unmasked: o["unmasked"], unmaskedReal: o["unmasked-real"], cells: o["cells"], closed: o["boundary"] == "<=",
		k: number("k", 1), minPatches: number("min-patches", 0), draws: number("draws", 0)}
	if s.level, _ = strconv.ParseFloat(o["level"], 64); (s.level <= 0 || s.level >= 1) && err == nil {
		err = fmt.Errorf("option level=%q: give a probability between 0 and 1", o["level"])
	}
	if s.unmasked == "profile" {
		s.unmasked = "miss"
		if s.vector == "background_only" && o["profile"] == "paper" {
			s.unmasked = "full-image"
		}
	}
	if s.minPatches == 0 {
		s.minPatches = 1
		if o["profile"] == "public-code" {
			s.minPatches = publicCodePatches
		}
	}
	return s, err
}

// group is the rows of one group on both sides, ready to be compared.
type group struct {
	values                               []string
	real, generated                      [][]float32
	realIDs, generatedIDs                []string
	realCells, generatedCells            []string
	realRows, generatedRows              []int // rows of the input tables
	asked, refused, unmasked, used, full int
}

// gather groups the rows of the two tables and applies the rules for missing vectors.
func gather(call Call, s setup) ([]*group, error) {
	real, gen := call.Inputs["real"], call.Inputs["generated"]
	index := map[string]*group{}
	var order []*group
	at := func(values []string) *group {
		key := strings.Join(values, "\x00")
		if index[key] == nil {
			index[key] = &group{values: values}
			order = append(order, index[key])
		}
		return index[key]
	}
	for side, f := range map[string]*client.Frame{"real": real, "generated": gen} {
		if _, err := f.Need(s.vector, client.Vector); err != nil {
			return nil, fmt.Errorf("table %q: %w", side, err)
		}
		for _, by := range call.By {
			if _, err := f.Need(by, client.Text); err != nil {
				return nil, fmt.Errorf("table %q: %w", side, err)
			}
		}
	}
	for _, side := range []string{"real", "generated"} {
		f := call.Inputs[side]
		for i := range f.Len() {
			values := make([]string, len(call.By))
			for j, by := range call.By {
				values[j] = f.Texts(by)[i]
			}
			g := at(values)
			if err := g.take(f, side, i, s); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *group) int { return slices.Compare(a.values, b.values) })
	for _, g := range order {
		if len(g.real) <= s.k {
			return nil, fmt.Errorf("group %s has %d real images with a vector %q; a radius needs more than k = %d", g.name(call.By), len(g.real), s.vector, s.k)
		}
		if len(g.generated) == 0 {
			call.note("group %s has no generated image: precision is not available, coverage is 0", g.name(call.By))
		}
		g.warnUneven(call)
	}
	if len(order) == 0 {
		return nil, errors.New("both tables are empty: there is nothing to compare")
	}
	return order, nil
}

// take adds one row to the group, by the rules for rows without a vector.
func (g *group) take(f *client.Frame, side string, i int, s setup) error {
	text := func(column string) string {
		if t := f.Texts(column); t != nil {
			return t[i]
		}
		return ""
	}
	v := f.Vectors(s.vector)[i]
	if patches := f.Numbers("background_patches"); s.vector == "background_only" && patches != nil && patches[i] < float64(s.minPatches) {
		v = nil
	}
	outcome := text("outcome")
	fullVector := func() ([]float32, error) {
		full := f.Vectors("full")
		if full == nil || full[i] == nil {
			return nil, fmt.Errorf("row %d (id %q) of the %s images has no vector %q, and none called full to stand in for it", i+1, text("id"), side, s.vector)
		}
		g.full++
		return full[i], nil
	}
	var err error
	if side == "real" {
		if v == nil {
			if s.unmaskedReal == "drop" {
				return nil
			}
			if v, err = fullVector(); err != nil {
				return err
			}
		}
		g.real, g.realRows = append(g.real, v), append(g.realRows, i)
		g.realIDs, g.realCells = append(g.realIDs, text("id")), append(g.realCells, text(s.cells))
		return nil
	}
	g.asked++
	switch outcome {
	case "refused":
		g.refused++
		return nil
	case "failed", "skipped":
		return nil
	}
	if v == nil {
		g.unmasked++
		switch s.unmasked {
		case "drop":
			return nil
		case "full-image":
			if v, err = fullVector(); err != nil {
				return err
			}
		case "zero-vector":
			for _, other := range f.Vectors(s.vector) {
				if other != nil {
					v = make([]float32, len(other))
					break
				}
			}
		}
	}
	if v != nil {
		g.used++
	}
	g.generated, g.generatedRows = append(g.generated, v), append(g.generatedRows, i)
	g.generatedIDs, g.generatedCells = append(g.generatedIDs, text("id")), append(g.generatedCells, text(s.cells))
	return nil
}

func (g *group) name(by []string) string {
	if len(by) == 0 {
		return "of all images"
	}
	parts := make([]string, len(by))
	for i := range by {
		parts[i] = fmt.Sprintf("%s %q", by[i], g.values[i])
	}
	return strings.Join(parts, ", ")
}

// warnUneven notes cells whose numbers of images differ: larger ones weigh more.
func (g *group) warnUneven(call Call) {
	for side, cells := range map[string][]string{"real": g.realCells, "generated": g.generatedCells} {
		n := map[string]int{}
		for _, c := range cells {
			n[c]++
		}
		least, most := math.MaxInt, 0
		for _, c := range n {
			least, most = min(least, c), max(most, c)
		}
		if len(n) > 1 && least != most {
			call.note("uneven cells: the %s images of group %s number from %d to %d a cell; balance them with Sample", side, g.name(call.By), least, most)
		}
	}
}

func (c Call) note(format string, args ...any) {
	if c.Note != nil {
		c.Note(format, args...)
	}
}

// compute runs the pure function on a group, with half-samples where asked for.
func (g *group) compute(ctx context.Context, call Call, s setup, opts prdc.Options) (*prdc.Result, error) {
	opts.K, opts.Closed = s.k, s.closed
	if s.draws > 0 && len(g.generated) > 0 {
		var err error
		if opts.RealDraws, err = g.halves(call, s, "real", g.realCells, g.realIDs); err != nil {
			return nil, err
		}
		if opts.GeneratedDraws, err = g.halves(call, s, "generated", g.generatedCells, g.generatedIDs); err != nil {
			return nil, err
		}
	}
	r, err := prdc.Compute(ctx, prdc.Sets{Real: g.real, Generated: g.generated}, opts, call.Neighbours)
	var few *prdc.ErrTooFewSamples
	if errors.As(err, &few) && opts.RealDraws != nil {
		call.note("group %s has too few images for an interval (%d real)", g.name(call.By), len(g.real))
		opts.RealDraws, opts.GeneratedDraws = nil, nil
		r, err = prdc.Compute(ctx, prdc.Sets{Real: g.real, Generated: g.generated}, opts, call.Neighbours)
	}
	if err != nil {
		return nil, fmt.Errorf("group %s, vector %q: %w", g.name(call.By), s.vector, err)
	}
	if r.ZeroRadii > 0 {
		call.note("group %s: %d real images have radius 0: they have %d or more exact copies; remove duplicates", g.name(call.By), r.ZeroRadii, s.k)
	}
	if g.full > 0 {
		call.note("group %s: the whole image stands in for %d vectors %q that are missing", g.name(call.By), g.full, s.vector)
	}
	return r, nil
}

func (g *group) halves(call Call, s setup, side string, cells, ids []string) (*interval.Draws, error) {
	named := make([]string, len(cells))
	for i := range cells {
		named[i] = strings.Join(g.values, "\x00") + "\x00" + cells[i]
	}
	if len(ids) > 0 && ids[0] == "" {
		ids = nil
	}
	return interval.HalfSample(interval.Halves{Seed: uint64(call.Seed), Count: s.draws, Side: side, Cells: named, IDs: ids})
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
	groups, err := gather(call, s)
	if err != nil {
		return nil, err
	}
	out := newRows(append(slices.Clone(call.By), "vector"))
	for i, g := range groups {
		call.report("precision and coverage", i, len(groups))
		r, err := g.compute(ctx, call, s, prdc.Options{Recall: true})
		if err != nil {
			return nil, err
		}
		out.text(append(slices.Clone(g.values), s.vector)...)
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
		for i, n := range []int{len(g.real), len(g.generated), g.asked, g.refused, g.unmasked, g.used} {
			out.number(strings.TrimSuffix(countColumns[i], ":number"), float64(n))
		}
	}
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
	results := make([]*prdc.Result, len(groups))
	for i, g := range groups {
		call.report("gaps", i, len(groups))
		if results[i], err = g.compute(ctx, call, s, prdc.Options{}); err != nil {
			return nil, err
		}
		if len(results[i].Draws) == 0 {
			return nil, fmt.Errorf("group %s has too few images for a gap with an interval", g.name(call.By))
		}
	}
	reference, err := referenceGroups(call, groups)
	if err != nil {
		return nil, err
	}
	scores := []string{"precision", "coverage"}
	var gaps []float64
	var draws [][]float64
	for _, name := range scores {
		for i := range groups {
			gap, d := gapOf(results, i, reference, name)
			gaps, draws = append(gaps, gap), append(draws, d)
		}
	}
	ivs, err := interval.Simultaneous(gaps, draws, s.level)
	if err != nil {
		return nil, err
	}
	out := newRows([]string{strings.Join(call.By, ", "), "vector", "score", "flagged"})
	for j, name := range scores {
		for i, g := range groups {
			iv := ivs[j*len(groups)+i]
			flagged := "no"
			if iv.Excludes(0) {
				flagged = "yes"
			}
			out.text(strings.Join(g.values, ", "), s.vector, name, flagged)
			out.number("gap", iv.Value)
			out.number("gap_low", iv.Low)
			out.number("gap_high", iv.High)
			out.number("n_real", float64(len(g.real)))
			out.number("n_generated", float64(len(g.generated)))
		}
	}
	return out.frame(), nil
}

// referenceGroups are the positions of the groups that gaps are taken against.
func referenceGroups(call Call, groups []*group) ([]int, error) {
	var out []int
	names := datasets.SplitColumns(call.Options["against"])
	for i, g := range groups {
		if len(names) == 0 || slices.Contains(names, strings.Join(g.values, ", ")) {
			out = append(out, i)
		}
	}
	if len(names) > 0 && len(out) != len(names) {
		return nil, fmt.Errorf("against %q: %d of these groups are in the tables", call.Options["against"], len(out))
	}
	return out, nil
}

// gapOf is a group's score minus the mean of the reference groups, in the estimate and in every draw.
func gapOf(results []*prdc.Result, i int, reference []int, name string) (float64, []float64) {
	value, _ := scoreOf(results[i].Scores, name)
	draws := drawsOf(results[i], name)
	for _, j := range reference {
		v, _ := scoreOf(results[j].Scores, name)
		value -= v / float64(len(reference))
		for b, d := range results[j].Draws {
			v, _ := scoreOf(d, name)
			draws[b] -= v / float64(len(reference))
		}
	}
	return value, draws
}

func (c Call) report(what string, done, total int) {
	if c.Progress != nil {
		c.Progress(client.Progress{Stage: what, Done: done, Total: total})
	}
}
