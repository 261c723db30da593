package representation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/metrics"
)

// InterventionOptions are the options of [Interventions].
type InterventionOptions struct {
	Labeling
	MinUsed int `json:"min_used" default:"10" none:"-1" min:"0" help:"a score of fewer usable images has a warning"`
	metrics.Intervals
}

// Interventions is the metric entigen-interventions (Bansal et al., EMNLP 2022, Tables 1, 2, 6): each added sentence
// against the original prompt, a row for each category, prompt, axis and model.
//
//	change = DS(sentence) − DS(original)    in [-1, 1]; below 0: more diverse
//
// relation is "own axis" of the sentence, "other axis", or "control" for an irrelevant sentence; n_reduced,
// n_flipped, n_increased, n_unchanged and n_not_available count attributes by the [Change] of their bias. The
// interval resamples the images of both prompts.
func Interventions(ratings datasets.Table, options ...InterventionOptions) datasets.Table {
	return interventions.Of(ratings, options...)
}

type interventionRow struct {
	cellRow
	Relation     string           `column:"relation"`
	Before       float64          `column:"diversity_original" unit:"share" range:"[0, 1]"`
	Now          float64          `column:"diversity" unit:"share" range:"[0, 1]"`
	Change       metrics.Estimate `column:"change" unit:"difference of shares" range:"[-1, 1]"`
	Improves     string           `column:"improves"`
	Reduced      int              `column:"n_reduced" unit:"attributes"`
	NFlipped     int              `column:"n_flipped" unit:"attributes"`
	Increased    int              `column:"n_increased" unit:"attributes"`
	Unchanged    int              `column:"n_unchanged" unit:"attributes"`
	NotAvailable int              `column:"n_not_available" unit:"attributes"`
	Flipped      string           `column:"flipped" help:"attributes whose bias changed its sign"`
	UsedOriginal int              `column:"n_used_original" unit:"images"`
	Used         int              `column:"n_used" unit:"images"`
	Asked        int              `column:"n_asked" unit:"images"`
	Warning      string           `column:"warning"`
	Rule         string           `column:"rule"`
	Interval     string           `column:"interval"`
	noted
}

var interventions = score(4, metrics.Definition[InterventionOptions, interventionRow]{
	Name: "entigen-interventions", Title: "each added sentence against the original prompt, on its own and other axes",
	Unit: "difference of shares", Range: "[-1, 1]", Direction: "below 0: more diverse", Citation: "Tables 1, 2, 6",
	Inputs: []metrics.Input{ratingsIn},
	Compute: func(_ context.Context, call *metrics.Call, o InterventionOptions) ([]interventionRow, error) {
		all, err := cells(call, "in", o.Labeling)
		if err != nil {
			return nil, err
		}
		by := map[key]*cell{}
		for _, c := range all {
			by[c.key] = c
		}
		var out []interventionRow
		for _, c := range all {
			before := by[c.original()]
			if c.prompt == data.Original || before == nil {
				continue
			}
			e, err := ComputeEffect(before.counts, c.counts, Resampling{Intervals: o.Intervals,
				Name: "change/" + c.String()})
			if err != nil {
				return nil, err
			}
			improves := map[bool]string{true: "yes", false: "no"}[e.Change.Value < 0]
			if math.IsNaN(e.Change.Value) {
				improves = "not available"
			}
			out = append(out, interventionRow{cellRow: c.row(), Relation: relation(c.kind, c.axis),
				Before: e.Before.Value, Now: e.Now.Value, Change: e.Change, Improves: improves,
				Reduced:  len(e.Reduced),
				NFlipped: len(e.Flipped), Increased: len(e.Increased), Unchanged: len(e.Unchanged),
				NotAvailable: len(e.NotAvailable), Flipped: strings.Join(e.Flipped, ", "),
				UsedOriginal: e.Before.Usable, Used: e.Now.Usable, Asked: e.Now.Asked,
				Warning: warning(min(e.Before.Usable, e.Now.Usable), o.MinUsed), Rule: o.Rule,
				Interval: intervals(o.Intervals, ByImage)})
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("no prompt has its original: the rows need images with prompt_id %q of the same "+
				"category and model", data.Original)
		}
		return out, nil
	},
})

// relation returns the relation of an axis to an intervention: its own, another one, or any for an irrelevant
// sentence.
func relation(kind, axis string) string {
	switch kind {
	case data.Irrelevant:
		return "control"
	case "EI: " + axis:
		return "own axis"
	}
	return "other axis"
}

// ControlOptions are the options of [Controls]: none.
type ControlOptions struct{}

// Controls is the metric entigen-controls (Bansal et al., EMNLP 2022, claims on Tables 1, 2, 6): the share of cells
// whose diversity score a sentence lowers, compared with irrelevant sentences, which should change nothing. It reads
// the table of [Diversity] or the printed one ([data.Printed]).
//
//	share_improved = n_improved / n_used    in [0, 1], by judge, category, axis (and all axes) and relation
//
// n_used counts the cells where both scores are available, n_not_available the others. The cells of a paper are no
// sample, so there is no interval.
func Controls(diversities datasets.Table, options ...ControlOptions) datasets.Table {
	return controls.Of(diversities, options...)
}

type controlRow struct {
	Judge        string  `column:"judge"`
	Category     string  `column:"category"`
	Axis         string  `column:"axis"`
	Relation     string  `column:"relation"`
	Improved     float64 `column:"share_improved" unit:"share of cells" range:"[0, 1]"`
	NImproved    int     `column:"n_improved" unit:"cells"`
	Equal        int     `column:"n_equal" unit:"cells"`
	Worse        int     `column:"n_worse" unit:"cells"`
	Used         int     `column:"n_used" unit:"cells"`
	NotAvailable int     `column:"n_not_available" unit:"cells"`
	noted
}

var controls = score(1, metrics.Definition[ControlOptions, controlRow]{
	Name: "entigen-controls", Title: "cells whose diversity score a sentence lowers, with irrelevant sentences " +
		"as a control",
	Unit: "share of cells", Range: "[0, 1]", Direction: "none", Citation: "Tables 1, 2, 6",
	Inputs: []metrics.Input{{Role: "in",
		Columns: columnsOf("category:text prompt_id:text kind:text axis:text model:text diversity:number"),
		About:   "a row for each cell, as entigen-diversity or the printed tables have it, with judge"}},
	Compute: func(_ context.Context, call *metrics.Call, _ ControlOptions) ([]controlRow, error) {
		f := call.Inputs["in"]
		categories, prompts, kinds, axes, models, values := f.Texts("category"), f.Texts("prompt_id"),
			f.Texts("kind"),
			f.Texts("axis"), f.Texts("model"), f.Numbers("diversity")
		judge := func(i int) string {
			if j := f.Texts("judge"); j != nil {
				return j[i]
			}
			return "human"
		}
		type cellOf struct{ judge, category, axis, model string }
		original := map[cellOf]float64{}
		seen := map[string]bool{}
		for i, p := range prompts {
			name := strings.Join([]string{judge(i), categories[i], p, axes[i], models[i]}, "/")
			if axes[i] != "" && seen[name] {
				return nil, table.BadRow{Row: i + 1, Column: "prompt_id", Reason: name + " has two rows"}
			}
			seen[name] = true
			if p == data.Original {
				original[cellOf{judge(i), categories[i], axes[i], models[i]}] = values[i]
			}
		}
		type group struct{ judge, category, axis, relation string }
		type tally struct{ lower, equal, higher, without int }
		tallies := map[group]*tally{}
		var order []group
		for i, p := range prompts {
			if p == data.Original || axes[i] == "" {
				continue
			}
			before, known := original[cellOf{judge(i), categories[i], axes[i], models[i]}]
			for _, axis := range []string{axes[i], "all"} {
				g := group{judge(i), categories[i], axis, relation(kinds[i], axes[i])}
				if tallies[g] == nil {
					tallies[g] = &tally{}
					order = append(order, g)
				}
				switch t := tallies[g]; {
				case !known || math.IsNaN(before) || math.IsNaN(values[i]):
					t.without++
				case values[i] < before:
					t.lower++
				case values[i] > before:
					t.higher++
				default:
					t.equal++
				}
			}
		}
		slices.SortStableFunc(order, func(a, b group) int {
			return strings.Compare(strings.Join([]string{a.judge, a.category, a.axis, a.relation}, "\x00"),
				strings.Join([]string{b.judge, b.category, b.axis, b.relation}, "\x00"))
		})
		var out []controlRow
		for _, g := range order {
			t := tallies[g]
			n := t.lower + t.equal + t.higher
			out = append(out, controlRow{Judge: g.judge, Category: g.category, Axis: g.axis, Relation: g.relation,
				Improved: float64(t.lower) / float64(n), NImproved: t.lower, Equal: t.equal, Worse: t.higher, Used: n,
				NotAvailable: t.without})
		}
		return out, nil
	},
})

// scope is a set of images that people and CLIP labeled.
type scope struct{ name, model, attribute string }

// labelsBy returns the labels of the images of a table by name, and the images.
func labelsBy(f *table.Frame, role string, a axis, rule string) (map[string]PerceivedGroup, []*image, error) {
	if f.Texts(a.column) == nil {
		return nil, nil, fmt.Errorf("table %q has no column %s", role, a.column)
	}
	all, err := images(f, []axis{a})
	if err != nil {
		return nil, nil, fmt.Errorf("table %q: %w", role, err)
	}
	labels := map[string]PerceivedGroup{}
	for _, p := range all {
		votes := p.votes[a.axis]
		if len(votes) == 0 {
			continue
		}
		if labels[p.name], err = Label(votes, rule); err != nil {
			return nil, nil, err
		}
	}
	return labels, all, nil
}

// pairsOf matches the images that CLIP and people labeled; unmatched counts those that only people labeled.
func pairsOf(byClip, byPeople *table.Frame, a axis, rule string) (scopes []scope, by map[scope][]Pair,
	unmatched map[scope]int, err error) {
	clip, _, err := labelsBy(byClip, "in", a, Strict)
	if err != nil {
		return nil, nil, nil, err
	}
	human, rated, err := labelsBy(byPeople, "ratings", a, rule)
	if err != nil {
		return nil, nil, nil, err
	}
	by, unmatched = map[scope][]Pair{}, map[scope]int{}
	for _, p := range rated {
		label, asked := human[p.name]
		if !asked {
			continue
		}
		c, known := clip[p.name]
		for _, s := range []scope{{"pooled", "all", "all"}, {"model", p.model, "all"},
			{"attribute", "all", p.attribute}, {"model and attribute", p.model, p.attribute}} {
			if !slices.Contains(scopes, s) {
				scopes = append(scopes, s)
			}
			if !known {
				unmatched[s]++
				continue
			}
			by[s] = append(by[s], Pair{label, c, strings.Join([]string{p.model, p.category, p.prompt, p.attribute},
				"/")})
		}
	}
	if len(by) == 0 {
		return nil, nil, nil, fmt.Errorf("no image is in both tables; their columns image_id must have the same names")
	}
	slices.SortFunc(scopes, func(a, b scope) int {
		order := []string{"pooled", "model", "attribute", "model and attribute"}
		if c := slices.Index(order, a.name) - slices.Index(order, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.model+"\x00"+a.attribute, b.model+"\x00"+b.attribute)
	})
	return scopes, by, unmatched, nil
}

var pairedIn = []metrics.Input{
	{Role: "in", Columns: ratingsIn.Columns, About: "a row for each image, as entigen-clip-labels returns them"},
	{Role: "ratings", Columns: ratingsIn.Columns, About: ratingsIn.About},
}

func pairedInputs(labels, ratings datasets.Table) map[string]datasets.Table {
	return map[string]datasets.Table{"in": labels, "ratings": ratings}
}

// AgreementOptions are the options of [ClipAgreement].
type AgreementOptions struct {
	ConfusionOptions
	metrics.Intervals
}

// ClipAgreement is the metric entigen-clip-agreement (Bansal et al., EMNLP 2022, evaluation of CLIP against people;
// 78 to 85 % printed): agreement of labels by CLIP ([ClipLabels]) with those by people. agreement in [0, 1] and
// kappa (at most 1) are those of [ComputeClipAgreement], by both methods, pooled and by model, attribute and both.
// n_without_clip counts images that only people labeled. Intervals resample whole prompts.
func ClipAgreement(labels, ratings datasets.Table, options ...AgreementOptions) datasets.Table {
	return clipAgreement.Table(pairedInputs(labels, ratings), options...)
}

type agreementRow struct {
	Definition  string           `column:"definition"`
	Scope       string           `column:"scope"`
	Model       string           `column:"model"`
	Attribute   string           `column:"attribute"`
	Agreement   metrics.Estimate `column:"agreement" unit:"share of images" range:"[0, 1]"`
	Kappa       metrics.Estimate `column:"kappa" help:"Cohen's kappa, at most 1"`
	Same        int              `column:"n_agree" unit:"images"`
	Used        int              `column:"n_used" unit:"images"`
	Asked       int              `column:"n_asked" unit:"images"`
	WithoutClip int              `column:"n_without_clip" unit:"images"`
	Axis        string           `column:"axis"`
	Rule        string           `column:"rule"`
	Interval    string           `column:"interval"`
	noted
}

var clipAgreement = score(3, metrics.Definition[AgreementOptions, agreementRow]{
	Name: "entigen-clip-agreement", Title: "agreement of perceived groups by CLIP with those by people, by two " +
		"definitions",
	Unit: "share of images; kappa", Range: "[0, 1]; kappa at most 1", Direction: "higher is better",
	Citation: "evaluation of CLIP against people", Inputs: pairedIn,
	Compute: func(_ context.Context, call *metrics.Call, o AgreementOptions) ([]agreementRow, error) {
		a, err := axisOf(o.Axis, o.Axes)
		if err != nil {
			return nil, err
		}
		scopes, by, unmatched, err := pairsOf(call.Inputs["in"], call.Inputs["ratings"], a, o.Rule)
		if err != nil {
			return nil, err
		}
		var out []agreementRow
		for _, method := range []string{BothDecided, ThreeWay} {
			for _, s := range scopes {
				a, err := ComputeClipAgreement(by[s], method, Resampling{Intervals: o.Intervals,
					Name: method + s.name + s.model + s.attribute})
				if err != nil {
					return nil, err
				}
				r := agreementRow{Definition: method, Scope: s.name, Model: s.model, Attribute: s.attribute,
					Agreement: a.Share, Kappa: a.Kappa, Same: a.Same, Used: a.Used, Asked: a.Asked,
					WithoutClip: unmatched[s], Axis: o.Axis, Rule: o.Rule}
				if !math.IsNaN(a.Share.Low) {
					r.Interval = o.Label("prompts")
				}
				out = append(out, r)
			}
		}
		return out, nil
	},
})

// ConfusionOptions are the options of [ClipConfusion].
type ConfusionOptions struct {
	Rule string `json:"rule" default:"strict" values:"strict,plain-majority,drop-unsure,unanimous,plain-majority-gated,drop-unsure-gated,unanimous-gated,strict-ungated" help:"how the votes of raters become a label"`
	Axis string `json:"axis" default:"perceived gender" help:"labels compared: an axis of the paper or of axes"`
	Axes string `json:"axes" help:"further axes, as COLUMN=GROUP/GROUP, …: perceived_age=young/old"`
}

// ClipConfusion is the metric entigen-clip-confusion (Bansal et al., EMNLP 2022, evaluation of CLIP against people):
// the labels by people and by CLIP, n images each, pooled and by model, attribute and both; share_of_human = n /
// n_human in [0, 1]. Uncertain is a third label.
func ClipConfusion(labels, ratings datasets.Table, options ...ConfusionOptions) datasets.Table {
	return clipConfusion.Table(pairedInputs(labels, ratings), options...)
}

type confusionRow struct {
	Scope     string  `column:"scope"`
	Model     string  `column:"model"`
	Attribute string  `column:"attribute"`
	Human     string  `column:"human"`
	Clip      string  `column:"clip"`
	N         int     `column:"n" unit:"images"`
	NHuman    int     `column:"n_human" unit:"images"`
	Share     float64 `column:"share_of_human" unit:"share of images" range:"[0, 1]"`
	Axis      string  `column:"axis"`
	Rule      string  `column:"rule"`
	noted
}

var clipConfusion = score(2, metrics.Definition[ConfusionOptions, confusionRow]{
	Name: "entigen-clip-confusion", Title: "perceived groups by people against those by CLIP, counted",
	Unit:  "images",
	Range: "[0, ∞)", Direction: "none", Citation: "evaluation of CLIP against people", Inputs: pairedIn,
	Compute: func(_ context.Context, call *metrics.Call, o ConfusionOptions) ([]confusionRow, error) {
		compared, err := axisOf(o.Axis, o.Axes)
		if err != nil {
			return nil, err
		}
		scopes, by, _, err := pairsOf(call.Inputs["in"], call.Inputs["ratings"], compared, o.Rule)
		if err != nil {
			return nil, err
		}
		names := []string{data.NoGroup, compared.groups[0], compared.groups[1]}
		var out []confusionRow
		for _, s := range scopes {
			a, err := ComputeClipAgreement(by[s], ThreeWay, Resampling{})
			if err != nil {
				return nil, err
			}
			for _, h := range []PerceivedGroup{First, Second, Uncertain} {
				of := a.Confusion[h][0] + a.Confusion[h][1] + a.Confusion[h][2]
				for _, c := range []PerceivedGroup{First, Second, Uncertain} {
					n := a.Confusion[h][c]
					out = append(out, confusionRow{Scope: s.name, Model: s.model, Attribute: s.attribute,
						Human: names[h],
						Clip:  names[c], N: n, NHuman: of, Share: float64(n) / float64(of), Axis: o.Axis,
						Rule: o.Rule})
				}
			}
		}
		return out, nil
	},
})
