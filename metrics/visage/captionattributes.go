package visage

import (
	"context"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/datasets/seegull"
	"antipode/kernel/client"
	"antipode/metrics"
)

// CaptionAttributeTable is the metric visage-caption-attributes, an addition to section 3.2 of Jha et al., ACL 2024: attributes that captions name, in the form of the annotations, a captioner in the
// annotators' place. A row for each attribute of the vocabulary and picture: selected, in [0, 1], is 1 where one of the picture's captions names it, else 0; n_captions it has, n_vocabulary attributes. [Likelihoods],
// [Tendencies] and [OffensivenessTable] read it as they read people's answers, [FoundSalience] ranks it. Attributes are masked by the rule of package seegull.
//
// Options: rows (all or found), match, case and plural as in [Matching], picture (image_id), vocabulary, min_stereo, stereo_column, rule and min_score as in [CaptionShares], show_offensive (no).
func CaptionAttributeTable(t CaptionTables, settings ...metrics.Setting) datasets.Table {
	return t.score("visage-caption-attributes", settings)
}

func init() {
	registerAll("visage-caption-attributes", "attributes that the captions of a picture name, in the form of annotations", "0 or 1", "[0, 1]", "an addition to section 3.2",
		[]metrics.Input{{Role: "in", Columns: datasets.Columns("identity:text", "caption:text"), About: "one row for each caption; also the column that picture names, and outcome (refused, failed and skipped rows hold no caption)"},
			{Role: "attributes", Columns: datasets.Columns("attribute:text"), About: "one row for each attribute, or pair with its identity, with its score_… unless vocabulary=all"}},
		append(with(stereoOptions, vocabularyOption), append(slices.DeleteFunc(slices.Clone(matchOptions), func(o metrics.Option) bool { return o.Name == "draws" }),
			metrics.Option{Name: "rows", Default: "all", About: "a row for each attribute of the vocabulary and picture, as likelihoods need, or for attributes found", Values: []string{"all", "found"}},
			metrics.Option{Name: "show_offensive", Default: "no", About: "no masks attributes whose pair with the identity the column offensiveness rates above 0 or not at all", Values: []string{"no", "yes"}})...),
		fixed(append([]string{"=id", "=identity", "picture", "=image_id", "=attribute", "selected"}, append(slices.Clone(factColumns), "n_captions", "n_vocabulary", "=found_by")...)...), captionAttributes)
}

func captionAttributes(_ context.Context, call metrics.Call) (*client.Frame, error) {
	in, err := readCaptions(call)
	if err != nil {
		return nil, err
	}
	m, err := newMatcher(in.vocabulary.Attributes, Matching{Match: call.Options["match"], Case: call.Options["case"], Plural: call.Options["plural"]})
	if err != nil {
		return nil, err
	}
	type seen struct {
		identity, picture string
		captions, number  int
		named             map[int]bool
	}
	var list []*seen
	at, numbers := map[[2]string]*seen{}, map[string]int{}
	for _, c := range in.captions {
		key := [2]string{c.Identity, c.Picture}
		s := at[key]
		if s == nil {
			numbers[c.Identity]++
			s = &seen{identity: c.Identity, picture: c.Picture, number: numbers[c.Identity], named: map[int]bool{}}
			at[key], list = s, append(list, s)
		}
		s.captions++
		m.find(c.Text, func(a, _ int) { s.named[a] = true })
	}
	facts := readFacts(call.Inputs["attributes"])
	var mask seegull.Masker
	var out [][]any
	for _, s := range list {
		for a, name := range m.attributes {
			if !s.named[a] && call.Options["rows"] != "all" {
				continue
			}
			row := []any{fmt.Sprintf("%s#%d", s.picture, a+1), s.identity, s.number, s.picture, in.label(&mask, call.Options["show_offensive"] == "yes", s.identity, name), map[bool]int{true: 1}[s.named[a]]}
			for _, v := range facts.of(s.identity, name) {
				row = append(row, v)
			}
			out = append(out, append(row, s.captions, len(m.attributes), "captions"))
		}
	}
	return result("visage-caption-attributes", call, out)
}
