package stereotypes

import (
	"context"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// CaptionAttributeOptions are the options of [CaptionAttributes].
type CaptionAttributeOptions struct {
	CaptionSearch
	Rows          string `json:"rows" default:"all" values:"all,found" help:"all attributes, as likelihoods need, or those found"`
	ShowOffensive bool   `json:"show_offensive" help:"show attributes that are offensive or not rated for the identity"`
}

// CaptionAttributes is the table operation visage-caption-attributes, an addition to section 3.2 of Jha et al., ACL
// 2024: the attributes that captions name, in the form of the annotations. It has a row for each image and attribute of
// the vocabulary; selected is 1 where one of the image's captions names it, else 0. [Likelihoods], [Tendencies] and
// [Offensiveness] accept it in place of human annotations. Attributes are masked by the rule of package seegull.
func CaptionAttributes(t CaptionTables, options ...CaptionAttributeOptions) datasets.Table {
	return captionAttributes.Table(t.inputs(), options...)
}

// foundRow is an attribute of an image in the form of the annotations.
type foundRow struct {
	ID        string `column:"id"`
	Identity  string `column:"identity"`
	Number    int    `column:"image_number" help:"of the image among those of the identity"`
	ImageID   string `column:"image_id"`
	Attribute string `column:"attribute"`
	Selected  int    `column:"selected" range:"0 or 1"`
}

// facts are the columns that annotations have about a pair (the first three) and an attribute.
type facts struct {
	NAStereo      float64 `column:"na_stereo" unit:"annotators"`
	RegionStereo  float64 `column:"region_stereo" unit:"annotators"`
	Offensiveness float64 `column:"offensiveness" unit:"SeeGULL's scale" range:"[-1, 4]"`
	Asia          float64 `column:"score_asia" range:"[1, 5]"`
	Europe        float64 `column:"score_europe" range:"[1, 5]"`
	NA            float64 `column:"score_na" range:"[1, 5]"`
}

type captionAttributeRow struct {
	foundRow
	facts
	Captions int    `column:"n_captions" unit:"captions"`
	Size     int    `column:"n_vocabulary" unit:"attributes"`
	By       string `column:"found_by"`
	described
}

var captionAttributes = listing(metrics.Definition[CaptionAttributeOptions, captionAttributeRow]{
	Version: 3, // 2 took a missing rating of offensiveness for the worst
	Name:    "visage-caption-attributes", Title: "attributes that the captions of an image name, in the form of " +
		"annotations",
	Citation: "an addition to section 3.2", Inputs: []metrics.Input{captionsIn, attributesIn},
	Compute: func(_ context.Context, call *metrics.Call, o CaptionAttributeOptions) ([]captionAttributeRow, error) {
		in, err := readCaptions(call, o.CaptionSearch)
		if err != nil {
			return nil, err
		}
		m, err := newMatcher(in.vocabulary.Attributes, o.Matching)
		if err != nil {
			return nil, err
		}
		type seen struct {
			identity, image  string
			captions, number int
			named            map[int]bool
		}
		var list []*seen
		at, numbers := map[[2]string]*seen{}, map[string]int{}
		for _, c := range in.captions {
			key := [2]string{c.Identity, c.Image}
			s := at[key]
			if s == nil {
				numbers[c.Identity]++
				s = &seen{identity: c.Identity, image: c.Image, number: numbers[c.Identity], named: map[int]bool{}}
				at[key], list = s, append(list, s)
			}
			s.captions++
			m.find(c.Text, func(a, _ int) { s.named[a] = true })
		}
		of := readFacts(call.Inputs["attributes"])
		var mask seegull.Masker
		var out []captionAttributeRow
		for _, s := range list {
			for a, name := range m.attributes {
				if !s.named[a] && o.Rows != "all" {
					continue
				}
				out = append(out, captionAttributeRow{foundRow: foundRow{ID: fmt.Sprintf("%s#%d", s.image, a+1),
					Identity: s.identity, Number: s.number, ImageID: s.image,
					Attribute: in.label(&mask, o.ShowOffensive, s.identity, name),
					Selected:  map[bool]int{true: 1}[s.named[a]]}, facts: of(s.identity, name), Captions: s.captions,
					Size: len(m.attributes), By: "captions"})
			}
		}
		return out, nil
	},
})

// readFacts returns the facts of a pair; a pair that the frame lacks has those of its attribute alone.
func readFacts(f *table.Frame) func(identity, attribute string) facts {
	var of [6]func(row int) float64
	for k, name := range []string{"na_stereo", "region_stereo", "offensiveness", "score_asia", "score_europe",
		"score_na"} {
		of[k] = tabular.NumberOf(f, name)
	}
	pairs, single := map[[2]string]facts{}, map[string]facts{}
	identities := f.Texts("identity")
	for i, a := range f.Texts("attribute") {
		v := facts{of[0](i), of[1](i), of[2](i), of[3](i), of[4](i), of[5](i)}
		single[a] = v
		if identities != nil {
			pair := [2]string{identities[i], a}
			known, twice := pairs[pair]
			if o := v.Offensiveness; twice && (o <= known.Offensiveness || math.IsNaN(o)) {
				v = known // the worse rating counts
			}
			pairs[pair] = v
		}
	}
	return func(identity, attribute string) facts {
		if v, known := pairs[[2]string{identity, attribute}]; known {
			return v
		}
		v := single[attribute]
		v.NAStereo, v.RegionStereo, v.Offensiveness = math.NaN(), math.NaN(), math.NaN()
		return v
	}
}
