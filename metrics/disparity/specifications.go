package disparity

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
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

	metrics.Intervals `resamples:"200"`
}

// specificationRow is a row of [Specifications]: the gap of a group under one choice, or under all.
type specificationRow struct {
	Group   string           `column:"{by}"`
	Choice  string           `column:"choice" help:"all = the joint test"`
	Gap     metrics.Estimate `column:"gap" unit:"the score's" help:"difference to the mean of the other groups; of all choices the median"`
	Z       float64          `column:"z" unit:"standard errors" help:"gap in standard errors; of all choices the median"`
	P       float64          `column:"p" range:"(0, 1]" help:"of so large a z in any group, if no group differed"`
	Flagged bool             `column:"flagged" help:"p is at most 1 − level"`
	Holds   float64          `column:"holds" unit:"share of choices" range:"[0, 1]" help:"of all choices: flagged, with the sign of the median"`
	Rank    int              `column:"rank" help:"of the choice's gap in the group, from the smallest; all = 0"`
	Choices int              `column:"n_choices"`

	Interval string `column:"interval"`
}

// AllChoices is the column choice of the joint test of [Specifications].
const AllChoices = "all"

var specifications = metrics.Define(metrics.Definition[SpecificationOptions, specificationRow]{
	Name: "specifications", Version: 2, Device: true,
	Title: "gaps between groups under every combination of choices of the analysis, with a joint test",
	Unit:  "the score's", Range: "(-∞, ∞)", Direction: "0 is no gap",
	Citation: "Simonsohn, Simmons and Nelson, Nat. Hum. Behav. 4, 2020 (specification curve); Politis and Romano " +
		"1994 (half-sampling)",
	Inputs:  []metrics.Input{{Role: "real", Optional: true, About: "the reference images; not of values"}, twoSets[1]},
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
func Specifications(sets metrics.Sets, options ...SpecificationOptions) datasets.Table {
	return specifications.Table(sets.Inputs(), options...)
}

// specification is one combination of choices: the score of each group and its half-samples.
type specification struct {
	name   string
	groups []interval.Scored
}

// specifier computes specifications.
type specifier struct {
	SpecificationOptions
	call   *metrics.Call
	halved map[string]*interval.Samples // half-samples of all rows of the tables, by role
}

func computeSpecifications(ctx context.Context, call *metrics.Call, o SpecificationOptions) ([]specificationRow,
	error) {
	message := ""
	switch {
	case o.Resamples == 0:
		message = "specifications are tested; set resamples to 2 half-samples or more"
	case len(o.Vectors)+len(o.Values) == 0:
		message = "specifications need vectors, or columns of values"
	case len(o.Vectors) > 0 && call.Inputs["real"] == nil:
		message = "vectors are compared with those of reference images; give the table real"
	}
	if message != "" {
		return nil, &table.Error{Code: table.CodeUsage, Message: message}
	}
	s := &specifier{o, call, map[string]*interval.Samples{}}
	for _, role := range roles {
		if err := s.halve(role); err != nil {
			return nil, err
		}
	}
	compared, err := s.compare(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	means, errMeans := s.means()
	if len(compared)+len(means) == 0 {
		return nil, cmp.Or(err, errMeans)
	}
	var different []specification // a rule for images without a mask changes nothing where every image has one
	for _, one := range slices.Concat(compared, means) {
		same := func(other specification) bool { return reflect.DeepEqual(one.groups, other.groups) }
		if !slices.ContainsFunc(different, same) {
			different = append(different, one)
		}
	}
	out, err := o.curve(different)
	call.Notef("%d choices, of which %d differ: %d evaluations", len(compared)+len(means), len(different),
		(len(compared)/len(o.Scores)+len(means))*(o.Resamples+1))
	return out, err
}

// leave notes that a choice is left out, and returns err or, if it is nil, why.
func (s *specifier) leave(name string, why, err error) error {
	s.call.Notef("left out: %s: %v", name, why)
	return cmp.Or(err, why)
}

// compare returns the specifications of vectors, and the first error of one that is left out.
func (s *specifier) compare(ctx context.Context) (out []specification, failed error) {
	var choices []PrecisionCoverageOptions
	for _, vector := range s.Vectors {
		for _, unmasked := range s.Unmasked {
			for _, balance := range s.Balance {
				for _, k := range s.K {
					choices = append(choices, PrecisionCoverageOptions{By: s.By, Vector: vector, Cells: s.Cells,
						Balance: balance == "yes", Intervals: s.Intervals, Comparison: Comparison{K: k, Boundary: "<",
							Profile: "paper", Unmasked: unmasked, UnmaskedReal: "profile"}})
				}
			}
		}
	}
	for i, choice := range choices {
		s.call.Report("specifications", i, len(choices))
		specs, err := s.scores(ctx, choice)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if out = append(out, specs...); err != nil {
			failed = s.leave(s.name(choice, "all scores"), err, failed)
		}
	}
	return out, failed
}

// scores returns the specification of each score under one choice of everything else; a score without half-samples of a
// group is left out.
func (s *specifier) scores(ctx context.Context, choice PrecisionCoverageOptions) (out []specification, err error) {
	quiet := &metrics.Call{Inputs: s.call.Inputs, Neighbors: s.call.Neighbors}
	c, groups, err := compare(ctx, quiet, comparison{PrecisionCoverageOptions: choice, halved: s.halved}, "",
		prdc.Options{Recall: slices.Contains(s.Scores, "recall")})
	if err != nil {
		return nil, err
	}
	for _, score := range s.Scores {
		spec, of := specification{name: s.name(choice, score)}, prdcScores[score].of
		var few error
		for _, g := range groups {
			halves := g.result.Samples.Of(of)
			if len(halves) == 0 || slices.ContainsFunc(halves, math.IsNaN) {
				few = cmp.Or(few, fmt.Errorf("group %s has too few images for %s", g.name(c.By), score))
			}
			spec.groups = append(spec.groups, interval.Scored{Name: strings.Join(g.values, ", "),
				Value: of(g.result.Scores), Samples: halves})
		}
		if few == nil {
			out = append(out, spec)
		} else if len(s.Scores) == 1 {
			return nil, few
		} else {
			s.leave(spec.name, few, nil)
		}
	}
	return out, nil
}

// name names a specification by its vector and the choices that differ.
func (o SpecificationOptions) name(choice PrecisionCoverageOptions, score string) string {
	parts := []string{choice.Vector}
	add := func(n int, part string) {
		if n > 1 {
			parts = append(parts, part)
		}
	}
	add(len(o.Scores)+len(o.Values), score)
	add(len(o.K), fmt.Sprint("k ", choice.K))
	add(len(o.Unmasked), "unmasked "+choice.Unmasked)
	add(len(o.Balance), map[bool]string{true: "balanced", false: "not balanced"}[choice.Balance])
	return strings.Join(parts, ", ")
}

// halve draws the half-samples of the rows of a table, from which those of each choice are picked.
func (s *specifier) halve(role string) (err error) {
	in := tabular.Read(s.call, role)
	if in.Frame == nil { // of values alone
		return nil
	}
	o := interval.HalfSampleOptions{Seed: uint64(s.Seed), Resamples: s.Resamples, Side: role,
		Cells: make([]string, in.Frame.Len()), IDs: in.Frame.Texts("id")}
	cells := in.Frame.Texts(s.Cells)
	for _, g := range in.SortedGroups(s.By) {
		for _, row := range g.Rows {
			if o.Cells[row] = strings.Join(g.By, ", "); cells != nil {
				o.Cells[row] += "\x00" + cells[row]
			}
		}
	}
	if in.Err == nil {
		s.halved[role], in.Err = interval.HalfSample(o)
	}
	return in.Err
}

// means returns the specifications of values, a group's mean, and the first error of one that is left out.
func (s *specifier) means() (out []specification, failed error) {
	in := tabular.Read(s.call, "generated")
	groups := in.SortedGroups(s.By)
	for _, name := range s.Values {
		values, spec := in.Numbers(name), specification{name: name}
		if in.Err != nil {
			return nil, in.Err
		}
		var few error
		for _, g := range groups {
			rows := slices.DeleteFunc(slices.Clone(g.Rows), func(row int) bool { return math.IsNaN(values[row]) })
			group := strings.Join(g.By, ", ")
			halves := s.halved["generated"].Pick(rows)
			sizes := halves.Sizes()
			if len(rows) < 2 || slices.Min(sizes) == 0 {
				few = cmp.Or(few, fmt.Errorf("group %s has too few values of %q", group, name))
				continue
			}
			scored := interval.Scored{Name: group, Samples: make([]float64, s.Resamples)}
			for i, row := range rows {
				scored.Value += values[row] / float64(len(rows))
				for b := range sizes {
					if halves.Contains(b, i) {
						scored.Samples[b] += values[row] / float64(sizes[b])
					}
				}
			}
			spec.groups = append(spec.groups, scored)
		}
		if few == nil {
			out = append(out, spec)
		} else {
			failed = s.leave(name, few, failed)
		}
	}
	return out, failed
}

// tested is the row of a group under one choice or, of all choices, of medians.
type tested struct {
	specificationRow
	null []float64 // z in each half-sample, if no group differed
}

// test returns the gap of each group under one choice.
func (o SpecificationOptions) test(spec specification, names []string) ([]tested, error) {
	if len(spec.groups) != len(names) {
		return nil, fmt.Errorf("%s: %d groups, other choices have %d", spec.name, len(spec.groups), len(names))
	}
	references := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(o.Except, n) })
	found, err := interval.GapsToMean(spec.groups, references, o.Level)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.name, err)
	}
	if len(found) != len(names) {
		return nil, fmt.Errorf("two groups or more must be left to compare with")
	}
	out := make([]tested, len(names))
	for i, gap := range found {
		mean, variance := tabular.Average(gap.Samples), 0.0
		for _, x := range gap.Samples {
			variance += (x - mean) * (x - mean) / float64(len(gap.Samples)-1)
		}
		inErrors := func(x float64) float64 {
			switch none := 1e-12; { // but rounding
			case math.Abs(x) <= none:
				return 0
			case variance <= none*none:
				return math.Copysign(math.Inf(1), x)
			}
			return x / math.Sqrt(variance)
		}
		out[i].specificationRow = specificationRow{Group: names[i], Choice: spec.name,
			Gap: metrics.Estimated(gap.Simultaneous), Z: inErrors(gap.Simultaneous.Value), Holds: math.NaN(),
			Choices: 1, Interval: fmt.Sprintf("%.4g %% half-sampling interval, simultaneous over the groups",
				100*o.Level)}
		for _, x := range gap.Samples {
			out[i].null = append(out[i].null, inErrors(x-mean))
		}
	}
	o.decide(out)
	return out, nil
}

// decide tests the gaps of all groups under one choice, or their medians, by the largest z over the groups in each
// half-sample.
func (o SpecificationOptions) decide(groups []tested) {
	for i := range groups {
		row, hits, halves := &groups[i], 1.0, len(groups[i].null)
		for b := range halves {
			if slices.ContainsFunc(groups, func(g tested) bool { return math.Abs(g.null[b]) >= math.Abs(row.Z) }) {
				hits++
			}
		}
		if row.P = hits / float64(halves+1); math.IsNaN(row.Z) { // infinite both ways
			row.P = 1
		}
		row.Flagged = row.P <= 1-o.Level
	}
}

// joint returns the medians of the gaps of a group under all choices.
func joint(choices [][]tested, group int) tested {
	of := func(value func(c tested) float64) float64 {
		var values []float64
		for _, c := range choices {
			values = append(values, value(c[group]))
		}
		return median(values)
	}
	out := tested{specificationRow: specificationRow{Group: choices[0][group].Group, Choice: AllChoices,
		Gap: metrics.Exact(of(func(c tested) float64 { return c.Gap.Value })),
		Z:   of(func(c tested) float64 { return c.Z }), Choices: len(choices)}}
	for b := range choices[0][group].null {
		out.null = append(out.null, of(func(c tested) float64 { return c.null[b] }))
	}
	return out
}

// curve returns the gaps of all specifications and the joint test.
func (o SpecificationOptions) curve(all []specification) (out []specificationRow, err error) {
	var names []string
	for _, g := range all[0].groups {
		names = append(names, g.Name)
	}
	if err := known("except", o.Except, names); err != nil {
		return nil, err
	}
	if len(names) < 2 {
		return nil, &table.Error{Code: table.CodeUsage, Message: "specifications compare groups; there is one (--by)"}
	}
	choices := make([][]tested, len(all)) // the groups of each
	for k, spec := range all {
		if choices[k], err = o.test(spec, names); err != nil {
			return nil, err
		}
	}
	medians := make([]tested, len(names))
	for i := range medians {
		medians[i] = joint(choices, i)
	}
	o.decide(medians)
	for i, whole := range medians {
		var group []*specificationRow
		for _, of := range choices {
			row := &of[i].specificationRow
			if group = append(group, row); row.Flagged && row.Z*whole.Z > 0 {
				whole.Holds += 1 / float64(len(all))
			}
		}
		order := slices.Clone(group)
		slices.SortStableFunc(order, func(a, b *specificationRow) int { return cmp.Compare(a.Gap.Value, b.Gap.Value) })
		for rank, row := range order {
			row.Rank = rank + 1
		}
		out = append(out, whole.specificationRow)
		for _, row := range group {
			out = append(out, *row)
		}
	}
	return out, nil
}

// median returns the median of one value or more, which may be infinite.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	low, high := sorted[(len(x)-1)/2], sorted[len(x)/2]
	if low == high {
		return low
	}
	return low + (high-low)/2
}
