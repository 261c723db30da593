package representation

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/interval"
)

// ValueOptions are the options of [Values].
type ValueOptions struct {
	Labeling
	Cluster string `json:"cluster" default:"image" values:"image,prompt" help:"what the bootstrap resamples as a whole"`
	metrics.Intervals

	Labels []string `json:"labels,omitempty" help:"labels of models in the paper's table, each as MODEL=LABEL; others by the paper's list of names"`
}

// ValueTables are the inputs of [Values]; a zero table is one that is missing.
type ValueTables struct {
	Ratings datasets.Table // by people
	Clip    datasets.Table // of [ClipLabels]
	Phrases datasets.Table // of [Phrases], in the training captions
}

// Values is the table operation entigen-values (Bansal et al., EMNLP 2022, Tables 1, 2, 3, 6 and the claims): our
// values of the items of [data.Printed] and [data.Claims], for [metrics.Ledger]. A score in [0, 1] has a bootstrap
// interval and n, its usable images; same is "yes" where it agrees with the printed one ([PrintedNumber.Agrees]: the
// paper rounds some values and cuts others). A claim about "every model" is tested on the models of the tables: holds
// is "yes" if it is true of all, "no" if the intervals exclude it for one, and else "undecided".
func Values(t ValueTables, options ...ValueOptions) datasets.Table {
	return paperValues.Table(map[string]datasets.Table{"in": t.Ratings, "clip": t.Clip, "phrases": t.Phrases},
		options...)
}

var paperValues = listing(4, metrics.Definition[ValueOptions, metrics.ValueRow]{
	Name: "entigen-values", Title: "the values of the paper's tables and claims, for a ledger",
	Citation: "Tables 1, 2, 3, 6, sections 3 and 4",
	Inputs: []metrics.Input{
		{Role: "in", Columns: ratingsIn.Columns, Optional: true, About: ratingsIn.About},
		{Role: "clip", Columns: columnsOf(ratingColumns), Optional: true, About: "labels by CLIP"},
		{Role: "phrases", Columns: columnsOf("query:text n_captions:number"), Optional: true,
			About: "counts in training captions, as entigen-phrases returns them"}},
	Compute: func(_ context.Context, call *metrics.Call, o ValueOptions) ([]metrics.ValueRow, error) {
		if call.Inputs["in"] == nil && call.Inputs["clip"] == nil {
			return nil, errors.New("no table of labels: give ratings by people, labels by CLIP, or both")
		}
		s, err := labeledBy(call, o.Labeling, o.Labels)
		if err != nil {
			return nil, err
		}
		var out metrics.ValueRows
		for _, p := range data.PrintedTables() {
			c := s.printed(p)
			if c == nil {
				continue
			}
			printed, err := ParsePrinted(p.Text)
			if err != nil {
				return nil, err
			}
			score, most := diversityValue, 1.0
			if p.Table == 3 {
				score, most = perAttribute, 0
			}
			e, err := Bootstrap(c.counts, score, Resampling{o.Intervals, c.String(), o.Cluster, most})
			if err != nil {
				return nil, err
			}
			out.Add(p.Item(), e, float64(ComputeDiversity(c.counts).Usable))
			out[len(out)-1].Same = yesNo(printed.Agrees(e.Value))
		}
		if clip, people := call.Inputs["clip"], call.Inputs["in"]; clip != nil && people != nil {
			if err := agreements(&out, clip, people, o); err != nil {
				return nil, err
			}
		}
		s.resampling = Resampling{Intervals: o.Intervals, Cluster: o.Cluster}
		for _, c := range claims {
			verdicts, err := c.verdicts(s)
			if err != nil {
				return nil, err
			}
			if len(verdicts) > 0 {
				out.AddVerdict(c.item, interval.Every(verdicts...))
			}
		}
		for _, query := range slices.Sorted(maps.Keys(captionClaims)) {
			out.AddItems(call, metrics.ItemValue{Item: captionClaims[query], Role: "phrases", Column: "n_captions",
				Where: map[string]string{"query": query}})
		}
		return out, nil
	},
})

func yesNo(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }

// captionClaims are the items of queries of [Phrases].
var captionClaims = map[string]string{
	"irrespective of":              "captions with 'irrespective of'",
	"irrespective of their gender": "captions with 'irrespective of their gender'",
	"gender + makeup":              "captions with 'gender' and 'makeup'",
	"gender + police":              "captions with 'gender' and 'police'",
	"culture + Western":            "captions with 'culture' and 'Western'",
	"culture + Indian":             "captions with 'culture' and 'Indian'",
	"culture + Chinese":            "captions with 'culture' and 'Chinese'",
}

// agreements returns whether the agreement of CLIP with people is in the printed range, for every model.
func agreements(out *metrics.ValueRows, byClip, byPeople *table.Frame, o ValueOptions) error {
	for i, r := range []struct {
		item      string
		low, high float64
	}{{"agreement of CLIP with people, perceived gender", 0.78, 0.85},
		{"agreement of CLIP with people, perceived skin color", 0.67, 0.78}} {
		a := axisColumns[i]
		if byClip.Texts(a.column) == nil || byPeople.Texts(a.column) == nil {
			continue
		}
		scopes, by, _, err := pairsOf(byClip, byPeople, a, o.Rule)
		if err != nil {
			return err
		}
		var verdicts []string
		n := 0
		for _, scope := range scopes {
			if scope.name != "model" {
				continue
			}
			agreement, err := ComputeClipAgreement(by[scope], BothDecided, Resampling{Intervals: o.Intervals,
				Name: scope.model, Cluster: o.Cluster, Most: 1})
			if err != nil {
				return err
			}
			n += agreement.Used
			verdicts = append(verdicts, ranged(agreement.Share).Within(math.Nextafter(r.low, 0), r.high))
		}
		if n > 0 {
			out.AddVerdict(r.item, interval.Every(verdicts...))
			(*out)[len(*out)-1].N = float64(n)
		}
	}
	return nil
}

// claim is a finding of the paper without a number. It holds if every verdict is a pass; none = it cannot be computed.
type claim struct {
	item     string
	verdicts func(*paperScores) ([]string, error)
}

// aboutUnchanged is the largest change of a score that a claim calls none; the paper states no limit.
const aboutUnchanged = 0.1

var claims = []claim{
	{"professions, by CLIP: both sentences on gender lower the score of perceived gender",
		every("clip", data.Profession, data.PerceivedGender, lowered, "P-G1", "P-G2")},
	{"professions, by CLIP: 'irrespective of their gender' lowers it more than 'all genders'",
		of("clip", data.Profession, data.PerceivedGender, []string{"P-G1", "P-G2"},
			func(s []interval.Bounded) []string { return []string{lowered(s[2], s[1])} })},
	{"professions, by CLIP: sentences on skin color change it by at most 0.1",
		every("clip", data.Profession, data.PerceivedGender, unchanged, "P-S1", "P-S2")},
	{"professions, by CLIP: an irrelevant sentence changes it by more than 0.1",
		func(s *paperScores) ([]string, error) {
			same, err := every("clip", data.Profession, data.PerceivedGender, unchanged, "P-I1", "P-I2")(s)
			if len(same) == 0 {
				return nil, err
			}
			return []string{map[string]string{interval.Pass: interval.Fail, interval.Fail: interval.Pass,
				interval.Undecided: interval.Undecided}[interval.Every(same...)]}, err
		}},
	{"professions, by people: 'irrespective of' lowers the score of its axis",
		both(every("human", data.Profession, data.PerceivedGender, lowered, "P-G1"),
			every("human", data.Profession, data.PerceivedSkin, lowered, "P-S1"))},
	{"professions, by people: irrelevant sentences do not lower most scores", mostNotLowered},
	{"objects, by people: 'irrespective of' lowers the score of its axis",
		both(every("human", data.Object, data.PerceivedGender, lowered, "O-G1"),
			every("human", data.Object, data.PerceivedSkin, lowered, "O-S1"))},
	{"weddings, by people: both sentences on culture lower the score",
		every("human", data.Culture, data.PerceivedScene, lowered, "C-1", "C-2")},
	{"weddings, by people: irrelevant sentences change the score by at most 0.1",
		every("human", data.Culture, data.PerceivedScene, unchanged, "C-I1", "C-I2")},
	{"DALL-E-mini, makeup: perceived men prevail after the sentence on gender",
		prevails(data.DALLEMini, data.Object, "makeup", "O-G1", data.PerceivedGender, 1)},
	{"DALL-E-mini, makeup: perceived dark skin prevails after the sentence on skin color",
		prevails(data.DALLEMini, data.Object, "makeup", "O-S1", data.PerceivedSkin, -1)},
	{"Stable Diffusion, police officer: perceived women prevail after the sentence on gender",
		prevails(data.SD, data.Profession, "police officer", "P-G1", data.PerceivedGender, -1)},
	{"good images per attribute fall by at most 1.5, but for professions of two models", qualityStays},
	{"DALL-E-mini, makeup: perceived women prevail without 'irrespective of their gender'",
		prevails(data.DALLEMini, data.Object, "makeup", "O-G1 minus [irrespective of their gender]",
			data.PerceivedGender, -1)},
	{"DALL-E-mini, police officer: perceived men prevail without 'irrespective of their gender'",
		prevails(data.DALLEMini, data.Profession, "police officer", "P-G1 minus [irrespective of their gender]",
			data.PerceivedGender, 1)},
	{"minDALL-E, bride: every original image is perceived as Western", counted(data.MinDALLE, data.Culture, "bride",
		data.Original, data.PerceivedScene, func(n Counts) bool { return n.Second == 0 })},
	{"minDALL-E, bride: perceived Non-Western images after 'from diverse cultures'", counted(data.MinDALLE,
		data.Culture, "bride", "C-1", data.PerceivedScene, func(n Counts) bool { return n.Second > 0 })},
}

func ranged(e metrics.Estimate) interval.Bounded {
	return interval.Bounded{Value: e.Value, Low: e.Low, High: e.High}
}

func lowered(before, after interval.Bounded) string {
	return before.Minus(after).Within(0, math.Inf(1))
}

func unchanged(before, after interval.Bounded) string {
	return after.Minus(before).Within(-aboutUnchanged-1e-9, aboutUnchanged+1e-9)
}

func (s *paperScores) bounded(c *cell, score func([]Counts) float64, most float64) (interval.Bounded, error) {
	r := s.resampling
	r.Name, r.Most = c.String(), most
	e, err := Bootstrap(c.counts, score, r)
	return ranged(e), err
}

// scores returns the diversity scores of the original prompt and of others for each model that has all of them.
func (s *paperScores) scores(judge, category, axis string, prompts []string) (out [][]interval.Bounded, err error) {
	for _, label := range data.Models {
		var of []interval.Bounded
		for _, p := range append([]string{data.Original}, prompts...) {
			if c := s.cell(judge, category, p, axis, label); c != nil && !math.IsNaN(diversityValue(c.counts)) {
				v, err := s.bounded(c, diversityValue, 1)
				if err != nil {
					return nil, err
				}
				of = append(of, v)
			}
		}
		if len(of) == 1+len(prompts) {
			out = append(out, of)
		}
	}
	return out, nil
}

// of returns the verdicts on the scores of every model: of the original prompt and of others.
func of(judge, category, axis string, prompts []string,
	verdicts func(scores []interval.Bounded) []string) func(*paperScores) ([]string, error) {
	return func(s *paperScores) (out []string, err error) {
		all, err := s.scores(judge, category, axis, prompts)
		for _, scores := range all {
			out = append(out, verdicts(scores)...)
		}
		return out, err
	}
}

// every returns the verdicts on a relation of the original's score with that of each prompt, of every model.
func every(judge, category, axis string, is func(before, after interval.Bounded) string,
	prompts ...string) func(*paperScores) ([]string, error) {
	return of(judge, category, axis, prompts, func(s []interval.Bounded) (out []string) {
		for _, after := range s[1:] {
			out = append(out, is(s[0], after))
		}
		return out
	})
}

func both(a, b func(*paperScores) ([]string, error)) func(*paperScores) ([]string, error) {
	return func(s *paperScores) ([]string, error) {
		x, err1 := a(s)
		y, err2 := b(s)
		if len(x) == 0 || len(y) == 0 {
			return nil, errors.Join(err1, err2)
		}
		return append(x, y...), errors.Join(err1, err2)
	}
}

// mostNotLowered returns whether irrelevant sentences lower at most half of the scores of professions, on both axes:
// undecided if that depends on scores for which it is undecided.
func mostNotLowered(s *paperScores) ([]string, error) {
	x, err := both(every("human", data.Profession, data.PerceivedGender, lowered, "P-I1", "P-I2"),
		every("human", data.Profession, data.PerceivedSkin, lowered, "P-I1", "P-I2"))(s)
	if err != nil || len(x) == 0 {
		return nil, err
	}
	count := map[string]float64{}
	for _, v := range x {
		count[v]++
	}
	lower, half := count[interval.Pass], float64(len(x))/2
	return []string{interval.Bounded{Value: lower, Low: lower, High: lower + count[interval.Undecided]}.
		Within(-1, half)}, nil
}

// attribute returns the counts of an attribute by people.
func (s *paperScores) attribute(label, category, attribute, prompt, axis string) (n Counts, known bool) {
	c := s.cell("human", category, prompt, axis, label)
	if c == nil {
		return n, false
	}
	at := slices.IndexFunc(c.counts, func(n Counts) bool { return n.Attribute == attribute })
	if at < 0 || c.counts[at].Usable() == 0 {
		return n, false
	}
	return c.counts[at], true
}

// prevails returns whether an attribute's bias has a sign.
func prevails(label, category, attribute, prompt, axis string, sign float64) func(*paperScores) ([]string, error) {
	return func(s *paperScores) ([]string, error) {
		n, known := s.attribute(label, category, attribute, prompt, axis)
		if !known {
			return nil, nil
		}
		b := interval.Bounded{Value: ComputeBias(n), Low: math.NaN(), High: math.NaN()}
		if s.resampling.Resamples > 0 {
			b = ranged(BiasInterval(n, s.resampling.Level))
		}
		if sign < 0 {
			b = interval.Bounded{Value: -b.Value, Low: -b.High, High: -b.Low}
		}
		return []string{b.Within(0, 1)}, nil
	}
}

// counted returns whether the counts of an attribute are as stated.
func counted(label, category, attribute, prompt, axis string,
	is func(Counts) bool) func(*paperScores) ([]string, error) {
	return func(s *paperScores) ([]string, error) {
		n, known := s.attribute(label, category, attribute, prompt, axis)
		switch {
		case !known:
			return nil, nil
		case is(n):
			return []string{interval.Pass}, nil
		}
		return []string{interval.Fail}, nil
	}
}

// qualityStays returns whether the good images of Table 3 fall by at most 1.5 per attribute from the original prompt,
// except those of professions of DALL-E-mini and Stable Diffusion.
func qualityStays(s *paperScores) (out []string, err error) {
	for _, p := range data.PrintedTables() {
		excepted := p.Category == data.Profession && p.Model != data.MinDALLE
		if p.Table != 3 || p.Prompt == data.Original || excepted {
			continue
		}
		after := s.printed(p)
		p.Prompt = data.Original
		if before := s.printed(p); before != nil && after != nil {
			x, err1 := s.bounded(before, perAttribute, 0)
			y, err2 := s.bounded(after, perAttribute, 0)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			out = append(out, x.Minus(y).Within(math.Inf(-1), 1.5))
		}
	}
	return out, nil
}
