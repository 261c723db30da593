package stereotypes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// ClipTables are the inputs of [ClipAttributeTable].
type ClipTables struct {
	Images     datasets.Table // identity, the vector of the option Vector, and image_id (else id); outcome
	Attributes datasets.Table // attribute with the vector of its text; for each pair the columns of [CaptionTables]
}

// ClipOptions are the options of [ClipAttributeTable].
type ClipOptions struct {
	MinStereo     float64 `json:"min_stereo,omitempty" default:"2" none:"-1" help:"least number of SeeGULL annotators who call the pair a stereotype"`
	StereoColumn  string  `json:"stereo_column,omitempty" default:"na_stereo" values:"na_stereo,region_stereo" help:"annotators in North America, or in the region of the identity"`
	Rule          string  `json:"rule,omitempty" default:"all" values:"all,majority,any,mean" help:"how many of three scores must agree that the attribute is visual"`
	MinScore      float64 `json:"min_score,omitempty" default:"4" help:"least score that counts as agreement, from 1 to 5"`
	Vocabulary    string  `json:"vocabulary" default:"visual" values:"visual,all" help:"attributes to search for"`
	Vector        string  `json:"vector" default:"clip_image" help:"vector column of the images"`
	TextVector    string  `json:"text_vector" default:"clip_text" help:"vector column of the attributes"`
	Method        string  `json:"method" default:"top" values:"top,probability,cosine" help:"when an attribute is found"`
	TopK          int     `json:"top_k" default:"10" none:"-1" help:"attributes found in an image, with method=top"`
	Threshold     float64 `json:"threshold" default:"0.05" none:"-1" help:"least probability or cosine"`
	LogitScale    float64 `json:"logit_scale" default:"100" min:">0" help:"factor of the cosines before the softmax"`
	Rows          string  `json:"rows" default:"found" values:"found,all" help:"attributes found, or all as likelihoods need"`
	ShowOffensive bool    `json:"show_offensive" help:"show attributes that are offensive or not rated for the identity"`
}

// ClipAttributeTable is the table operation visage-clip-attributes, an addition to section 3.2 of Jha et al., ACL
// 2024: attributes found in images by CLIP, zero-shot, see [ClipAttributes], in the form of the annotations. With
// Rows "all", [Likelihoods], [Tendencies] and [OffensivenessTable] accept it in place of human annotations;
// [FoundSalience] ranks it. Attributes are masked by the rule of package seegull.
func ClipAttributeTable(t ClipTables, options ...ClipOptions) datasets.Table {
	return clipAttributes.Table(map[string]datasets.Table{"in": t.Images, "attributes": t.Attributes}, options...)
}

type clipRow struct {
	foundRow
	Cosine      float64 `column:"cosine" range:"[-1, 1]"`
	Probability float64 `column:"probability" range:"[0, 1]" help:"softmax over the vocabulary"`
	Rank        int     `column:"rank"`
	facts
	Size int    `column:"n_vocabulary" unit:"attributes"`
	By   string `column:"found_by"`
	described
}

var clipAttributes = listing(metrics.Definition[ClipOptions, clipRow]{
	Name: "visage-clip-attributes", Title: "attributes found in images by similarity with their texts, zero-shot",
	Citation: "an addition to section 3.2",
	Inputs: []metrics.Input{{Role: "in", Columns: columnsOf("identity:text"),
		About: "a row for each image: identity, vector, image_id (else id), outcome"},
		{Role: "attributes", Columns: columnsOf("attribute:text"),
			About: "a row for each attribute, or pair with identity, with the vector of its text, and its " +
				"score_… unless vocabulary=all"}},
	Compute: func(_ context.Context, call *metrics.Call, o ClipOptions) ([]clipRow, error) {
		var in captionInput
		if err := in.readVocabulary(call, tabular.Part[StereotypeOptions](o), o.Vocabulary); err != nil {
			return nil, fmt.Errorf("table %q: %w", "attributes", err)
		}
		names, texts, err := in.texts(call.Inputs["attributes"], o.TextVector)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", "attributes", err)
		}
		f := call.Inputs["in"]
		images, vectors, err := tabular.Images(f, o.Vector)
		if err != nil {
			return nil, err
		}
		identities := f.Texts("identity")
		for i, name := range images {
			if name == "" || identities[i] == "" {
				return nil, tabular.BadRow(f, i, "identity", "every image needs an identity and a name")
			}
		}
		scored, err := ClipAttributes(vectors, texts, ClipVariant{o.Method, o.Threshold, o.TopK, o.LogitScale})
		if err != nil {
			return nil, locate(f, o.Vector, err)
		}
		of := readFacts(call.Inputs["attributes"])
		var mask seegull.Masker
		numbers := map[string]int{}
		var out []clipRow
		for i, row := range scored {
			id := identities[i]
			numbers[id]++
			for _, s := range row {
				if !s.Found && o.Rows != "all" {
					continue
				}
				a := names[s.Attribute]
				out = append(out, clipRow{foundRow: foundRow{ID: fmt.Sprintf("%s#%d", images[i], s.Rank), Identity: id,
					Number: numbers[id], ImageID: images[i], Attribute: in.label(&mask, o.ShowOffensive, id, a),
					Selected: map[bool]int{true: 1}[s.Found]}, Cosine: s.Cosine, Probability: s.Probability,
					Rank: s.Rank, facts: of(id, a), Size: len(names), By: o.Method})
			}
		}
		return out, nil
	},
})

// texts returns the vocabulary with the vectors of its texts, sorted by name.
func (in *captionInput) texts(f *table.Frame, vector string) (names []string, vectors [][]float32, err error) {
	column, err := f.Need(vector, table.KindVector)
	if err != nil {
		return nil, nil, err
	}
	of := map[string][]float32{}
	for i, a := range f.Texts("attribute") {
		if v := column.Vectors[i]; v != nil {
			if known := of[a]; known != nil && !slices.Equal(known, v) {
				return nil, nil, tabular.BadRow(f, i, vector, "another row has another vector for %q", a)
			}
			of[a] = v
		}
	}
	names = slices.Compact(slices.Sorted(slices.Values(in.vocabulary.Attributes)))
	for _, n := range names {
		if of[n] == nil {
			return nil, nil, fmt.Errorf("the attribute %q has no vector in the column %s", n, vector)
		}
		vectors = append(vectors, of[n])
	}
	return names, vectors, nil
}

// FoundSalienceOptions are the options of [FoundSalience].
type FoundSalienceOptions struct {
	MinStereo     float64 `json:"min_stereo,omitempty" default:"2" none:"-1" help:"least number of SeeGULL annotators who call the pair a stereotype"`
	StereoColumn  string  `json:"stereo_column,omitempty" default:"na_stereo" values:"na_stereo,region_stereo" help:"annotators in North America, or in the region of the identity"`
	Rule          string  `json:"rule,omitempty" default:"all" values:"all,majority,any,mean" help:"how many of three scores must agree that the attribute is visual"`
	MinScore      float64 `json:"min_score,omitempty" default:"4" help:"least score that counts as agreement, from 1 to 5"`
	Alpha         float64 `json:"alpha" default:"1" none:"-1" min:"0" help:"added to the count of each attribute"`
	Count         string  `json:"count" default:"occurrences" values:"occurrences,captions" help:"what count(a, id) counts"`
	Total         string  `json:"total" default:"attributes" values:"attributes,words" help:"what total(id) sums"`
	Idf           string  `json:"idf" default:"plain" values:"plain,smooth" help:"ln(|C|/(1+df)) or ln((1+|C|)/(1+df))+1"`
	Document      string  `json:"document" default:"caption" values:"caption,identity" help:"what |C| and df count"`
	Top           int     `json:"top" min:"0" help:"most salient attributes listed of an identity; 0 = all"`
	Only          string  `json:"only" default:"all" values:"all,stereotypes" help:"attributes listed"`
	ShowOffensive bool    `json:"show_offensive" help:"show attributes that are offensive or not rated for the identity"`
	Resamples     int     `json:"resamples" default:"1000" none:"-1" min:"0" help:"bootstrap samples"`
	Level         float64 `json:"level" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
	Seed          int64   `json:"seed" help:"seed of the bootstrap"`
}

// FoundSalience is the metric visage-found-salience: [SalienceTable] of attributes that another method than captions
// found in images (Jha et al., ACL 2024, section 3.2), from the unmasked table of [ClipAttributeTable] or another
// finder. Each image counts as one caption. Columns and ranges are those of [SalienceTable].
func FoundSalience(found datasets.Table, options ...FoundSalienceOptions) datasets.Table {
	return foundSalience.Of(found, options...)
}

var foundSalience = score(metrics.Definition[FoundSalienceOptions, salienceRow]{
	Name: "visage-found-salience", Title: "attributes found in an identity's images, by salience (a modified tf-idf)",
	Unit: "tf · idf", Range: "(-∞, ∞); idf=smooth: [0, ∞)", Direction: "none",
	Citation: "section 3.2 on other findings than captions",
	Inputs: []metrics.Input{{Role: "in",
		Columns: columnsOf("image_id:text selected:number identity:text attribute:text " + scoreColumns),
		About: "rows of visage-clip-attributes with show-offensive, with the option stereo-column and " +
			"offensiveness"}},
	Compute: func(_ context.Context, call *metrics.Call, o FoundSalienceOptions) ([]salienceRow, error) {
		f := call.Inputs["in"]
		stereo, err := tabular.Part[StereotypeOptions](o).stereotypes(f)
		if err != nil {
			return nil, err
		}
		in := captionInput{offensive: map[[2]string]float64{},
			vocabulary: Vocabulary{Stereotypes: map[[2]string]bool{}}}
		identities, images, selected := f.Texts("identity"), f.Texts("image_id"), f.Numbers("selected")
		offensive := f.Numbers("offensiveness")
		at := map[[2]string]int{}
		var found []Found
		for i, a := range f.Texts("attribute") {
			switch {
			case strings.HasPrefix(a, "masked "):
				return nil, tabular.BadRow(f, i, "attribute",
					"%q is masked, which is another attribute for each identity; find "+
						"attributes with offensive pairs shown", a)
			case selected[i] != 0 && selected[i] != 1:
				return nil, tabular.BadRow(f, i, "selected", "%g is neither 0 nor 1", selected[i])
			}
			pair, key := [2]string{identities[i], a}, [2]string{identities[i], images[i]}
			in.vocabulary.Attributes = append(in.vocabulary.Attributes, a)
			if stereo[i] {
				in.vocabulary.Stereotypes[pair] = true
			}
			if offensive != nil {
				in.rate(pair, offensive[i])
			}
			p, known := at[key]
			if !known {
				p = len(found)
				at[key] = p
				found = append(found, Found{Identity: identities[i], Image: images[i]})
			}
			if selected[i] == 1 {
				found[p].Attributes = append(found[p].Attributes, a)
			}
		}
		scores, err := SalienceOfFound(found, in.vocabulary, SalienceOptions{
			Weighting: tabular.Part[Weighting](o), Resampling: tabular.Part[Resampling](o)})
		if err != nil {
			return nil, err
		}
		return in.rows(scores, salienceList{o.Top, o.Only, o.ShowOffensive, "found",
			tabular.Bootstrap(o.Resamples, o.Level, overCaptions)})
	},
})

// NgramOptions are the options of [NgramTable].
type NgramOptions struct {
	MinStereo     float64 `json:"min_stereo,omitempty" default:"2" none:"-1" help:"least number of SeeGULL annotators who call the pair a stereotype"`
	StereoColumn  string  `json:"stereo_column,omitempty" default:"na_stereo" values:"na_stereo,region_stereo" help:"annotators in North America, or in the region of the identity"`
	Rule          string  `json:"rule,omitempty" default:"all" values:"all,majority,any,mean" help:"how many of three scores must agree that the attribute is visual"`
	MinScore      float64 `json:"min_score,omitempty" default:"4" help:"least score that counts as agreement, from 1 to 5"`
	Alpha         float64 `json:"alpha" default:"1" none:"-1" min:"0" help:"added to the count of each attribute"`
	Count         string  `json:"count" default:"occurrences" values:"occurrences,captions" help:"what count(a, id) counts"`
	Total         string  `json:"total" default:"attributes" values:"attributes,words" help:"what total(id) sums"`
	Idf           string  `json:"idf" default:"plain" values:"plain,smooth" help:"ln(|C|/(1+df)) or ln((1+|C|)/(1+df))+1"`
	Document      string  `json:"document" default:"caption" values:"caption,identity" help:"what |C| and df count"`
	Case          string  `json:"case" default:"lower" values:"lower,keep" help:"convert to lower case or keep the case"`
	Plural        string  `json:"plural" default:"keep" values:"keep,drop-s" help:"drop-s ignores the last s of a word"`
	Image         string  `json:"image" default:"image_id" help:"column that names the image; none = each row is one"`
	Least         int     `json:"least" default:"1" min:"1" help:"least words of a term"`
	Most          int     `json:"most" default:"3" min:"1" max:"8" help:"most words of a term"`
	MinCaptions   int     `json:"min_captions" default:"5" min:"1" help:"least captions that contain the term"`
	Stop          string  `json:"stop" default:"english" help:"words no term begins or ends with: english, none, or words"`
	Top           int     `json:"top" min:"0" help:"most salient terms listed of an identity; 0 = all"`
	Only          string  `json:"only" default:"all" values:"all,stereotypes" help:"terms listed"`
	ShowOffensive bool    `json:"show_offensive" help:"show terms with attributes that are offensive or not rated"`
	Resamples     int     `json:"resamples" default:"100" none:"-1" min:"0" help:"bootstrap samples"`
	Level         float64 `json:"level" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
	Seed          int64   `json:"seed" help:"seed of the bootstrap"`
}

// NgramTable is the metric visage-ngrams (Jha et al., ACL 2024, section 3.2, without its vocabulary): runs of words
// of an identity's captions, see [Ngrams], most salient first. Columns and ranges are those of [SalienceTable]; |V|
// is the number of terms. A term is masked if it names an attribute of the unmasked table of attributes that may not
// be shown next to the identity.
func NgramTable(t CaptionTables, options ...NgramOptions) datasets.Table {
	return ngrams.Table(t.inputs(), options...)
}

var ngrams = score(metrics.Definition[NgramOptions, salienceRow]{
	Version: 3, // 2 named United KingdomUK
	Name:    "visage-ngrams", Title: "runs of words in an identity's captions, by salience, without a vocabulary",
	Unit: "tf · idf", Range: "(-∞, ∞); idf=smooth: [0, ∞)", Direction: "none", Citation: "section 3.2",
	Inputs: []metrics.Input{captionsIn, {Role: "attributes", Columns: attributesIn.Columns,
		About: "unmasked attributes, or pairs with identity and offensiveness: terms that name one are " +
			"masked like it"}},
	Compute: func(_ context.Context, call *metrics.Call, o NgramOptions) ([]salienceRow, error) {
		in, err := readCaptions(call, tabular.Part[StereotypeOptions](o), "all", o.Image)
		if err != nil {
			return nil, err
		}
		if in.inside, err = newMatcher(in.vocabulary.Attributes, Matching{Plural: "drop-s"}); err != nil {
			return nil, err
		}
		m := Matching{Case: o.Case, Plural: o.Plural}
		v := NgramVariant{Matching: m, Least: o.Least, Most: o.Most, MinCaptions: o.MinCaptions}
		switch o.Stop {
		case "english":
		case "none":
			v.Stop = []string{}
		default:
			v.Stop = strings.Fields(o.Stop)
		}
		if in.vocabulary.Attributes, err = Ngrams(in.captions, v); err != nil {
			return nil, err
		}
		scores, err := Salience(in.captions, in.vocabulary,
			SalienceOptions{m, tabular.Part[Weighting](o), tabular.Part[Resampling](o)})
		if err != nil {
			return nil, err
		}
		return in.rows(scores, salienceList{o.Top, o.Only, o.ShowOffensive, "n-grams",
			tabular.Bootstrap(o.Resamples, o.Level, overCaptions)})
	},
})
