package entigen

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Interventions is the metric entigen-interventions (Bansal et al., EMNLP 2022, Tables 1, 2, 6): each added sentence against the original prompt, a row for each category, prompt, axis
// and model.
//
//	change = DS(sentence) − DS(original)    in [-1, 1]; below 0: more diverse
//
// relation says whether the axis is the sentence's own, another one (crossed), or any under an irrelevant sentence (control); n_reduced, n_flipped, n_increased, n_unchanged and
// n_not_available count attributes by what became of their bias ([Change]). The interval draws the pictures of both prompts. Counts: n_used_original, n_used, n_asked.
//
// Options: rule, prompts, axes, draws and min_used as in [DiversityTable].
func Interventions(ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-interventions", ratings, settings)
}

// Controls is the metric entigen-controls (Bansal et al., EMNLP 2022, claims on Tables 1, 2, 6): of how many cells sentences lower the diversity score, beside irrelevant sentences, which should
// change nothing. It reads the table of [DiversityTable] or the printed one ([data.Printed]).
//
//	share_improved = n_improved / n_used    in [0, 1], by judge, category, axis (and all axes) and relation of axis and sentence
//
// n_used are the cells where both scores are available, n_not_available the others. It has no options. A count over a paper's cells is no sample, so there is no interval.
func Controls(diversities datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("entigen-controls", diversities, settings)
}

// ClipAgreement is the metric entigen-clip-agreement (Bansal et al., EMNLP 2022, evaluation of CLIP against people; 78 to 85 % printed): how far labels by CLIP ([ClipLabelTable]) are those by
// people. agreement in [0, 1] and kappa (at most 1) are those of [AgreementOf], by both definitions, pooled and by model, attribute and both. Counts: n_agree, n_used, n_asked, and
// n_without_clip pictures that people alone labelled. Intervals draw whole prompts.
//
// Options: rule (people's votes to label), axis (perceived gender or perceived skin colour), draws (1000).
func ClipAgreement(labels, ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("entigen-clip-agreement", map[string]datasets.Table{"in": labels, "ratings": ratings}, settings)
}

// ClipConfusion is the metric entigen-clip-confusion (Bansal et al., EMNLP 2022, evaluation of CLIP against people): which labels people and CLIP gave, n pictures each, pooled and by model,
// attribute and both; share_of_human = n / n_human in [0, 1]. Uncertain is a label of its own.
//
// Options: rule and axis as in [ClipAgreement].
func ClipConfusion(labels, ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("entigen-clip-confusion", map[string]datasets.Table{"in": labels, "ratings": ratings}, settings)
}

func interventions(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, draws, least, err := asked(call)
	if err != nil {
		return nil, err
	}
	by := map[key]*cell{}
	for _, c := range all {
		by[c.key] = c
	}
	var out [][]any
	for _, c := range all {
		k := c.key
		k.prompt = data.Original
		before := by[k]
		if c.prompt == data.Original || before == nil {
			continue
		}
		e := EffectOf(before.counts, c.counts, Resampling{Cell: "change/" + c.String(), Draws: draws, Level: level, Seed: call.Seed})
		improves := map[bool]string{true: "yes", false: "no"}[e.Change < 0]
		if math.IsNaN(e.Change) {
			improves = "not available"
		}
		out = append(out, []any{c.category, c.prompt, c.kind, c.axis, c.model, relation(c.kind, c.axis), e.Before.Value, e.Now.Value, e.Change, e.Low, e.High, improves,
			len(e.Reduced), len(e.Flipped), len(e.Increased), len(e.Unchanged), len(e.NotAvailable), strings.Join(e.Flipped, ", "), e.Before.Usable, e.Now.Usable, e.Now.Asked,
			warning(min(e.Before.Usable, e.Now.Usable), least), call.Options["rule"], intervalName(draws, ByPicture)})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no prompt stands beside its original: the rows need pictures with prompt_id %q of the same category and model", data.Original)
	}
	return result("entigen-interventions", call, out)
}

// relation says what an axis is to an intervention: its own, another one (crossed), or any for an irrelevant sentence.
func relation(kind, axis string) string {
	switch kind {
	case data.Irrelevant:
		return "control"
	case "EI: " + axis:
		return "own axis"
	}
	return "other axis"
}

func controls(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	categories, prompts, kinds, axes, models, values := f.Texts("category"), f.Texts("prompt_id"), f.Texts("kind"), f.Texts("axis"), f.Texts("model"), f.Numbers("diversity")
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
			return nil, client.BadRow{Row: i + 1, Column: "prompt_id", Reason: fmt.Sprintf("%s has two rows", name)}
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
		return strings.Compare(strings.Join([]string{a.judge, a.category, a.axis, a.relation}, "\x00"), strings.Join([]string{b.judge, b.category, b.axis, b.relation}, "\x00"))
	})
	var out [][]any
	for _, g := range order {
		t := tallies[g]
		n := t.lower + t.equal + t.higher
		out = append(out, []any{g.judge, g.category, g.axis, g.relation, float64(t.lower) / float64(n), t.lower, t.equal, t.higher, n, t.without})
	}
	return result("entigen-controls", call, out)
}

// scope is a set of pictures that people and CLIP labelled.
type scope struct{ name, model, attribute string }

// pairsOf matches pictures of the two tables; unmatched are people's without a label by CLIP.
func pairsOf(call metrics.Call) (scopes []scope, by map[scope][]Pair, unmatched map[scope]int, err error) {
	column := clipColumn(call.Options["axis"])
	one := func(role string, rule Rule) (map[string]Group, []*picture, error) {
		f := call.Inputs[role]
		if f.Texts(column) == nil {
			return nil, nil, fmt.Errorf("table %q has no column %s", role, column)
		}
		all, err := pictures(f, axisColumns)
		if err != nil {
			return nil, nil, fmt.Errorf("table %q: %w", role, err)
		}
		labels := map[string]Group{}
		for _, p := range all {
			votes := p.votes[call.Options["axis"]]
			if len(votes) == 0 {
				continue
			}
			if labels[p.name], err = Label(votes, rule); err != nil {
				return nil, nil, err
			}
		}
		return labels, all, nil
	}
	clip, _, err := one("in", Strict)
	if err != nil {
		return nil, nil, nil, err
	}
	human, rated, err := one("ratings", Rule(call.Options["rule"]))
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
		for _, s := range []scope{{"pooled", "all", "all"}, {"model", p.model, "all"}, {"attribute", "all", p.attribute}, {"model and attribute", p.model, p.attribute}} {
			if !slices.Contains(scopes, s) {
				scopes = append(scopes, s)
			}
			if !known {
				unmatched[s]++
				continue
			}
			by[s] = append(by[s], Pair{label, c, strings.Join([]string{p.model, p.category, p.prompt, p.attribute}, "/")})
		}
	}
	if len(by) == 0 {
		return nil, nil, nil, fmt.Errorf("no picture stands in both tables: their columns picture must name pictures alike")
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

func clipAgreement(_ context.Context, call metrics.Call) (*client.Frame, error) {
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	scopes, by, unmatched, err := pairsOf(call)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, d := range Definitions {
		for _, s := range scopes {
			a, err := AgreementOf(by[s], d, Resampling{Cell: string(d) + s.name + s.model + s.attribute, Draws: draws, Level: level, Seed: call.Seed})
			if err != nil {
				return nil, err
			}
			name := ""
			if !math.IsNaN(a.Low) {
				name = "95 % bootstrap interval over prompts"
			}
			out = append(out, []any{string(d), s.name, s.model, s.attribute, a.Share, a.Low, a.High, a.Kappa, a.KappaLow, a.KappaHigh, a.Same, a.Used, a.Asked, unmatched[s], call.Options["axis"], call.Options["rule"], name})
		}
	}
	return result("entigen-clip-agreement", call, out)
}

func clipConfusion(_ context.Context, call metrics.Call) (*client.Frame, error) {
	scopes, by, _, err := pairsOf(call)
	if err != nil {
		return nil, err
	}
	groups := data.Groups[call.Options["axis"]]
	names := []string{data.NoGroup, groups[0], groups[1]}
	var out [][]any
	for _, s := range scopes {
		a, err := AgreementOf(by[s], ThreeWay, Resampling{})
		if err != nil {
			return nil, err
		}
		for _, h := range []Group{First, Second, Uncertain} {
			of := a.Confusion[h][0] + a.Confusion[h][1] + a.Confusion[h][2]
			for _, c := range []Group{First, Second, Uncertain} {
				n := a.Confusion[h][c]
				out = append(out, []any{s.name, s.model, s.attribute, names[h], names[c], n, of, float64(n) / float64(of), call.Options["axis"], call.Options["rule"]})
			}
		}
	}
	return result("entigen-clip-confusion", call, out)
}
