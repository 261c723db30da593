package disparity

import (
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics/interval"
	"antipode/metrics/prdc"
)

// Comparison are the options of nearest-neighbor balls and of images without the vector.
type Comparison struct {
	K            int    `json:"k,omitempty" default:"3" min:"1" help:"the distance to the k-th nearest neighbor is the radius"`
	Boundary     string `json:"boundary,omitempty" default:"<" values:"<,<=" help:"whether a ball contains its boundary"`
	Profile      string `json:"profile,omitempty" default:"paper" values:"paper,public-code" help:"defaults of the paper or of its released code"`
	Unmasked     string `json:"unmasked,omitempty" default:"profile" values:"profile,miss,full-image,drop,zero-vector" help:"treatment of a generated image without the vector"`
	UnmaskedReal string `json:"unmasked_real,omitempty" default:"profile" values:"profile,drop,full-image" help:"treatment of a reference image without the vector"`
	MinPatches   int    `json:"min_patches,omitempty" min:"0" help:"background patches that an image needs for background_only; 0 = the profile's (1; public-code 25)"`
}

// PrecisionCoverageOptions are the options of [PrecisionCoverage].
type PrecisionCoverageOptions struct {
	By                []string `json:"by,omitempty" help:"text columns that define the groups; each is compared with its own reference images"`
	Vector            string   `json:"vector,omitempty" default:"full" help:"vector column to compare"`
	Cells             string   `json:"cells,omitempty" default:"object" none:"none" help:"text column that divides a group into strata of the half-sampling, where the tables have it; none = no strata"`
	Balance           bool     `json:"balance,omitempty" help:"sample as many images of each cell from every group as the group with the fewest has, of both sets"`
	metrics.Intervals `resamples:"200"`
	Comparison
}

// precisionCoverageRow is a row of the result of [PrecisionCoverage].
type precisionCoverageRow struct {
	Group            metrics.Group
	Vector           string           `column:"vector"`
	Interval         string           `column:"interval" help:"kind of the intervals"`
	Precision        metrics.Estimate `column:"precision" unit:"share of generated images" range:"[0, 1]"`
	Coverage         metrics.Estimate `column:"coverage" unit:"share of reference images" range:"[0, 1]"`
	Density          metrics.Estimate `column:"density" unit:"balls / k" range:"[0, ∞)"`
	Recall           metrics.Estimate `column:"recall" unit:"share of reference images" range:"[0, 1]"`
	PrecisionCeiling float64          `column:"precision_ceiling" unit:"share of held-out images" range:"[0, 1]" help:"precision of held-out reference images, scored as if generated"`
	CoverageCeiling  float64          `column:"coverage_ceiling" unit:"share of reference images" range:"[0, 1]" help:"coverage of held-out reference images"`
	PrecisionLeast   float64          `column:"precision_bound_low" unit:"share of requested images" range:"[0, 1]" help:"precision if every image that is missing were in no ball"`
	PrecisionMost    float64          `column:"precision_bound_high" unit:"share of requested images" range:"[0, 1]" help:"precision if every image that is missing were in a ball"`
	metrics.Counts
}

var precisionCoverage = metrics.Define(metrics.Definition[PrecisionCoverageOptions, precisionCoverageRow]{
	Name: "precision-coverage", Version: 5, // 3 had no ceilings
	Device: true, Inputs: twoSets,
	Title:     "precision, coverage, density and recall of generated images by group",
	Unit:      "share of images",
	Range:     "[0, 1]; density [0, ∞)",
	Direction: "higher is better",
	Citation:  "Sureddy et al. 2024 (Decomposed-DIG), section 3.3; Naeem et al. 2020",
	Compute:   computePrecisionCoverage,
})

// PrecisionCoverage compares generated images g_1 … g_M with reference images h_1 … h_N, group by group, in the
// space of one vector column (section 3.3 of Decomposed-DIG; density and coverage: Naeem et al. 2020). The ball
// around h_j has the Euclidean distance to its k-th nearest other reference image as radius; by default it excludes
// its boundary.
//
//	precision = share of the g in a ball                 [0, 1]   realism
//	coverage  = share of the h whose ball contains a g   [0, 1]   diversity
//	density   = mean over g of the number of balls that contain it, over k   [0, ∞)
//	recall    = share of the h in a ball around a g      [0, 1]
//
// The ceilings are what the generator could reach: the scores of held-out reference images, as many of them for each
// reference image as there are generated ones and at most all, as means over random halves. Unlike 1, they are what
// images of the same distribution score. The bounds of precision are its values if all images that were requested and
// are not compared, such as refused ones, were in no ball, or in one (Manski 1990); coverage could only be higher with
// them. Each score has a half-sampling interval (package interval) and its counts. A
// group with no more than k reference images is an error; a group without generated images has no precision, and
// coverage 0. Package prdc has the function on slices.
func PrecisionCoverage(sets metrics.Sets, options ...PrecisionCoverageOptions) datasets.Table {
	return precisionCoverage.Table(sets.Inputs(), options...)
}

// GapsOptions are the options of [Gaps].
type GapsOptions struct {
	By                []string `json:"by,omitempty" required:"true" help:"text columns that define the groups"`
	Vector            string   `json:"vector,omitempty" default:"full" help:"vector column to compare"`
	Scores            []string `json:"scores,omitempty" default:"precision,coverage" values:"precision,coverage" help:"scores to compare"`
	Against           []string `json:"against,omitempty" help:"reference groups; empty = all but those of the table except"`
	SkipFew           bool     `json:"skip_few,omitempty" help:"leave out groups with too few images for an interval, with a note, in place of an error"`
	Cells             string   `json:"cells,omitempty" default:"object" none:"none" help:"text column that divides a group into strata of the half-sampling, where the tables have it; none = no strata"`
	Balance           bool     `json:"balance,omitempty" help:"sample as many images of each cell from every group as the group with the fewest has, of both sets"`
	metrics.Intervals `resamples:"200"`
	Comparison
}

// gapRow is a row of the result of [Gaps].
type gapRow struct {
	Group     string           `column:"{by}"`
	Vector    string           `column:"vector"`
	Score     string           `column:"score"`
	Flagged   bool             `column:"flagged" help:"yes where the interval excludes 0"`
	Interval  string           `column:"interval" help:"kind of the intervals"`
	Gap       metrics.Estimate `column:"gap" unit:"difference of shares" range:"[-1, 1]"`
	Ceiling   metrics.Estimate `column:"ceiling_gap" unit:"difference of shares" range:"[-1, 1]" help:"the gap of held-out reference images, scored as if generated"`
	Real      int              `column:"n_real" unit:"images"`
	Generated int              `column:"n_generated" unit:"images"`
}

var gaps = metrics.Define(metrics.Definition[GapsOptions, gapRow]{
	Name: "region-gaps", Version: 5, Device: true, // 3 had no ceilings
	Inputs: append(slices.Clone(twoSets),
		metrics.Input{Role: "except", Optional: true,
			About: "groups that are no reference, in the column of the grouping"}),
	Title:     "differences of precision and coverage between groups, with simultaneous intervals",
	Unit:      "difference of shares",
	Range:     "[-1, 1]",
	Direction: "0 is no gap",
	Citation:  "Sureddy et al. 2024 (Decomposed-DIG), section 4.2",
	Compute:   computeGaps,
})

// Gaps returns the differences between groups of the scores of [PrecisionCoverage]: each group's score minus the
// mean of the reference groups ([GapsOptions].Against; all groups by default). A reference group is compared with
// the others. The intervals of a score hold simultaneously over the groups (max-t over the same half-samples). A
// row is flagged where its interval excludes zero.
func Gaps(sets metrics.Sets, options ...GapsOptions) datasets.Table {
	return gaps.Table(sets.Inputs(), options...)
}

// GapsToControls is [Gaps] against all groups but those that a table lists in the column of the grouping, for example
// the regions with an injected disparity.
func GapsToControls(sets metrics.Sets, except datasets.Table, options ...GapsOptions) datasets.Table {
	inputs := sets.Inputs()
	inputs["except"] = except
	return gaps.Table(inputs, options...)
}

var (
	regionScores = []string{"precision", "coverage"}
	twoSets      = []metrics.Input{{Role: "real", About: "the reference images"},
		{Role: "generated", About: "the generated images"}}
)

// compare gathers the groups of the two sets and computes their scores.
func compare(ctx context.Context, call *metrics.Call, options comparison, stage string, run prdc.Options) (*comparison,
	[]*group, error) {
	c, err := newComparison(options)
	if err != nil {
		return nil, nil, err
	}
	groups, err := gather(call, c)
	if err != nil {
		return nil, nil, err
	}
	var notes metrics.GroupNotes
	for i, g := range groups {
		call.Report(stage, i, len(groups))
		if g.result, err = g.compute(ctx, call, c, run, &notes); err != nil {
			return nil, nil, err
		}
	}
	notes.AddTo(call, c.By...)
	return c, groups, nil
}

// compute runs [prdc.Compute] on a group, with half-samples unless Resamples is 0. Warnings are added to notes.
func (g *group) compute(ctx context.Context, call *metrics.Call, c *comparison, opts prdc.Options,
	notes *metrics.GroupNotes) (*prdc.Result, error) {
	opts.K, opts.Closed = c.K, c.Boundary == "<="
	sets := prdc.Sets{Real: g.real.vectors, Generated: g.generated.vectors}
	if c.Resamples > 0 && len(sets.Generated) > 0 {
		var err error
		if opts.RealSamples, err = g.real.halves("real", c); err != nil {
			return nil, err
		}
		if opts.GeneratedSamples, err = g.generated.halves("generated", c); err != nil {
			return nil, err
		}
	}
	r, err := prdc.Compute(ctx, sets, opts, call.Neighbors)
	var few *prdc.ErrTooFewSamples
	if errors.As(err, &few) && opts.RealSamples != nil {
		whole := opts
		whole.RealSamples, whole.GeneratedSamples = nil, nil
		switch {
		case strings.HasPrefix(few.Side, "generated"): // those whose balls recall needs
			notes.Add("too few images for an interval of recall", g.label(fmt.Sprintf("%d generated",
				len(sets.Generated))))
			var all *prdc.Result
			if all, err = prdc.Compute(ctx, sets, whole, call.Neighbors); err == nil {
				whole = opts
				whole.Recall = false
				if r, err = prdc.Compute(ctx, sets, whole, call.Neighbors); err == nil {
					r.Recall = all.Recall
				}
			}
		case c.halved == nil:
			notes.Add("too few images for an interval", g.label(fmt.Sprintf("%d real", len(sets.Real))))
			r, err = prdc.Compute(ctx, sets, whole, call.Neighbors)
		}
	}
	var bad *prdc.ErrVector
	if errors.As(err, &bad) {
		row := g.side(bad.Side).rows[bad.Row]
		return nil, fmt.Errorf("table %q: %w", bad.Side, tabular.BadRow(call.Inputs[bad.Side], row, c.Vector, "%s",
			bad.Reason))
	}
	if err != nil {
		return nil, fmt.Errorf("group %s, vector %q: %w", g.name(c.By), c.Vector, err)
	}
	if r.Generated > 0 && r.Misses == r.Generated {
		notes.Add(c.Vector+": none of the %d generated images has a usable component: all count as misses", g.label(),
			r.Generated)
	}
	if r.ZeroRadii > 0 {
		notes.Add(fmt.Sprintf("%s: %%d of %%d real images have radius 0 (%d or more exact copies, or differences "+
			"below 1e-22): their balls are empty; remove duplicates first", c.Vector, r.K), g.label(), r.ZeroRadii,
			r.Real)
	}
	if opts.Recall && r.Generated > r.Misses && math.IsNaN(r.Recall) {
		notes.Add(fmt.Sprintf("%s: recall is not available: it needs at least %d generated images with a "+
			"vector, for k = %d", c.Vector, r.K+1, r.K), g.label())
	}
	if slices.ContainsFunc(r.Samples, func(d prdc.Scores) bool { return math.IsNaN(d.Precision) }) &&
		!math.IsNaN(r.Scores.Precision) { // a half-sample without a generated image
		notes.Add("too few images for an interval", g.label(fmt.Sprintf("%d generated", len(sets.Generated))))
		r.Samples = nil
	}
	return r, nil
}

// estimate returns a score with its interval, which one of no width is not if the group has copies.
func (g *group) estimate(iv interval.Interval) metrics.Estimate {
	if iv.Low == iv.High && g.copies > 0 {
		return metrics.Exact(iv.Value)
	}
	return metrics.Estimated(iv)
}

func (s side) halves(name string, c *comparison) (*interval.Samples, error) {
	if all := c.halved[name]; all != nil {
		return all.Pick(s.rows), nil
	}
	return interval.HalfSample(interval.HalfSampleOptions{Seed: uint64(c.Seed), Resamples: c.Resamples, Side: name,
		Cells: s.cells, IDs: s.ids})
}

// prdcScore is one of the four scores.
type prdcScore struct {
	of     func(prdc.Scores) float64
	within interval.Range
}

var prdcScores = map[string]prdcScore{
	"precision": {func(s prdc.Scores) float64 { return s.Precision }, interval.Share},
	"coverage":  {func(s prdc.Scores) float64 { return s.Coverage }, interval.Share},
	"density":   {func(s prdc.Scores) float64 { return s.Density }, interval.Range{Min: 0, Max: math.Inf(1)}},
	"recall":    {func(s prdc.Scores) float64 { return s.Recall }, interval.Share},
}

func computePrecisionCoverage(ctx context.Context, call *metrics.Call,
	o PrecisionCoverageOptions) ([]precisionCoverageRow,
	error) {
	c, groups, err := compare(ctx, call, comparison{PrecisionCoverageOptions: o, counted: true},
		"precision and coverage", prdc.Options{Recall: true, HeldOut: true})
	if err != nil {
		return nil, err
	}
	var out []precisionCoverageRow
	for _, g := range groups {
		r := g.result
		row := precisionCoverageRow{Group: g.values, Vector: c.Vector,
			Counts: metrics.Counts{Real: len(g.real.rows), Generated: len(g.generated.rows), Asked: g.asked,
				Refused: g.refused, Unmasked: g.unmasked, Used: g.used}}
		estimates := []*metrics.Estimate{&row.Precision, &row.Coverage, &row.Density, &row.Recall}
		for i, name := range []string{"precision", "coverage", "density", "recall"} {
			to, score := estimates[i], prdcScores[name]
			*to = metrics.Exact(score.of(r.Scores))
			halves := r.Samples.Of(score.of)
			if len(halves) == 0 || math.IsNaN(to.Value) || slices.ContainsFunc(halves, math.IsNaN) {
				continue
			}
			iv, err := interval.FromHalves(to.Value, halves, c.Level, score.within)
			if err != nil {
				return nil, fmt.Errorf("group %s, %s: %w", g.name(c.By), name, err)
			}
			*to = g.estimate(iv)
		}
		row.Interval = metrics.IntervalOf(c.intervalName("half-sampling interval"), row.Precision, row.Coverage,
			row.Density, row.Recall)
		row.PrecisionLeast, row.PrecisionMost = math.NaN(), math.NaN()
		if n, asked := float64(r.Generated), float64(g.asked); n > 0 && !c.Balance {
			row.PrecisionLeast, row.PrecisionMost = r.Precision*n/asked, (r.Precision*n+asked-n)/asked
		}
		row.PrecisionCeiling = tabular.Average(r.HeldOut.Of(prdcScores["precision"].of))
		row.CoverageCeiling = tabular.Average(r.HeldOut.Of(prdcScores["coverage"].of))
		out = append(out, row)
	}
	return out, nil
}
