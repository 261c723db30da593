package concepts

import (
	"context"
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Tables are the inputs of [ConceptScores].
type Tables struct {
	Images datasets.Table // one row per requested image: model, language, concept, vectors; optionally id and outcome
	// Words has one row per concept's word: language, concept, text vector. Without it there is no Wc.
	Words datasets.Table
}

// ScoreOptions are the options of [ConceptScores].
type ScoreOptions struct {
	Vector   string `json:"vector,omitempty" default:"full" help:"image vectors for Dt, Sc and Xc"`
	Joint    string `json:"joint,omitempty" default:"clip_image" help:"image vectors in the space of the words"`
	Text     string `json:"text,omitempty" default:"clip_text" help:"vector column of the table of words"`
	Source   string `json:"source,omitempty" default:"en,CogView 2=zh" help:"source language of Xc, or a list LANGUAGE,MODEL=LANGUAGE,…"`
	Template string `json:"template,omitempty" help:"column that names the prompt template, such as prompt_id; each is scored as a model"`
	Word     string `json:"word,omitempty" default:"en" help:"language of the word of Wc: a code, or source"`
	Profile  string `json:"profile,omitempty" default:"paper" values:"paper,public-code" help:"defaults of the paper or of the public code"`

	// The default of these is the profile's; see the package comment.
	Self        string `json:"self,omitempty" values:"exclude_self,literal" help:"Xc in the source language: whether an image counts with itself"`
	Sample      string `json:"sample,omitempty" values:"per-concept,shared,all" help:"sample of Dt: one per concept, one per model, or all images of the other concepts"`
	Own         string `json:"own,omitempty" values:"exclude,include" help:"whether the concept's own images may be in its sample of Dt"`
	Replacement string `json:"replacement,omitempty" values:"without,with" help:"whether the sample of Dt may contain a concept twice"`
	Product     string `json:"product,omitempty" values:"cosine,dot" help:"Wc: mean of 100 × cosine, or of the dot product"`

	M       int     `json:"m,omitempty" default:"100" none:"-1" min:"1" help:"images in the sample of Dt; -1: one of each other concept"`
	Rule    string  `json:"rule,omitempty" default:"both" values:"both,either" help:"not possessed if both Xc and Wc are low, or either"`
	XcBelow float64 `json:"xc_below,omitempty" default:"0.5" help:"Xc below this is low"`
	WcBelow float64 `json:"wc_below,omitempty" default:"25" help:"Wc below this is low"`
	metrics.Intervals
}

// options returns the options of [ComputeConceptScores] and the rule of possession.
func (o ScoreOptions) options() (Options, Rule, error) {
	v, _, err := ProfileOf(o.Profile)
	for into, value := range map[*string]string{&v.Self: o.Self, &v.Sample: o.Sample, &v.Own: o.Own,
		&v.Replacement: o.Replacement, &v.Product: o.Product} {
		if value != "" {
			*into = value
		}
	}
	v.M, v.Intervals = o.M, o.Intervals
	return v, Rule{When: o.Rule, Xc: o.XcBelow, Wc: o.WcBelow}, err
}

// scoreRow is a row of [ConceptScores].
type scoreRow struct {
	Model                  string           `column:"model"`
	Language               string           `column:"language"`
	Concept                string           `column:"concept"`
	InverseDistinctiveness metrics.Estimate `column:"inverse_distinctiveness" unit:"cosine" range:"[-1, 1]" help:"Dt; lower is more distinct"`
	Distinctiveness        metrics.Estimate `column:"distinctiveness" unit:"1 − cosine" range:"[0, 2]"`
	SelfConsistency        metrics.Estimate `column:"self_consistency" unit:"cosine" range:"[-1, 1]" help:"Sc"`
	CrossConsistency       metrics.Estimate `column:"cross_consistency" unit:"cosine" range:"[-1, 1]" help:"Xc"`
	TextMatch              metrics.Estimate `column:"text_match" unit:"100 × cosine" range:"[-100, 100]" help:"Wc"`
	Possessed              string           `column:"possessed" help:"yes, no, or blank if unknown"`
	Asked                  int              `column:"n_asked" unit:"images"`
	Refused                int              `column:"n_refused" unit:"images"`
	Used                   int              `column:"n_used" unit:"images" help:"with a vector"`
	Reference              int              `column:"n_reference" unit:"images" help:"in the source language"`
	Others                 int              `column:"n_others" unit:"images" help:"of other concepts, for Dt"`
	Text                   int              `column:"n_text" unit:"images" help:"for Wc"`
	Source                 string           `column:"source" help:"source language"`
	Vector                 string           `column:"vector"`
	Joint                  string           `column:"joint"`
	VectorModel            string           `column:"vector_model" help:"the model of vector, from the column VECTOR_model; blank without one"`
	JointModel             string           `column:"joint_model" help:"the model of joint, of images and words"`
	Profile                string           `column:"profile"`
	Options                string           `column:"options" help:"what the paper leaves open: sample of Dt, self-comparisons, Wc, possession"`
	Interval               string           `column:"interval"`
}

const (
	citation = cococrola.Citation
	cosines  = "cosine; Wc: 100 × cosine"
	ranges   = "[-1, 1]; Wc [-100, 100]"
	toward   = "self_consistency, cross_consistency, text_match, distinctiveness: higher is better; " +
		"inverse_distinctiveness: lower is better"
)

var cellColumns = datasets.Columns("model:text", "language:text", "concept:text")

var conceptScores = metrics.Define(metrics.Definition[ScoreOptions, scoreRow]{
	Name:    "cococrola-scores",
	Title:   "distinctiveness, self-consistency and correctness of each concept in each language",
	Version: 7, Unit: cosines, Range: ranges, Direction: toward, Citation: citation + ", equations 2 to 6, section 5.6",
	Inputs: []metrics.Input{
		{Role: "in", Columns: cellColumns, About: "one row per requested image, with its vectors; optionally id " +
			"and outcome"},
		{Role: "words", Columns: datasets.Columns("language:text", "concept:text"), Optional: true,
			About: "one row per concept's word, with its text vector; without it there is no Wc"}},
	Compute: computeScores,
})

// ConceptScores is the metric cococrola-scores (equations 2 to 6, section 5.6), one row per model, language and
// concept; see the package comment for x, y, z, t and u:
//
//	inverse_distinctiveness (Dt)   mean cosine of x and z       [-1, 1]       distinctiveness is 1 − Dt
//	self_consistency (Sc)          mean cosine within x         [-1, 1]       blank under two images
//	cross_consistency (Xc)         mean cosine of x and y       [-1, 1]       Sc in the source language itself
//	text_match (Wc)                mean of 100 × cosine, t, u   [-100, 100]
//	possessed                      no if Xc < 0.5 and Wc < 25, else yes; blank if undecided
//
// Each score has columns _low and _high (95 % bootstrap interval over images). n_asked, n_refused, n_used (with a
// vector), n_reference (y), n_others (z) and n_text (u) count images; source, vector, joint and profile repeat options,
// options has the values of those that the paper leaves open, and vector_model and joint_model name the models of the
// vectors where the tables do (column VECTOR_model, as Embed adds it for a CLIP). Vectors of two models are an error.
// With a CLIP the paper's Dt, Sc and Xc need Vector "clip_image_pooled", and Wc needs Joint "clip_image".
func ConceptScores(t Tables, options ...ScoreOptions) datasets.Table {
	return conceptScores.Table(map[string]datasets.Table{"in": t.Images, "words": t.Words}, options...)
}

// choices returns the values of the options that the paper leaves open.
func choices(v Options, r Rule) string {
	return fmt.Sprintf("m=%d sample=%s own=%s replacement=%s seed=%d self=%s product=%s word=%s possession=%s xc<%g "+
		"wc<%g", v.M, v.Sample, v.Own, v.Replacement, v.Seed, v.Self, v.Product, v.Word, r.When, r.Xc, r.Wc)
}

// modelOf returns the model whose vectors a column has, from the column VECTOR_model; "" without one.
func modelOf(call *metrics.Call, role, vector string) (string, error) {
	f, model := call.Inputs[role], ""
	column := vector + "_model"
	vectors := f.Vectors(vector)
	for i, name := range f.Texts(column) {
		switch {
		case name == "" || vectors != nil && vectors[i] == nil:
		case model == "":
			model = name
		case name != model:
			return "", tabular.BadRow(f, i, column, "%s has vectors of %s here and of %s above; they are not "+
				"comparable: embed all images with one model", vector, name, model)
		}
	}
	return model, nil
}

// jointOf returns the model of the vectors of images and words in one space.
func jointOf(call *metrics.Call, o ScoreOptions) (string, error) {
	images, err := modelOf(call, "in", o.Joint)
	if err != nil {
		return "", err
	}
	words, err := modelOf(call, "words", o.Text)
	if err == nil && images != "" && words != "" && images != words {
		err = fmt.Errorf("%s is of %s, %s of the words of %s: images and words need one model", o.Joint, images, o.Text,
			words)
	}
	return images, err
}

func computeScores(ctx context.Context, call *metrics.Call, o ScoreOptions) ([]scoreRow, error) {
	v, rule, err := o.options()
	if err != nil {
		return nil, err
	}
	in, err := readInput(call, o)
	if err != nil {
		return nil, err
	}
	vectorModel, err := modelOf(call, "in", o.Vector)
	if err != nil {
		return nil, err
	}
	jointModel := ""
	if call.Inputs["words"] == nil {
		o.Joint = ""
	} else if jointModel, err = jointOf(call, o); err != nil {
		return nil, err
	}
	var out []scoreRow
	var without []string // by model: the number of cells without images in the source language
	for i, set := range in.sets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		call.Report("CoCo-CroLa scores", i, len(in.sets))
		if v.Source, err = SourceOf(o.Source, in.model(set.Model)); err != nil {
			return nil, err
		}
		if v.Word = o.Word; v.Word == "source" {
			v.Word = v.Source
		}
		scores, err := ComputeConceptScores(set, v)
		if err != nil {
			return nil, in.locate(err, o, v.Word)
		}
		lacking := 0
		for _, s := range scores {
			if s.Used > 0 && s.Reference == 0 {
				lacking++
			}
			possessed, err := rule.Possessed(s.Xc.Value, s.Wc.Value)
			if err != nil {
				return nil, err
			}
			n := in.counts[set.Model][s.Cell]
			out = append(out, scoreRow{
				Model: set.Model, Language: s.Language, Concept: s.Concept, InverseDistinctiveness: s.Dt,
				Distinctiveness: metrics.Estimate{Value: 1 - s.Dt.Value, Low: 1 - s.Dt.High, High: 1 - s.Dt.Low},
				SelfConsistency: s.Sc, CrossConsistency: s.Xc, TextMatch: s.Wc, Possessed: possessed,
				Asked: n.asked, Refused: n.refused, Used: s.Used, Reference: s.Reference, Others: s.Others,
				Text: s.Text, Source: v.Source, Vector: o.Vector, Joint: o.Joint, Profile: o.Profile,
				VectorModel: vectorModel, JointModel: jointModel, Options: choices(v, rule),
				Interval: o.Label("images", s.Dt, s.Sc, s.Xc, s.Wc),
			})
		}
		if lacking > 0 {
			without = append(without, fmt.Sprintf("%s (%d cells, source language %s)", set.Model, lacking, v.Source))
		}
	}
	if len(without) > 0 {
		call.Notef("no cross-consistency for cells with images but none in the source language; by model: %s",
			strings.Join(without, ", "))
	}
	return out, nil
}
