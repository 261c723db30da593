package metrics

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
	"antipode/metrics/prdc"
)

// SpecificationOptions are the options of [Specifications]. Each list holds the values of one choice; all combinations
// are computed.
type SpecificationOptions struct {
	By       []string `json:"by,omitempty" required:"true" help:"text columns that define the groups"`
	Vectors  []string `json:"vectors,omitempty" help:"vector columns, such as background_only and, of other masking, encoder or crop, background_only+zeroprob"`
	K        []int    `json:"k,omitempty" default:"3" help:"nearest neighbors whose distance is the radius"`
	Scores   []string `json:"scores,omitempty" default:"coverage" values:"precision,coverage,density,recall" help:"statistics"`
	Unmasked []string `json:"unmasked,omitempty" default:"profile" values:"profile,miss,full-image,drop,zero-vector" help:"treatments of a generated image without the vector"`
	Balance  []string `json:"balance,omitempty" default:"no" values:"no,yes" help:"whether every group has as many images of each cell as the smallest"`
	Values   []string `json:"values,omitempty" help:"number columns of the generated images whose means are compared too, such as a judge's answers to several forms of a question"`
	Except   []string `json:"except,omitempty" help:"groups that the others are not compared with, such as those of a disparity that is known"`
	Cells    string   `json:"cells,omitempty" default:"object" none:"none" help:"text column that divides a group into strata of the half-sampling, where the tables have it; none = no strata"`

	Intervals `resamples:"200"`
}

// SpecificationRow is a row of [Specifications]: the gap of a group under one choice, or under all.
type SpecificationRow struct {
	Group   string   `column:"{by}"`
	Choice  string   `column:"choice" help:"all = the joint test"`
	Gap     Estimate `column:"gap" unit:"the score's" help:"difference to the mean of the other groups; of all choices the median"`
	Z       float64  `column:"z" unit:"standard errors" help:"gap in standard errors; of all choices the median"`
	P       float64  `column:"p" range:"(0, 1]" help:"of so large a z in any group, if no group differed"`
	Flagged bool     `column:"flagged" help:"p is at most 1 − level"`
	Holds   float64  `column:"holds" unit:"share of choices" range:"[0, 1]" help:"of all choices: flagged, with the sign of the median"`
	Rank    int      `column:"rank" help:"of the choice's gap in the group, from the smallest; all = 0"`
	Choices int      `column:"n_choices"`

	Interval string `column:"interval"`
}

// AllChoices is the column choice of the joint test of [Specifications].
const AllChoices = "all"

var specifications = Define(Definition[SpecificationOptions, SpecificationRow]{
	Name: "specifications", Version: 1, Device: true,
	Title: "gaps between groups under every combination of choices of the analysis, with a joint test",
	Unit:  "the score's", Range: "(-∞, ∞)", Direction: "0 is no gap",
	Citation: "Simonsohn, Simmons and Nelson, Nat. Hum. Behav. 4, 2020 (specification curve); Politis and Romano " +
		"1994 (half-sampling)",
	Inputs:  []Input{{Role: "real", Optional: true, About: "the reference images; not of values"}, twoSets[1]},
	Compute: computeSpecifications,
})

// Specifications is the metric specifications: the specification curve of the gaps of [Gaps]. Each combination of the
// choices in the options is a specification; its gap is that of a group to the mean of the others, with an interval
// that holds for all groups at once. Choices that change vectors, such as masking, encoder and crop, are vector columns
// of the two tables: the name up to a plus sign is that of the component.
//
// The row with the choice "all" tests all choices jointly: of the gaps in standard errors, z, its statistic is the
// median over the choices. p is the share of half-samples in which the median of any group, of gaps minus their means
// over the half-samples, as if no group differed, is as large as this one. Simonsohn, Simmons and Nelson resample under
// the null likewise where groups cannot be permuted: an island's images are its own, and a permutation would mix them.
// All choices have the same half-samples, so that the test knows how far they agree anyway; choices with equal scores
// count once. A choice that leaves a group with too few images is left out, with a note.
//
// Choices are of one claim. Precision does not answer the question of coverage: do not mix them.
func Specifications(sets Sets, options ...SpecificationOptions) datasets.Table {
	return specifications.Table(sets.inputs(), options...)
}

// specification is one combination of choices: the score of each group and its half-samples.
type specification struct {
	name   string
	groups []interval.Scored
}

// equal reports whether another choice has the same scores in all half-samples, as a rule for images without a mask has
// where every image has one.
func (s specification) equal(other specification) bool {
	return slices.EqualFunc(s.groups, other.groups, func(a, b interval.Scored) bool {
		return a.Name == b.Name && a.Value == b.Value && slices.Equal(a.Samples, b.Samples)
	})
}

func computeSpecifications(ctx context.Context, call *Call, o SpecificationOptions) ([]SpecificationRow, error) {
	if o.Resamples == 0 {
		return nil, &table.Error{Code: table.CodeUsage, Message: "specifications are tested; set resamples to 2 " +
			"half-samples or more"}
	}
	if len(o.Vectors)+len(o.Values) == 0 {
		return nil, &table.Error{Code: table.CodeUsage, Message: "specifications need vectors, or columns of values"}
	}
	if len(o.Vectors) > 0 && call.Inputs["real"] == nil {
		return nil, &table.Error{Code: table.CodeUsage, Message: "vectors are compared with those of reference " +
			"images; give the table real"}
	}
	halves := map[string]*halvedGroup{}
	all, evaluations, err := o.compare(ctx, call, halves)
	if err != nil {
		return nil, err
	}
	means, err := o.means(call, halves)
	if err != nil {
		return nil, err
	}
	all = append(all, means...)
	var different []specification
	for _, s := range all {
		if !slices.ContainsFunc(different, s.equal) {
			different = append(different, s)
		}
	}
	out, err := o.curve(different)
	call.Notef("%d choices, of which %d differ: %d evaluations", len(all), len(different),
		(evaluations+len(means))*(o.Resamples+1))
	return out, err
}

// compare returns the specifications of vectors, and how many comparisons of all groups they took.
func (o SpecificationOptions) compare(ctx context.Context, call *Call,
	halves map[string]*halvedGroup) (out []specification, evaluations int, err error) {
	quiet := &Call{Inputs: call.Inputs, Neighbors: call.Neighbors}
	var failed error
	for _, vector := range o.Vectors {
		for _, unmasked := range o.Unmasked {
			for _, balance := range o.Balance {
				for _, k := range o.K {
					call.Report("specifications", evaluations, len(o.Vectors)*len(o.Unmasked)*len(o.Balance)*len(o.K))
					c, err := newComparison(comparison{PrecisionCoverageOptions: PrecisionCoverageOptions{By: o.By,
						Vector: vector, Cells: o.Cells, Balance: balance == "yes", Intervals: o.Intervals,
						Comparison: Comparison{K: k, Boundary: "<", Profile: "paper", Unmasked: unmasked,
							UnmaskedReal: "profile"}}})
					if err != nil {
						return nil, 0, err
					}
					specs, err := o.scores(ctx, quiet, c, halves)
					if ctx.Err() != nil {
						return nil, 0, ctx.Err()
					} else if err != nil {
						failed = cmp.Or(failed, err)
						call.Notef("left out: %s: %v", o.name(vector, unmasked, balance, k, "all scores"), err)
						continue
					}
					for i, score := range o.Scores {
						specs[i].name = o.name(vector, unmasked, balance, k, score)
					}
					out, evaluations = append(out, specs...), evaluations+1
				}
			}
		}
	}
	if len(out) == 0 && failed != nil {
		return nil, 0, failed
	}
	return out, evaluations, nil
}

// scores returns the specification of each score under one choice of everything else.
func (o SpecificationOptions) scores(ctx context.Context, call *Call, c *comparison,
	halves map[string]*halvedGroup) ([]specification, error) {
	groups, err := gather(call, c)
	if err != nil {
		return nil, err
	}
	out := make([]specification, len(o.Scores))
	for _, g := range groups {
		r, err := o.result(ctx, call, c, g, halves)
		if err != nil {
			return nil, err
		}
		for i, score := range o.Scores {
			of := prdcScores[score].of
			out[i].groups = append(out[i].groups, interval.Scored{Name: strings.Join(g.values, ", "),
				Value: of(r.Scores), Samples: r.Of(of)})
		}
	}
	return out, nil
}

// name names a specification by its vector and the choices that differ.
func (o SpecificationOptions) name(vector, unmasked, balance string, k int, score string) string {
	parts := []string{vector}
	add := func(n int, part string) {
		if n > 1 {
			parts = append(parts, part)
		}
	}
	add(len(o.Scores)+len(o.Values), score)
	add(len(o.K), fmt.Sprint("k ", k))
	add(len(o.Unmasked), "unmasked "+unmasked)
	add(len(o.Balance), map[string]string{"yes": "balanced", "no": "not balanced"}[balance])
	return strings.Join(parts, ", ")
}

// halvedGroup is the half-samples of all rows of a group on one side, from which those of each choice are picked.
type halvedGroup struct {
	samples *interval.Samples
	at      map[int]int
}

// picked returns the half-samples of some rows of a group.
func (o SpecificationOptions) picked(call *Call, role, group string, rows []int,
	halves map[string]*halvedGroup) (*interval.Samples, error) {
	key := role + "\x00" + group
	h := halves[key]
	if h == nil {
		in := tabular.Read(call, role)
		ids, cells := in.Frame.Texts("id"), in.Frame.Texts(o.Cells)
		for _, g := range in.SortedGroups(o.By) {
			if strings.Join(g.By, ", ") != group {
				continue
			}
			h = &halvedGroup{at: map[int]int{}}
			s := interval.HalfSampleOptions{Seed: uint64(o.Seed), Resamples: o.Resamples, Side: role}
			for i, row := range g.Rows {
				h.at[row] = i
				cell := group
				if cells != nil {
					cell += "\x00" + cells[row]
				}
				if s.Cells = append(s.Cells, cell); ids != nil {
					s.IDs = append(s.IDs, ids[row])
				}
			}
			var err error
			if h.samples, err = interval.HalfSample(s); err != nil {
				return nil, err
			}
			halves[key] = h
		}
		if in.Err != nil {
			return nil, in.Err
		}
	}
	at := make([]int, len(rows))
	for i, row := range rows {
		at[i] = h.at[row]
	}
	return h.samples.Pick(at), nil
}

// result compares a group with its half-samples.
func (o SpecificationOptions) result(ctx context.Context, call *Call, c *comparison, g *group,
	halves map[string]*halvedGroup) (r *prdc.Result, err error) {
	opts := prdc.Options{K: c.K, Recall: slices.Contains(o.Scores, "recall")}
	name := strings.Join(g.values, ", ")
	if len(g.generated.rows) == 0 {
		return nil, fmt.Errorf("group %s has no generated image", g.name(c.By))
	}
	if opts.RealSamples, err = o.picked(call, "real", name, g.real.rows, halves); err != nil {
		return nil, err
	}
	if opts.GeneratedSamples, err = o.picked(call, "generated", name, g.generated.rows, halves); err != nil {
		return nil, err
	}
	r, err = prdc.Compute(ctx, prdc.Sets{Real: g.real.vectors, Generated: g.generated.vectors}, opts, call.Neighbors)
	if err != nil {
		return nil, fmt.Errorf("group %s, vector %q, k %d: %w", g.name(c.By), c.Vector, c.K, err)
	}
	return r, nil
}

// means returns the specifications of values: a group's mean.
func (o SpecificationOptions) means(call *Call, halves map[string]*halvedGroup) (out []specification, err error) {
	in := tabular.Read(call, "generated")
	groups := in.SortedGroups(o.By)
	for _, name := range o.Values {
		values, spec := in.Numbers(name), specification{name: name}
		if in.Err != nil {
			return nil, in.Err
		}
		for _, g := range groups {
			var rows []int
			for _, row := range g.Rows {
				if !math.IsNaN(values[row]) {
					rows = append(rows, row)
				}
			}
			group := strings.Join(g.By, ", ")
			s, err := o.picked(call, "generated", group, rows, halves)
			if err != nil {
				return nil, err
			}
			scored := interval.Scored{Name: group, Samples: make([]float64, o.Resamples)}
			sizes := s.Sizes()
			for i, row := range rows {
				scored.Value += values[row] / float64(len(rows))
				for b := range sizes {
					if s.Contains(b, i) {
						scored.Samples[b] += values[row] / float64(sizes[b])
					}
				}
			}
			if len(rows) < 2 || slices.Min(sizes) == 0 {
				return nil, fmt.Errorf("group %s has too few values of %q", group, name)
			}
			spec.groups = append(spec.groups, scored)
		}
		out = append(out, spec)
	}
	return out, nil
}

// curve returns the gaps of all specifications and the joint test.
func (o SpecificationOptions) curve(all []specification) (out []SpecificationRow, err error) {
	var names []string
	for _, g := range all[0].groups {
		names = append(names, g.Name)
	}
	if len(names) < 2 {
		return nil, &table.Error{Code: table.CodeUsage, Message: "specifications compare groups; there is one (--by)"}
	}
	references := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(o.Except, n) })
	rows, gaps := make([][]SpecificationRow, len(names)), make([][]float64, len(names))
	zs := make([][][]float64, len(names)) // of each group, half-sample and specification
	for _, spec := range all {
		if len(spec.groups) != len(names) {
			return nil, fmt.Errorf("%s: %d groups, other choices have %d", spec.name, len(spec.groups), len(names))
		}
		found, err := interval.GapsToMean(spec.groups, references, o.Level)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec.name, err)
		}
		if len(found) != len(names) {
			return nil, fmt.Errorf("two groups or more must be left to compare with")
		}
		null := make([][]float64, len(names)) // of each group and half-sample
		for i, gap := range found {
			halves := gap.Samples
			mean, sd := average(halves), 0.0
			for _, x := range halves {
				sd += (x - mean) * (x - mean) / float64(len(halves)-1)
			}
			sd = math.Sqrt(sd)
			z := func(x float64) float64 {
				if sd == 0 {
					return 0
				}
				return x / sd
			}
			null[i] = make([]float64, o.Resamples)
			zs[i] = slices.Grow(zs[i], o.Resamples)[:o.Resamples]
			for b, x := range halves {
				null[i][b] = z(x - mean)
				zs[i][b] = append(zs[i][b], null[i][b])
			}
			row := SpecificationRow{Group: names[i], Choice: spec.name, Gap: estimated(gap.Simultaneous),
				Z: z(gap.Simultaneous.Value), Holds: math.NaN(), Choices: 1, Interval: fmt.Sprintf("%.4g %% "+
					"half-sampling interval, simultaneous over the groups", 100*o.Level)}
			rows[i], gaps[i] = append(rows[i], row), append(gaps[i], row.Gap.Value)
		}
		for i := range rows {
			r := &rows[i][len(rows[i])-1]
			r.P = shareAsLarge(null, r.Z)
			r.Flagged = r.P <= 1-o.Level
		}
	}
	null, medians := make([][]float64, len(names)), make([]float64, len(names))
	for i := range names {
		var z []float64
		for _, r := range rows[i] {
			z = append(z, r.Z)
		}
		medians[i] = median(z)
		for _, of := range zs[i] {
			null[i] = append(null[i], median(of))
		}
	}
	for i, name := range names {
		joint := SpecificationRow{Group: name, Choice: AllChoices, Gap: Exact(median(gaps[i])), Z: medians[i],
			P: shareAsLarge(null, medians[i]), Choices: len(all)}
		joint.Flagged = joint.P <= 1-o.Level
		order := make([]int, len(all))
		for k, r := range rows[i] {
			if order[k] = k; r.Flagged && r.Z*joint.Z > 0 {
				joint.Holds += 1 / float64(len(all))
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(rows[i][a].Gap.Value, rows[i][b].Gap.Value)
		})
		for rank, k := range order {
			rows[i][k].Rank = rank + 1
		}
		out = append(append(out, joint), rows[i]...)
	}
	return out, nil
}

// shareAsLarge returns the p of z by the largest value over the groups in each half-sample.
func shareAsLarge(null [][]float64, z float64) float64 {
	hits := 1.0
	for b := range null[0] {
		largest := 0.0
		for _, group := range null {
			largest = max(largest, math.Abs(group[b]))
		}
		if largest >= math.Abs(z) {
			hits++
		}
	}
	return hits / float64(len(null[0])+1)
}

func median(x []float64) float64 { return interval.Quantile(slices.Sorted(slices.Values(x)), 0.5) }
