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
	"antipode/metrics/crossed"
	"antipode/metrics/internal/tabular"
)

// CrossedOptions are the options of [VarianceComponents] and [CrossedGaps].
type CrossedOptions struct {
	Value    string   `json:"value,omitempty" default:"value" help:"column of the values: numbers, or texts of which --positive counts 1; rows without one are left out"`
	Positive string   `json:"positive,omitempty" help:"of a column of texts, or of numbers if it is one: the one that counts 1; every other one counts 0"`
	By       []string `json:"by" required:"true" help:"text columns that define the groups that are compared"`
	Over     []string `json:"over" required:"true" help:"columns of which other values could have been chosen: template, seed, rater, language, the id of images that several raters saw"`
	Level    float64  `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
}

// varianceComponentsRow is a row of [VarianceComponents].
type varianceComponentsRow struct {
	crossed.Component
	Used     int    `column:"n_used" unit:"rows"`
	Interval string `column:"interval"`
}

var (
	crossedInputs      = []Input{{Role: "in", About: "a row for each value: an image, or an answer of a rater"}}
	varianceComponents = Define(Definition[CrossedOptions, varianceComponentsRow]{
		Name: "variance-components", Version: 2,
		Title: "how much of the variance is due to group, template, seed, rater, and to pairs of them",
		Unit:  "the values', squared", Range: "[0, ∞)", Direction: "none",
		Citation: "Koch, Technometrics 10, 1968; Searle, Casella and McCulloch, Variance Components, 1992",
		Inputs:   crossedInputs, Compute: computeVarianceComponents,
	})
)

// VarianceComponents is the metric variance-components: the variance of a column's values, divided among the groups of
// Options.By, the columns of Options.Over, the pairs of these and the residual ([crossed.Design.Components]). A large
// component "group × template" says that the groups differ in other ways under other templates; [CrossedGaps] says
// whether their differences hold all the same. A negative estimate is reported as 0, with a note.
func VarianceComponents(t datasets.Table, options ...CrossedOptions) datasets.Table {
	return varianceComponents.Of(t, options...)
}

func computeVarianceComponents(_ context.Context, call *Call, o CrossedOptions) (out []varianceComponentsRow,
	err error) {
	d, _, err := o.read(call)
	if err != nil {
		return nil, err
	}
	components, err := d.Components(o.Level)
	if err != nil {
		return nil, err
	}
	var negative []string
	for _, c := range components {
		if c.Variance.Value < 0 {
			negative, c.Variance.Value = append(negative, c.Name), 0
		}
		out = append(out, varianceComponentsRow{c, d.Len(), fmt.Sprintf("%.4g %% chi-square interval", 100*o.Level)})
	}
	if len(negative) > 0 {
		call.Notef("%d negative estimates are reported as 0: %s", len(negative), strings.Join(negative, ", "))
	}
	return out, nil
}

// read returns the rows that have a value, with the groups as the first factor, and the values of each group's columns.
func (o CrossedOptions) read(call *Call) (d *crossed.Design, groups []table.Group, err error) {
	in := tabular.Read(call, "in")
	values, err := readAnswers(call, in, o.Value, o.Positive)
	if err = cmp.Or(in.Err, err); err != nil {
		return nil, nil, err
	}
	var rows []int // with a value
	var used []float64
	for i, v := range values {
		if math.IsInf(v, 0) {
			return nil, nil, tabular.BadRow(in.Frame, i, o.Value, "%g is not a finite number", v)
		} else if !math.IsNaN(v) {
			rows, used = append(rows, i), append(used, v)
		}
	}
	var missing GroupNotes
	for _, g := range in.Groups(o.By) {
		left := slices.DeleteFunc(g.Rows, func(i int) bool { return !math.IsNaN(values[i]) })
		if len(left) > 0 {
			missing.Add("%d rows have no value and are left out (bounds says what they could change)",
				strings.Join(g.By, "/"), len(left))
		}
	}
	missing.AddTo(call, o.By...)
	in.Frame = in.Frame.Pick(rows)
	factors := []crossed.Factor{{Name: strings.Join(o.By, " and "), Levels: make([]string, len(rows))}}
	groups = in.Groups(o.By)
	for _, g := range groups {
		for _, i := range g.Rows {
			factors[0].Levels[i] = strings.Join(g.By, "\x00")
		}
	}
	for _, name := range o.Over {
		factors = append(factors, crossed.Factor{Name: name, Levels: in.Texts(name)})
	}
	if in.Err != nil {
		return nil, nil, in.Err
	}
	if len(used) < 2 {
		return nil, nil, fmt.Errorf("%d rows have a value in column %q; two are needed", len(used), o.Value)
	}
	varied := slices.DeleteFunc(factors, func(f crossed.Factor) bool {
		one := len(slices.Compact(slices.Sorted(slices.Values(f.Levels)))) == 1
		if one {
			call.Notef("%s has one value: nothing is said about other ones", f.Name)
		}
		return one
	})
	d, err = crossed.NewDesign(used, varied...)
	return d, groups, err
}

// crossedGapsRow is a row of [CrossedGaps].
type crossedGapsRow struct {
	Group Group
	crossed.Over
	Used     int    `column:"n_used" unit:"rows"`
	Interval string `column:"interval"`
}

var crossedGaps = Define(Definition[CrossedOptions, crossedGapsRow]{
	Name: "crossed-gaps", Version: 2, // 1 had intervals of no width for groups of one row or rater
	Title: "gaps between groups that hold beyond one template, seed or rater",
	Unit:  "the values'", Range: "(−∞, ∞)", Direction: "none",
	Citation: "Clark, J. Verbal Learning and Verbal Behavior 12, 1973; Cameron, Gelbach and Miller, J. Business & " +
		"Economic Statistics 29, 2011",
	Inputs: crossedInputs, Compute: computeCrossedGaps,
})

// CrossedGaps is the metric crossed-gaps: the difference of each group of Options.By to the mean of the others, with an
// interval for each answer to the question of what else could have been drawn: other images of the same prompts, seeds
// and raters ("rows"), other values of one column of Options.Over, or of all ([crossed.Design.Gaps]). A gap that is
// flagged over rows and not over templates is one of these templates: the fixed-effect fallacy (Clark 1973).
func CrossedGaps(t datasets.Table, options ...CrossedOptions) datasets.Table {
	return crossedGaps.Of(t, options...)
}

func computeCrossedGaps(_ context.Context, call *Call, o CrossedOptions) (out []crossedGapsRow, err error) {
	d, groups, err := o.read(call)
	if err != nil {
		return nil, err
	}
	if len(groups) < 2 {
		return nil, nil // read has noted it
	}
	var single GroupNotes
	for _, g := range groups {
		if len(g.Rows) == 1 {
			single.Add("one row only: no gap has an interval; leave the group out", strings.Join(g.By, "/"))
		}
	}
	single.AddTo(call, o.By...)
	for g, ways := range d.Gaps(o.Level) {
		for _, w := range ways {
			out = append(out, crossedGapsRow{groups[g].By, w, d.Len(),
				fmt.Sprintf("%.4g %% for all groups at once, clustered", 100*o.Level)})
		}
	}
	return out, nil
}
