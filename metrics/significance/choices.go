package significance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// ChoiceOptions are the options of [ByConclusion] and [ByChoice].
type ChoiceOptions struct {
	By       []string `json:"by,omitempty" required:"true" help:"text columns that identify a conclusion"`
	Choice   string   `json:"choice,omitempty" default:"choice" help:"text column that names the choice; that of the first row is the one to compare with"`
	Verdict  string   `json:"verdict,omitempty" default:"verdict" help:"text column of the conclusion's verdict"`
	Estimate string   `json:"estimate,omitempty" default:"difference" help:"number column of the estimate"`
}

var choiceInput = []metrics.Input{{Role: "in", About: "a row for each conclusion under each choice"}}

// conclusionRow is a row of [ByConclusion].
type conclusionRow struct {
	Conclusion metrics.Group
	Verdict    string  `column:"verdict" help:"under the first choice"`
	Differs    string  `column:"differs" help:"choices with another verdict, and it"`
	Same       float64 `column:"same" unit:"share of choices" range:"[0, 1]" help:"with the verdict of the first, itself included"`
	Choices    int     `column:"n_choices"`
	Estimate   float64 `column:"estimate" help:"under the first choice"`
	Lowest     float64 `column:"lowest" help:"estimate over the choices"`
	Highest    float64 `column:"highest"`
}

// choiceRow is a row of [ByChoice].
type choiceRow struct {
	Choice      string  `column:"choice"`
	Differs     string  `column:"differs" help:"conclusions with another verdict than under the first choice"`
	Same        float64 `column:"same" unit:"share of conclusions" range:"[0, 1]" help:"with the verdict of the first choice"`
	Conclusions int     `column:"n_conclusions"`
	Correlation float64 `column:"rank_correlation" range:"[-1, 1]" help:"of the estimates with those of the first choice; not for two conclusions or fewer"`
	Largest     float64 `column:"largest_change" help:"of an estimate, absolute"`
}

var (
	byConclusion = metrics.Define(metrics.Definition[ChoiceOptions, conclusionRow]{
		Name: "conclusions", Version: 1, Inputs: choiceInput, Compute: conclusions,
		Title: "in how many choices of the analysis each conclusion is the same",
		Unit:  "share of choices", Range: "[0, 1]", Direction: "higher is more robust",
		Citation: "Steegen, Tuerlinckx, Gelman and Vanpaemel 2016 (multiverse analysis)"})
	byChoice = metrics.Define(metrics.Definition[ChoiceOptions, choiceRow]{
		Name: "choices", Version: 1, Inputs: choiceInput, Compute: choices,
		Title: "how many conclusions each choice of the analysis changes",
		Unit:  "share of conclusions", Range: "[0, 1]", Direction: "higher is closer to the first choice",
		Citation: "Steegen, Tuerlinckx, Gelman and Vanpaemel 2016 (multiverse analysis)"})
)

// ByConclusion returns, for each conclusion of an audit that was made under several choices of the analysis (an
// encoder, a rule), in how many of them its verdict is that of the first choice, and the range of its estimates. A
// choice without a row of the conclusion does not count; a conclusion without a row of the first choice is an error,
// as is one with two rows of a choice.
func ByConclusion(t datasets.Table, options ...ChoiceOptions) datasets.Table {
	return byConclusion.Of(t, options...)
}

// ByChoice returns, for each choice of the analysis, how many conclusions have the verdict of the first choice, and
// the rank correlation of the estimates of both; see [ByConclusion].
func ByChoice(t datasets.Table, options ...ChoiceOptions) datasets.Table {
	return byChoice.Of(t, options...)
}

// chosen is the rows of a table of conclusions under several choices.
type chosen struct {
	choices     []string
	conclusions [][]string
	verdicts    []string
	estimates   []float64
	at          map[[2]int]int // row by choice and conclusion
}

func readChoices(call *metrics.Call, o ChoiceOptions) (*chosen, error) {
	in := tabular.Read(call, "in")
	c := &chosen{verdicts: in.Texts(o.Verdict), estimates: in.Numbers(o.Estimate), at: map[[2]int]int{}}
	names := in.Texts(o.Choice)
	for _, name := range names {
		if !slices.Contains(c.choices, name) {
			c.choices = append(c.choices, name)
		}
	}
	groups := in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	for _, g := range groups {
		if len(g.Rows) == 0 {
			continue
		}
		for _, row := range g.Rows {
			key := [2]int{slices.Index(c.choices, names[row]), len(c.conclusions)}
			if _, twice := c.at[key]; twice {
				return nil, tabular.BadRow(in.Frame, row, o.Choice, "two rows of %s under %s; name the columns that "+
					"identify a conclusion (by)", strings.Join(g.By, ", "), names[row])
			}
			c.at[key] = row
		}
		if _, ok := c.at[[2]int{0, len(c.conclusions)}]; !ok {
			return nil, fmt.Errorf("no row of %s under the first choice, %s", strings.Join(g.By, ", "), c.choices[0])
		}
		c.conclusions = append(c.conclusions, g.By)
	}
	return c, nil
}

func conclusions(_ context.Context, call *metrics.Call, o ChoiceOptions) (out []conclusionRow, err error) {
	c, err := readChoices(call, o)
	if err != nil {
		return nil, err
	}
	for k, by := range c.conclusions {
		first := c.at[[2]int{0, k}]
		row := conclusionRow{Conclusion: by, Verdict: c.verdicts[first], Estimate: c.estimates[first],
			Lowest: math.NaN(), Highest: math.NaN()}
		var differs []string
		var seen []float64
		for i, choice := range c.choices {
			at, ok := c.at[[2]int{i, k}]
			if !ok {
				continue
			}
			row.Choices++
			if v := c.verdicts[at]; v != row.Verdict {
				differs = append(differs, fmt.Sprintf("%s (%s)", choice, v))
			}
			if x := c.estimates[at]; !math.IsNaN(x) {
				seen = append(seen, x)
			}
		}
		if len(seen) > 0 {
			row.Lowest, row.Highest = slices.Min(seen), slices.Max(seen)
		}
		row.Differs, row.Same = strings.Join(differs, "; "), float64(row.Choices-len(differs))/float64(row.Choices)
		out = append(out, row)
	}
	return out, nil
}

func choices(_ context.Context, call *metrics.Call, o ChoiceOptions) (out []choiceRow, err error) {
	c, err := readChoices(call, o)
	if err != nil {
		return nil, err
	}
	for i, choice := range c.choices {
		row := choiceRow{Choice: choice, Correlation: math.NaN()}
		var differs []string
		var x, y []float64
		for k, by := range c.conclusions {
			at, ok := c.at[[2]int{i, k}]
			if !ok {
				continue
			}
			first := c.at[[2]int{0, k}]
			row.Conclusions++
			if c.verdicts[at] != c.verdicts[first] {
				differs = append(differs, fmt.Sprintf("%s (%s)", strings.Join(by, ", "), c.verdicts[at]))
			}
			if a, b := c.estimates[first], c.estimates[at]; !math.IsNaN(a) && !math.IsNaN(b) {
				x, y = append(x, a), append(y, b)
				row.Largest = max(row.Largest, math.Abs(a-b))
			}
		}
		if len(x) == 0 {
			row.Largest = math.NaN()
		}
		if len(x) > 2 {
			if row.Correlation, err = Spearman(x, y); err != nil {
				return nil, fmt.Errorf("choice %s: %w", choice, err)
			}
		}
		row.Differs = strings.Join(differs, "; ")
		row.Same = float64(row.Conclusions-len(differs)) / float64(row.Conclusions)
		out = append(out, row)
	}
	return out, nil
}
