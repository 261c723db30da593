package tokens

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// LossOptions are the options of [Losses].
type LossOptions struct {
	Value    string   `json:"value,omitempty" default:"value" help:"column of the scores, higher is better"`
	By       []string `json:"by,omitempty" help:"text columns that define the groups, such as model; each is corrected on its own"`
	Language string   `json:"language,omitempty" default:"language" help:"column of the languages"`
	Against  string   `json:"against,omitempty" default:"en" help:"the language that the others are compared with"`
	Unit     string   `json:"unit,omitempty" default:"prompt_id" help:"column that names a prompt in all languages, such as concept"`
	Causes   []string `json:"causes,omitempty" default:"prompt_lost,prompt_unknown,prompt_partial,prompt_cut,prompt_special,prompt_transliterated" help:"number columns that count what the tokenizer did to the row's prompt; those that the table lacks are left out"`
	Floor    float64  `json:"floor,omitempty" help:"score of an image that was refused; default 0"`
	AtLeast  float64  `json:"at_least,omitempty" min:"0" help:"the smallest loss that is a cause"`
	Level    float64  `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
}

// lossRow is a row of [Losses]: a part of the loss of a language.
type lossRow struct {
	Group    metrics.Group
	Language string `column:"{language}"`
	Part
	All      int    `column:"n_all" unit:"prompts"`
	LeftOut  int    `column:"n_left_out" unit:"prompts" help:"without an image in the reference language"`
	Images   int    `column:"n_images" unit:"images"`
	Refused  int    `column:"n_refused" unit:"images"`
	Interval string `column:"interval"`
}

// NoLoss is the verdict on a language without a loss.
const NoLoss = "no loss"

var losses = metrics.Define(metrics.Definition[LossOptions, lossRow]{
	Name: "language-loss", Version: 2, // 1 decided without an interval
	Title: "how much of a language's loss refusals, unknown, cut and special tokens, transliteration and the " +
		"generator make",
	Unit: "the scores'", Range: "(-∞, ∞)", Direction: "0 is no loss",
	Citation: "Kitagawa, JASA 50, 1955; Oaxaca, International Economic Review 14, 1973; Fieller, JRSS B 16, 1954",
	Inputs: []metrics.Input{
		{Role: "in", About: "a scored image each row, with the counts that tokenize adds to its prompt"},
		{Role: "repaired", Optional: true, About: "scored images of prompts written so that the tokenizer does " +
			"nothing to them: transliterated, shortened or without special tokens"}},
	Compute: computeLosses,
})

// Losses is the metric language-loss: the loss of each language against a reference language, divided into what
// refusals and the tokenizer make of it and the rest, which is the generator's if translations and scores are right;
// [Attribute] has the definition. in has a row for each image; a cause is a column that counts something of the
// prompt, such as those of gomlxmodels.Tokenize, and a prompt has it if the count is above 0 and that of the prompt in
// the reference language is not. A prompt with several causes has their names joined by +, as a cause of its own. Rows
// without a score are left out unless their outcome is refused. repaired, or a zero table, are images of the same
// prompts written differently.
//
// The intervals of losses hold for all languages and causes of a group at once (Bonferroni); those of shares hold
// alone. The verdict names the flagged causes. It is undecided where a loss is there and no cause is flagged, all
// prompts of a language have a cause and are not repaired, or the images are too few for an interval.
func Losses(in, repaired datasets.Table, options ...LossOptions) datasets.Table {
	return losses.Table(map[string]datasets.Table{"in": in, "repaired": repaired}, options...)
}

// scored are the images of a prompt in a language.
type scored struct {
	by      []string // the values of By, the language and the unit
	scores  []float64
	refused float64
	causes  []string // without "prompt_"
}

func (s scored) refusedShare() float64 { return s.refused / (float64(len(s.scores)) + s.refused) }

func key(by ...string) string { return strings.Join(by, "\x00") }

// read returns the prompts of a table by the key of what names them; none without the table.
func (o *LossOptions) read(call *metrics.Call, role string) (map[string]scored, error) {
	in, out := tabular.Read(call, role), map[string]scored{}
	values, counts := in.Numbers(o.Value), map[string][]float64{}
	for _, name := range o.Causes {
		if in.Frame != nil && in.Frame.Has(name) {
			counts[name] = in.Numbers(name)
		}
	}
	for _, prompt := range in.SortedGroups(append(slices.Clone(o.By), o.Language, o.Unit)) {
		p := scored{by: prompt.By}
		for _, i := range prompt.Rows {
			if tabular.Outcome(in.Frame, i) == "refused" {
				p.refused++
			} else if v := values[i]; !math.IsNaN(v) {
				p.scores = append(p.scores, v)
			}
		}
		for _, name := range o.Causes {
			c := counts[name]
			if c != nil && slices.ContainsFunc(prompt.Rows, func(i int) bool { return c[i] > 0 }) {
				p.causes = append(p.causes, strings.TrimPrefix(name, "prompt_"))
			}
		}
		out[key(p.by...)] = p
	}
	return out, in.Err
}

// language are the prompts of a language, compared with the reference language, and what its rows have in common.
type language struct {
	lossRow
	prompts []Prompt
}

// languages returns the languages of each group.
func (o *LossOptions) languages(all, repaired map[string]scored) (out []*language) {
	n := len(o.By)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		p := all[at]
		group, name, unit := p.by[:n], p.by[n], p.by[n+1]
		if last := len(out) - 1; last < 0 || out[last].Language != name || !slices.Equal(out[last].Group, group) {
			out = append(out, &language{lossRow: lossRow{Group: group, Language: name}})
		}
		l := out[len(out)-1]
		l.Images, l.Refused = l.Images+len(p.scores), l.Refused+int(p.refused)
		reference := all[key(append(slices.Clone(group), o.Against, unit)...)]
		if reference.scores == nil || p.scores == nil && p.refused == 0 {
			l.LeftOut++
			continue
		}
		causes := slices.DeleteFunc(slices.Clone(p.causes), func(c string) bool {
			return slices.Contains(reference.causes, c)
		})
		l.All, l.prompts = l.All+1, append(l.prompts, Prompt{Causes: strings.Join(causes, " + "), Scores: p.scores,
			Reference: reference.scores, Repaired: repaired[at].scores, Refused: p.refusedShare(),
			ReferenceRefused: reference.refusedShare()})
	}
	return out
}

func computeLosses(_ context.Context, call *metrics.Call, o LossOptions) (out []lossRow, err error) {
	all, err := o.read(call, "in")
	repaired, err2 := o.read(call, "repaired")
	if err = cmp.Or(err, err2); err != nil {
		return nil, err
	}
	languages, tests, references := o.languages(all, repaired), map[string]int{}, map[string]bool{}
	for _, l := range languages {
		if l.Language == o.Against {
			references[key(l.Group...)] = true
		} else if l.All > 0 {
			tests[key(l.Group...)] += len(parts(l.prompts))
		}
	}
	var notes metrics.GroupNotes
	for _, l := range languages {
		if !references[key(l.Group...)] {
			return nil, fmt.Errorf("%s: no row has the %s %q; set the option against",
				strings.Join(append(slices.Clone(l.Group), l.Language), ", "), o.Language, o.Against)
		}
		switch {
		case l.Language == o.Against:
			continue
		case l.All == 0:
			name := strings.Join(append(slices.Clone(l.Group), l.Language), "/")
			notes.Add("%d prompts have no image to compare with", name, l.LeftOut)
			continue
		}
		l.Interval = fmt.Sprintf("%.4g %% interval of Student, simultaneous over languages and causes; of shares "+
			"Fieller's", 100*o.Level)
		for _, p := range Attribute(l.prompts, AttributeOptions{Floor: o.Floor, Level: o.Level, AtLeast: o.AtLeast,
			Family: 1 - (1-o.Level)/float64(tests[key(l.Group...)])}) {
			l.Part = p
			out = append(out, l.lossRow)
		}
	}
	notes.AddTo(call, append(o.By, o.Language)...)
	return out, nil
}

// verdict names the causes of a loss, the largest first, and says what that follows from.
func verdict(parts []Part) (verdict, rule string) {
	var names, open []string
	largest := func(a, b Part) int { return cmp.Compare(b.Loss.Value, a.Loss.Value) }
	for _, p := range slices.SortedStableFunc(slices.Values(parts[1:]), largest) {
		if p.Flagged {
			names = append(names, p.Cause)
		}
		if p.Low == 0 && p.Cause != Generator { // what is left is above 0
			open = append(open, p.Cause)
		}
	}
	switch {
	case open != nil:
		rule = "no prompt without " + strings.Join(open, ", ") + " to compare with: repair the prompts"
		return strings.Join(append(names, interval.Undecided), ", "), rule
	case names != nil:
		return strings.Join(names, ", "), "loss > 0 with these causes"
	case parts[0].Flagged:
		return interval.Undecided, "loss > 0, but not with any one cause"
	case math.IsNaN(parts[0].Loss.Low):
		return interval.Undecided, "too few images for an interval"
	}
	return NoLoss, "loss contains 0, or is below the smallest that counts"
}
