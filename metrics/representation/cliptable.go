package representation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// ClipTexts returns the table of the five texts that images are compared with: id, label (see [TextA] …) and text.
// Embed the texts to add the vector column clip_text. axis is [data.PerceivedGender] or [data.PerceivedSkin] (tried
// and abandoned by the paper; the texts are those of the released script); grammar is [data.PaperGrammar] or
// [data.ReleasedGrammar].
func ClipTexts(axis, grammar string) datasets.Table {
	texts := map[string][]string{
		data.PerceivedGender + data.PaperGrammar: {"A photo of a person who looks like a man",
			"A photo of a person who looks like a woman", "A photo of a person with an uncertain gender",
			"a photo of a person", "a photo of an object"},
		data.PerceivedGender + data.ReleasedGrammar: {"a photo of a person who looks like a man",
			"a photo of a person who looks like a woman", "a photo of a person with uncertain gender",
			"a photo of a person", "a photo of an object"},
		data.PerceivedSkin + data.ReleasedGrammar: {"a photo of a person with a light skin color",
			"a photo of a person with a dark skin color", "a photo of a person with uncertain skin color",
			"a photo of a person", "a photo of an object"},
	}[axis+grammar]
	if texts == nil {
		return datasets.Failed(fmt.Errorf("no texts for axis %q and grammar %q: use %q, or %q with "+
			"grammar %q, or your own table", axis, grammar, data.PerceivedGender, data.PerceivedSkin,
			data.ReleasedGrammar))
	}
	return datasets.Extend(datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("id", TextLabels),
		table.TextColumn("label", TextLabels), table.TextColumn("text", texts)}})).Named("ENTIGEN texts for CLIP").Table
}

// ClipTables are the inputs of [ClipLabels].
type ClipTables struct {
	Images datasets.Table // model, category, prompt_id, attribute, and a vector (clip_image); image_id or id; outcome
	Texts  datasets.Table // label and a vector (clip_text), see [ClipTexts]
}

// ClipOptions are the options of [ClipLabels].
type ClipOptions struct {
	Axis       string  `json:"axis" default:"perceived gender" help:"what the texts are about: an axis of the paper or of axes"`
	Axes       string  `json:"axes" help:"further axes, as COLUMN=GROUP/GROUP, …: perceived_age=young/old"`
	Vector     string  `json:"vector" default:"clip_image" help:"vector column of the images"`
	TextVector string  `json:"text_vector" default:"clip_text" help:"vector column of the texts"`
	LogitScale float64 `json:"logit_scale" default:"100" min:">0" help:"factor of the similarities before the softmax"`
	Tie        string  `json:"tie" default:"stay" values:"stay,drop" help:"images as similar to person as to object"`
}

// ClipLabels is the table operation entigen-clip-labels (Bansal et al., EMNLP 2022, Table 4): perceived-group
// labels of images by CLIP, see [ComputeClipLabels], one row each, in the form of the ratings: [Diversity], [Bias]
// and the others accept it in place of human ratings. p_group_a, p_group_b and p_uncertain (they sum to 1) and
// p_person are probabilities in [0, 1]; reason states why an image has no group.
func ClipLabels(t ClipTables, options ...ClipOptions) datasets.Table {
	return clipLabels.Table(map[string]datasets.Table{"in": t.Images, "texts": t.Texts}, options...)
}

var clipLabels = listing(1, metrics.Definition[ClipOptions, struct{}]{
	Name: "entigen-clip-labels", Title: "perceived group of the person in an image by CLIP", Citation: "Table 4",
	Inputs: []metrics.Input{
		{Role: "in", Columns: columnsOf("model:text category:text prompt_id:text attribute:text"),
			About: "a row for each image, with its vector, image_id (else id), kind and outcome"},
		{Role: "texts", Columns: columnsOf("label:text"),
			About: "the texts group_a, group_b, uncertain, person and object, with their vectors"},
	},
	Columns: ClipOptions.columns,
	Frame: func(_ context.Context, call *metrics.Call, o ClipOptions) (*table.Frame, error) {
		f := call.Inputs["in"]
		texts, err := clipTexts(call.Inputs["texts"], o.TextVector)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", "texts", err)
		}
		names, images, err := tabular.Images(f, o.Vector)
		if err != nil {
			return nil, err
		}
		labels, err := ComputeClipLabels(images, texts, ClipVariant{Scale: o.LogitScale, Tie: o.Tie})
		var bad *ImageError
		if errors.As(err, &bad) {
			return nil, table.BadRow{Row: bad.Row + 1, ID: names[bad.Row], Column: o.Vector, Reason: bad.Reason}
		}
		if err != nil {
			return nil, err
		}
		a, err := axisOf(o.Axis, o.Axes)
		if err != nil {
			return nil, err
		}
		answers := []string{data.NoGroup, a.groups[0], a.groups[1]}
		judge := "CLIP, logit scale " + strconv.FormatFloat(o.LogitScale, 'g', -1, 64)
		models, categories, prompts := f.Texts("model"), f.Texts("category"), f.Texts("prompt_id")
		kinds, attributes := f.Texts("kind"), f.Texts("attribute")
		out := table.NewFrame(o.columns())
		for i, l := range labels {
			out.Add([]string{names[i] + "#clip", models[i], categories[i], prompts[i], kindOf(kinds, prompts, i),
				attributes[i], names[i], answers[l.Group], l.Why, judge, Note},
				1, map[bool]float64{true: 1}[l.Person], math.NaN(), l.A, l.B, l.Uncertain, l.PersonRather)
		}
		return out, nil
	},
})

func (o ClipOptions) columns() []table.ColumnSpec {
	a, err := axisOf(o.Axis, o.Axes)
	if err != nil { // computing the table returns it
		a = axisColumns[0]
	}
	return columnsOf("id:text model:text category:text prompt_id:text kind:text attribute:text image_id:text " +
		"rater:number person:number as_described:number " + a.column + ":text p_group_a:number " +
		"p_group_b:number p_uncertain:number p_person:number reason:text judge:text note:text")
}

// clipTexts returns the vectors of the texts by label.
func clipTexts(f *table.Frame, vector string) (map[string][]float32, error) {
	vectors, err := f.Need(vector, table.KindVector)
	if err != nil {
		return nil, err
	}
	texts := map[string][]float32{}
	for i, label := range f.Texts("label") {
		if _, twice := texts[label]; twice || !slices.Contains(TextLabels, label) {
			return nil, table.BadRow{Row: i + 1, Column: "label",
				Reason: fmt.Sprintf("%q occurs twice, or is not one of %v", label, TextLabels)}
		}
		texts[label] = vectors.Vectors[i]
	}
	return texts, nil
}
