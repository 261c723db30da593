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
// is "yes" if it is true of all.
func Values(t ValueTables, options ...ValueOptions) datasets.Table {
	return paperValues.Table(map[string]datasets.Table{"in": t.Ratings, "clip": t.Clip, "phrases": t.Phrases},
		options...)
}

var paperValues = listing(2, metrics.Definition[ValueOptions, metrics.ValueRow]{
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
			if err := agreements(&out, clip, people, o.Rule); err != nil {
				return nil, err
			}
		}
		for _, c := range claims {
			if holds, known := c.holds(s); known {
				out.AddClaim(c.item, holds)
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
func agreements(out *metrics.ValueRows, byClip, byPeople *table.Frame, rule string) error {
	for i, r := range []struct {
		item      string
		low, high float64
	}{{"agreement of CLIP with people, perceived gender", 0.78, 0.85},
		{"agreement of CLIP with people, perceived skin color", 0.67, 0.78}} {
		a := axisColumns[i]
		if byClip.Texts(a.column) == nil || byPeople.Texts(a.column) == nil {
			continue
		}
		scopes, by, _, err := pairsOf(byClip, byPeople, a, rule)
		if err != nil {
			return err
		}
		holds, n := true, 0
		for _, scope := range scopes {
			if scope.name != "model" {
				continue
			}
			agreement, err := ComputeClipAgreement(by[scope], BothDecided, Resampling{})
			if err != nil {
				return err
			}
			n += agreement.Used
			if share := agreement.Share.Value; !(share >= r.low && share <= r.high) {
				holds = false
			}
		}
		if n > 0 {
			out.AddClaim(r.item, holds)
			(*out)[len(*out)-1].N = float64(n)
		}
	}
	return nil
}

// claim is a finding of the paper without a number.
type claim struct {
	item  string
	holds func(*paperScores) (holds, known bool)
}

// aboutUnchanged is the largest change of a score that a claim calls none; the paper states no limit.
const aboutUnchanged = 0.1

var claims = []claim{
	{"professions, by CLIP: both sentences on gender lower the score of perceived gender",
		every("clip", data.Profession, data.PerceivedGender, lowered, "P-G1", "P-G2")},
	{"professions, by CLIP: 'irrespective of their gender' lowers it more than 'all genders'",
		func(s *paperScores) (bool, bool) {
			return s.every("clip", data.Profession, data.PerceivedGender, []string{"P-G1", "P-G2"},
				func(_, a, b float64) bool { return a < b })
		}},
	{"professions, by CLIP: sentences on skin color change it by at most 0.1",
		every("clip", data.Profession, data.PerceivedGender, unchanged, "P-S1", "P-S2")},
	{"professions, by CLIP: an irrelevant sentence changes it by more than 0.1",
		func(s *paperScores) (bool, bool) {
			same, known := s.each("clip", data.Profession, data.PerceivedGender, unchanged, "P-I1", "P-I2")
			return !same, known
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
	{"minDALL-E, bride: every original image is perceived as Western", func(s *paperScores) (bool, bool) {
		n, known := s.attribute(data.MinDALLE, data.Culture, "bride", data.Original, data.PerceivedScene)
		return n.Second == 0, known
	}},
	{"minDALL-E, bride: perceived Non-Western images after 'from diverse cultures'", func(s *paperScores) (bool, bool) {
		n, known := s.attribute(data.MinDALLE, data.Culture, "bride", "C-1", data.PerceivedScene)
		return n.Second > 0, known
	}},
}

func lowered(before, after float64) bool { return after < before }

func unchanged(before, after float64) bool { return math.Abs(after-before) <= aboutUnchanged+1e-9 }

// scores returns the diversity scores of the original prompt and of others for each model that has all of them.
func (s *paperScores) scores(judge, category, axis string, prompts []string) (out [][]float64) {
	for _, label := range data.Models {
		var of []float64
		for _, p := range append([]string{data.Original}, prompts...) {
			if c := s.cell(judge, category, p, axis, label); c != nil {
				if v := diversityValue(c.counts); !math.IsNaN(v) {
					of = append(of, v)
				}
			}
		}
		if len(of) == 1+len(prompts) {
			out = append(out, of)
		}
	}
	return out
}

// every reports whether a relation of the original's score with those of two prompts is true of every model.
func (s *paperScores) every(judge, category, axis string, prompts []string, is func(before, a, b float64) bool) (holds,
	known bool) {
	all := s.scores(judge, category, axis, prompts)
	return !slices.ContainsFunc(all, func(v []float64) bool { return !is(v[0], v[1], v[2]) }), len(all) > 0
}

// each reports whether a relation with the original's score is true of each prompt of every model.
func (s *paperScores) each(judge, category, axis string, is func(before, after float64) bool, prompts ...string) (holds,
	known bool) {
	all := s.scores(judge, category, axis, prompts)
	return !slices.ContainsFunc(all, func(v []float64) bool {
		return slices.ContainsFunc(v[1:], func(after float64) bool { return !is(v[0], after) })
	}), len(all) > 0
}

func every(judge, category, axis string, is func(before, after float64) bool,
	prompts ...string) func(*paperScores) (bool, bool) {
	return func(s *paperScores) (bool, bool) { return s.each(judge, category, axis, is, prompts...) }
}

func both(a, b func(*paperScores) (bool, bool)) func(*paperScores) (bool, bool) {
	return func(s *paperScores) (bool, bool) {
		holdsA, knownA := a(s)
		holdsB, knownB := b(s)
		return holdsA && holdsB, knownA && knownB
	}
}

// mostNotLowered reports whether irrelevant sentences lower at most half of the scores of professions, on both axes.
func mostNotLowered(s *paperScores) (holds, known bool) {
	lower, all := 0, 0
	for _, axis := range []string{data.PerceivedGender, data.PerceivedSkin} {
		for _, v := range s.scores("human", data.Profession, axis, []string{"P-I1", "P-I2"}) {
			for _, after := range v[1:] {
				all++
				if after < v[0] {
					lower++
				}
			}
		}
	}
	return 2*lower <= all, all > 0
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

// prevails reports whether an attribute's bias has a sign.
func prevails(label, category, attribute, prompt, axis string, sign float64) func(*paperScores) (bool, bool) {
	return func(s *paperScores) (bool, bool) {
		n, known := s.attribute(label, category, attribute, prompt, axis)
		return sign*ComputeBias(n) > 0, known
	}
}

// qualityStays reports whether the good images of Table 3 fall by at most 1.5 per attribute from the original prompt,
// except those of professions of DALL-E-mini and Stable Diffusion.
func qualityStays(s *paperScores) (holds, known bool) {
	holds = true
	for _, p := range data.PrintedTables() {
		excepted := p.Category == data.Profession && p.Model != data.MinDALLE
		if p.Table != 3 || p.Prompt == data.Original || excepted {
			continue
		}
		after := s.printed(p)
		p.Prompt = data.Original
		if before := s.printed(p); before != nil && after != nil {
			known = true
			holds = holds && perAttribute(before.counts)-perAttribute(after.counts) <= 1.5
		}
	}
	return holds, known
}
