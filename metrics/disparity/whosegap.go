package disparity

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/internal/distance"
	"antipode/internal/fault"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// GapSourceOptions are the options of [GapSources].
type GapSourceOptions struct {
	By                []string `json:"by,omitempty" required:"true" help:"text columns that define the groups, three or more"`
	Vector            string   `json:"vector,omitempty" default:"full" help:"vector column to compare"`
	Scores            []string `json:"scores,omitempty" default:"coverage" values:"precision,coverage" help:"scores whose gaps are asked about"`
	Most              int      `json:"most,omitempty" default:"1000" min:"2" help:"images of a group and table that distances are computed of, at most"`
	Cells             string   `json:"cells,omitempty" default:"object" none:"none" help:"text column that divides a group into strata of the half-sampling, where the tables have it; none = no strata"`
	Balance           bool     `json:"balance,omitempty" help:"sample as many images of each cell from every group as the group with the fewest has, of both sets"`
	metrics.Intervals `resamples:"200"`
	Comparison
}

// gapSourceRow is a row of [GapSources]: a gap of a group.
type gapSourceRow struct {
	Group   string           `column:"{by}"`
	Vector  string           `column:"vector"`
	Score   string           `column:"score"`
	Verdict string           `column:"verdict" help:"generator, reference, camera, segmenter, undecided, above the others, no gap"`
	Gap     metrics.Estimate `column:"gap" unit:"difference of shares" range:"[-1, 1]"`
	Ceiling metrics.Estimate `column:"ceiling_gap" unit:"difference of shares" range:"[-1, 1]" help:"the gap of held-out reference images, scored as if generated"`
	Net     metrics.Estimate `column:"net_gap" unit:"difference of shares" range:"[-1, 1]" help:"gap − ceiling_gap"`
	Sides
	Camera   string `column:"acquisition" help:"covariates of acquisition in which the reference images differ"`
	Masks    string `column:"segmentation" help:"verdict of gap-sensitivity"`
	Rule     string `column:"rule" help:"what the verdict follows from"`
	NReal    int    `column:"n_real" unit:"images"`
	NMade    int    `column:"n_generated" unit:"images"`
	Interval string `column:"interval"`
}

// Sides are the distances of a group's images to those of the other groups, which say which side is the unusual one.
type Sides struct {
	Side      metrics.Estimate `column:"side" unit:"squared MMD" range:"[-2, 2]" help:"generated_distance − reference_distance, minus the mean of the other groups: above 0 the generated images are the unusual ones, below 0 the reference images"`
	Generated float64          `column:"generated_distance" unit:"squared MMD" range:"[-2, 2]" help:"of the group's generated images to those of the other groups, mean"`
	Reference float64          `column:"reference_distance" unit:"squared MMD" range:"[-2, 2]" help:"the same of reference images"`
}

// Verdicts of [GapSources].
const (
	FromGenerator = "generator"
	FromReference = "reference"
	FromCamera    = "camera"
	FromSegmenter = "segmenter"
	NoGap         = "no gap"
	AboveOthers   = "above the others"
)

var gapSources = metrics.Define(metrics.Definition[GapSourceOptions, gapSourceRow]{
	Name: "whose-gap", Version: 2, Device: true,
	Title: "whether the generator, the reference images, their acquisition or the segmenter made each gap",
	Unit:  "difference of shares", Range: "[-1, 1]", Direction: "0 is no gap", Citation: "docs/trust.md; " +
		"of the distance: Gretton et al., JMLR 13, 2012",
	Inputs: append(slices.Clone(twoSets),
		metrics.Input{Role: "acquisition", Optional: true, Columns: datasets.Columns("covariate:text", "flagged:text"),
			About: "a result of acquisition, by the same groups"},
		metrics.Input{Role: "masks", Optional: true, About: "a result of gap-sensitivity, by the same groups",
			Columns: datasets.Columns("vector:text", "score:text", "verdict:text")}),
	Compute: computeGapSources,
})

// GapSources is the metric whose-gap: what made each gap in coverage or precision between groups. A gap is a difference
// between the generated and the reference images of a group that other groups do not have, and either of them can be
// the unusual one. So both are compared with those of the other groups:
//
//	generated_distance = mean over the other groups of the squared maximum mean discrepancy between their generated
//	                     images and this group's; Gaussian kernel, unbiased
//	reference_distance = the same of reference images
//	side               = generated_distance − reference_distance, minus the mean of the other groups
//
// Vectors are taken relative to the mean of their group and table, because groups differ anyway: what is particular to
// a group, its colors for example, shows in both tables; what a generator does wrong, or what photographs lack, shows
// in one. The verdict is the first that applies, and the column rule says why:
//
//	undecided         gap has no interval
//	no gap            its interval contains 0
//	above the others  it is above 0, which a group with a gap below 0 makes likely for all others
//	segmenter         gap-sensitivity says that segmentation can explain it
//	reference         held-out reference images have the gap, too: ceiling_gap excludes 0, net_gap does not
//	generator         the interval of side is above 0
//	camera            it is not, and the acquisition of the reference images differs
//	reference         it is below 0
//	undecided         it contains 0
//
// acquisition and masks are results of [Acquisition] and [GapSensitivity], or zero tables. Intervals hold for all
// groups at once. A fault that generated and reference images of a group share is not found; neither is one of all
// groups.
func GapSources(sets metrics.Sets, acquisition, masks datasets.Table, options ...GapSourceOptions) datasets.Table {
	inputs := sets.Inputs()
	inputs["acquisition"], inputs["masks"] = acquisition, masks
	return gapSources.Table(inputs, options...)
}

func computeGapSources(ctx context.Context, call *metrics.Call, o GapSourceOptions) ([]gapSourceRow, error) {
	by := strings.Join(o.By, ", ")
	c, groups, names, err := gapGroups(ctx, call, GapsOptions{By: o.By, Vector: o.Vector, Cells: o.Cells,
		Balance: o.Balance, SkipFew: true, Intervals: o.Intervals, Comparison: o.Comparison})
	if err != nil || len(groups) < 2 {
		return nil, err
	}
	flagged, masks := map[string][]string{}, map[string]string{}
	cameras, sensitivity := tabular.Read(call, "acquisition"), tabular.Read(call, "masks")
	for _, g := range cameras.Groups(o.By) {
		for _, i := range g.Rows {
			if group := strings.Join(g.By, ", "); cameras.Frame.Texts("flagged")[i] == "yes" {
				flagged[group] = append(flagged[group], cameras.Frame.Texts("covariate")[i])
			}
		}
	}
	for i, group := range sensitivity.Texts(by) {
		if sensitivity.Texts("vector")[i] == c.Vector {
			masks[group+"/"+sensitivity.Texts("score")[i]] = sensitivity.Texts("verdict")[i]
		}
	}
	if err := cmp.Or(cameras.Err, sensitivity.Err); err != nil {
		return nil, err
	}
	call.Report("compare groups", 0, 1)
	compared, err := sides(ctx, call, c, groups, o.Most)
	if err != nil {
		return nil, err
	}
	var out []gapSourceRow
	for _, name := range o.Scores {
		found, err := scoreGaps(groups, names, c.Level, name)
		if err != nil {
			return nil, err
		}
		for i, g := range groups {
			group := strings.Join(g.values, ", ")
			row := gapSourceRow{Group: group, Vector: c.Vector, Score: name,
				Gap: g.estimate(found.own[i].Simultaneous), Ceiling: metrics.Estimated(found.ceiling[i].Simultaneous),
				Net: metrics.Estimated(found.net[i].Simultaneous), Sides: compared[i],
				Camera: strings.Join(flagged[group], ", "), Masks: masks[group+"/"+name],
				NReal: len(g.real.rows), NMade: len(g.generated.rows),
				Interval: c.intervalName("half-sampling interval, simultaneous over the groups")}
			row.decide()
			out = append(out, row)
		}
	}
	return out, nil
}

// decide sets the verdict.
func (r *gapSourceRow) decide() {
	excludes := func(e metrics.Estimate) bool { return e.Low > 0 || e.High < 0 }
	set := func(verdict, rule string) { r.Verdict, r.Rule = verdict, rule }
	switch {
	case math.IsNaN(r.Gap.Low):
		set(interval.Undecided, "gap has no interval: the images are copies")
	case !excludes(r.Gap):
		set(NoGap, "gap contains 0")
	case r.Gap.Value > 0:
		set(AboveOthers, "gap > 0: explained by the groups with a gap below 0, if there are any")
	case r.Masks == Explained:
		set(FromSegmenter, Explained)
	case excludes(r.Ceiling) && r.Ceiling.Value*r.Gap.Value > 0 && !excludes(r.Net):
		set(FromReference, "held-out reference images have the gap, too")
	case math.IsNaN(r.Side.Value):
		set(interval.Undecided, "too few images, or fewer than three groups, to compare the sides")
	case r.Side.Low > 0:
		set(FromGenerator, "side > 0: its generated images are the unusual ones")
	case r.Camera != "":
		set(FromCamera, "side is not > 0, and acquisition differs: "+r.Camera)
	case r.Side.High < 0:
		set(FromReference, "side < 0: its reference images are the unusual ones")
	default:
		set(interval.Undecided, "side contains 0")
	}
}

// centered are vectors of a group relative to their mean, and their half-samples.
type centered struct {
	vectors [][]float32
	width   float64    // their mean squared length
	in      *mat.Dense // [vector, sample] is 1 where a sample contains a vector; the first sample is all of them
}

// sides compares the reference and the generated images of each group with those of the other groups; all is NaN for
// groups with too few images, which are no other groups either.
func sides(ctx context.Context, call *metrics.Call, c *comparison, groups []*group, most int) ([]Sides, error) {
	out := slices.Repeat([]Sides{{metrics.Exact(math.NaN()), math.NaN(), math.NaN()}}, len(groups))
	var at []int // of the groups that are compared
	var real, generated []centered
	var few metrics.GroupNotes
	width := 0.0 // mean squared distance of two images
	for i, g := range groups {
		r, err := g.real.center(c, "real", most)
		made, err2 := g.generated.center(c, "generated", most)
		if err = cmp.Or(err, err2); err != nil {
			return nil, fmt.Errorf("group %s: %w", g.name(c.By), err)
		}
		if r.vectors == nil || made.vectors == nil {
			few.Add("too few images to compare the sides", g.name(c.By))
			continue
		}
		at, real, generated, width = append(at, i), append(real, r), append(generated, made), width+r.width+made.width
	}
	few.AddTo(call, c.By...)
	if len(at) < 3 {
		return out, nil
	}
	width /= float64(len(at))
	reference, made := unusual(ctx, c.Resamples, real, width), unusual(ctx, c.Resamples, generated, width)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	both, names := make([]interval.Scored, len(at)), make([]string, len(at))
	for k, i := range at {
		names[k] = strings.Join(groups[i].values, ", ")
		both[k] = interval.Scored{Name: names[k], Value: made[k].Value - reference[k].Value,
			Samples: floats.SubTo(make([]float64, c.Resamples), made[k].Samples, reference[k].Samples)}
	}
	gaps, err := interval.GapsToMean(both, names, c.Level)
	for k, gap := range gaps {
		out[at[k]] = Sides{metrics.Estimated(gap.Simultaneous), made[k].Value, reference[k].Value}
	}
	call.Report("compare groups", 1, 1)
	return out, err
}

// center returns at most so many vectors of a group, none if a half-sample would have fewer than two.
func (s side) center(c *comparison, role string, most int) (out centered, err error) {
	halves, err := s.halves(role, c)
	if err != nil {
		return out, err
	}
	var rows []int
	for _, i := range tabular.Random(c.Seed, role).Perm(len(s.vectors)) {
		if s.vectors[i] != nil && len(rows) < most {
			rows = append(rows, i)
		}
	}
	halves = halves.Pick(rows)
	if slices.Min(halves.Sizes()) < 2 {
		return out, nil
	}
	out.in = mat.NewDense(len(rows), 1+halves.Count(), nil)
	out.in.Apply(func(i, sample int, _ float64) float64 { return share(sample == 0 || halves.Contains(sample-1, i)) },
		out.in)
	mean := make([]float64, len(s.vectors[rows[0]]))
	for _, row := range rows {
		for i, x := range s.vectors[row] {
			mean[i] += float64(x) / float64(len(rows))
		}
	}
	for _, row := range rows {
		v := make([]float32, len(mean))
		for i, x := range s.vectors[row] {
			v[i] = x - float32(mean[i])
			out.width += float64(v[i]) * float64(v[i]) / float64(len(rows))
		}
		out.vectors = append(out.vectors, v)
	}
	return out, nil
}

// unusual returns the mean distance of each group to the others.
func unusual(ctx context.Context, resamples int, groups []centered, width float64) (out []interval.Scored) {
	n := len(groups)
	similar := make([][]float64, n*n) // the mean kernel of groups i and j at i·n + j: of all, and of each half-sample
	fault.Each(n*n, func(at int) {
		if i, j := at/n, at%n; i <= j && ctx.Err() == nil {
			s := groups[i].similarity(groups[j], i == j, width)
			similar[i*n+j], similar[j*n+i] = s, s
		}
	})
	for i := 0; i < n && ctx.Err() == nil; i++ {
		distances := make([]float64, resamples+1)
		for j := range n {
			for b := range distances {
				distances[b] += (similar[i*n+i][b] + similar[j*n+j][b] - 2*similar[i*n+j][b]) / float64(n-1)
			}
		}
		out = append(out, interval.Scored{Value: distances[0], Samples: distances[1:]})
	}
	return out
}

// similarity returns the mean of exp(−d²/2h) over the pairs of images of two groups, without those of an image with
// itself: of all, and of each half-sample.
func (a centered) similarity(b centered, same bool, h float64) []float64 {
	kernel, sums := mat.NewDense(len(a.vectors), len(b.vectors), nil), &mat.Dense{}
	kernel.Apply(func(i, j int, _ float64) float64 {
		if same && i == j {
			return 0
		}
		return math.Exp(-distance.Squared(a.vectors[i], b.vectors[j]) / (2 * h))
	}, kernel)
	sums.Mul(kernel, b.in)
	out := make([]float64, b.in.RawMatrix().Cols)
	for sample := range out {
		in, m := a.in.ColView(sample), mat.Sum(b.in.ColView(sample))
		if same {
			m--
		}
		out[sample] = mat.Dot(in, sums.ColView(sample)) / (mat.Sum(in) * m)
	}
	return out
}
