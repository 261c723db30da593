// Package gomlxmodels names the models and holds the stages that use them, as operations on tables. It is light: a cell that
// imports it links no GoMLX. The graphs live in one folder per architecture (vit, …) and run in the backend.
package gomlxmodels

import (
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// EmbedOp is the operation of [Embed].
const EmbedOp = "embed"

// EmbedArgs are the arguments of an embed stage.
type EmbedArgs struct {
	Model     string `json:"model"` // a known name, or the absolute path of a folder
	Masking   string `json:"masking"`
	Fill      string `json:"fill"`
	PatchRule string `json:"patch_rule"`
	Precision string `json:"precision,omitempty"` // "" is Precisions[0]
	Vector    string `json:"vector,omitempty"`    // "" is Vectors[0]
	Text      string `json:"text,omitempty"`      // the column of texts, or of those that pictures are compared with; "" = pictures alone
	Pooling   string `json:"pooling,omitempty"`   // "" is Poolings[0]

	against bool // Text is what pictures are compared with
}

// EmbedOption is a setting of [Embed].
type EmbedOption func(*EmbedArgs) error

// The values the options of Embed take, the default first.
var (
	Maskings   = []string{"drop", "neginf", "zeroprob"}
	Fills      = []string{"none", "white", "black"}
	PatchRules = []string{"any", "resized"}
	Precisions = []string{"auto", "float32", "bfloat16"}
	Vectors    = []string{Full, ClipImage, ClipText, Blip2Image, Blip2Text, Text}
	Poolings   = []string{"auto", "projected", "pooled", "mean", "cls", "patches", "queries", "projected_first", projectedMax}
)

// The vectors a model gives, by the name of their column.
const (
	Full       = "full"        // of a picture; with masks, object_only and background_only too
	ClipImage  = "clip_image"  // of a picture, in CLIP's space
	ClipText   = "clip_text"   // of a text, in CLIP's space
	Blip2Image = "blip2_image" // of a picture, as BLIP-2 sees it
	Blip2Text  = "blip2_text"  // of a text, in the space that BLIP-2 projects pictures into
	Text       = "text"        // of a text
)

func choice(what string, values []string, to func(*EmbedArgs) *string) func(string) EmbedOption {
	return func(v string) EmbedOption {
		return func(a *EmbedArgs) error {
			if !slices.Contains(values, v) {
				return fmt.Errorf("%s %q: it is one of %s", what, v, strings.Join(values, ", "))
			}
			*to(a) = v
			return nil
		}
	}
}

// Masking says how patches are hidden from the model; see package vit: "drop" (default), "neginf", "zeroprob".
func Masking(how string) EmbedOption {
	return choice("masking", Maskings, func(a *EmbedArgs) *string { return &a.Masking })(how)
}

// Fill says what the pixels of hidden patches become: "none" (they stay, the default), "white", "black".
func Fill(colour string) EmbedOption {
	return choice("fill", Fills, func(a *EmbedArgs) *string { return &a.Fill })(colour)
}

// PatchRule says which patches are the object's: "any" (one object pixel is enough, the default) or "resized".
func PatchRule(rule string) EmbedOption {
	return choice("patch rule", PatchRules, func(a *EmbedArgs) *string { return &a.PatchRule })(rule)
}

// Precision says what the model computes in: "auto" (bfloat16 on an NVIDIA GPU, float32 elsewhere, the default), "float32", "bfloat16".
// Vectors are float32 in any case; bfloat16 moves them by about a hundredth of their scale.
func Precision(dtype string) EmbedOption {
	return choice("precision", Precisions, func(a *EmbedArgs) *string { return &a.Precision })(dtype)
}

// Vector says which vector is made: "full" (the default), "clip_image", "clip_text", "blip2_image", "blip2_text", "text". It must be one the
// model makes.
func Vector(name string) EmbedOption {
	return choice("vector", Vectors, func(a *EmbedArgs) *string { return &a.Vector })(name)
}

// Pooling says which of a model's outputs the vector is. For CLIP: "projected" (into the space of pictures and texts, the
// default) or "pooled" (the tower's own, before the projection). For an encoder of sentences: "auto", as its folder says (the
// default; mean where it says nothing), "mean", "cls" or "pooled". For a picture of BLIP-2: "pooled" (the tower's pooled output), "patches"
// (the mean of its patches), "queries" (the mean of the Q-Former's outputs), and with a Blip2ForImageTextRetrieval "projected" (the mean of
// the projected queries), "projected_first" (the first of them) or "projected_max" (that closest to the text of a column, see [Against]),
// all of length 1; by default projected, or pooled where the model projects nothing.
func Pooling(how string) EmbedOption {
	return choice("pooling", Poolings, func(a *EmbedArgs) *string { return &a.Pooling })(how)
}

// projectedMax is the pooling that compares pictures with texts.
const projectedMax = "projected_max"

// Against names the text column that [Pooling]("projected_max") compares each image with: the vector is that of the model's queries whose
// cosine to the vector of the row's text is the highest, so that the cosine of the two is BLIP-2's likeness of image and text.
func Against(column string) EmbedOption {
	return func(a *EmbedArgs) error {
		a.Text, a.against = column, true
		return nil
	}
}

// Embed adds the image's vectors.
//
//   - With [Vector]("full"), an encoder of pictures (ViT): full, the whole picture's; and where the table has a column mask,
//     object_only and background_only, from the same pass with the other patches hidden, and object_patches and
//     background_patches, their numbers. A component without patches (an image without a mask, too) has no vector.
//   - With Vector("clip_image"), a CLIP: clip_image.
//   - With Vector("blip2_image"), a BLIP-2 of whatever language model: blip2_image; see [Pooling].
//
// Vectors are as the model gives them: CLIP's are not normalised.
//
// model is a name that [Known] lists, a model on the hub that was pulled (OWNER/NAME or OWNER/NAME@REVISION), or a folder with
// config.json and model.safetensors as transformers or timm write them.
func Embed(model string, t datasets.Table, options ...EmbedOption) datasets.Table {
	return embed("Embed", model, t.Need("id", client.Text).Need("image", client.Picture), "", []string{Full, ClipImage, Blip2Image}, options)
}

// EmbedText adds the vectors of a text column: with [Vector]("text"), the default, those of an encoder of sentences, as text;
// with Vector("clip_text") those of a CLIP's text tower, as clip_text, with Vector("blip2_text") those of a Blip2ForImageTextRetrieval as blip2_text. Beside them stand four numbers a row, named after the
// vector: text_tokens (of the whole text, special tokens left out), text_words, text_unknown (tokens that stand for something
// the vocabulary lacks) and text_cut (tokens that did not fit into the model's context and were left out). They differ much
// between languages. An empty text has a vector like any other; a row whose outcome is refused, failed or skipped has none.
func EmbedText(model string, t datasets.Table, column string, options ...EmbedOption) datasets.Table {
	return embed("EmbedText", model, t.Need("id", client.Text).Need(column, client.Text), column, []string{Text, ClipText, Blip2Text}, options)
}

// embed makes the plan; vectors are those it may make, the default first.
func embed(verb, model string, t datasets.Table, text string, vectors []string, options []EmbedOption) datasets.Table {
	args := EmbedArgs{Masking: Maskings[0], Fill: Fills[0], PatchRule: PatchRules[0], Text: text}
	for _, o := range options {
		if err := o(&args); err != nil {
			return t.Fail(fmt.Errorf("%s: %w", verb, err))
		}
	}
	vector := args.Vector
	if vector == "" {
		vector = vectors[0]
	}
	if !slices.Contains(vectors, vector) {
		return t.Fail(fmt.Errorf("%s gives no vector %q: it gives %s", verb, vector, strings.Join(vectors, ", ")))
	}
	switch compares := vector == Blip2Image && args.Pooling == projectedMax; {
	case compares && !args.against:
		return t.Fail(fmt.Errorf("%s: pooling projected_max compares each image with a text: name the column, with Against or --text", verb))
	case args.against && !compares:
		return t.Fail(fmt.Errorf("%s: a column to compare with (%s) is for the vector blip2_image with pooling projected_max", verb, args.Text))
	case compares:
		t = t.Need(args.Text, client.Text)
	}
	if args.Vector = vector; vector == Full {
		args.Vector = "" // a plan says nothing of what it leaves at its default
	}
	var err error
	if args.Model, err = resolve(model); err != nil {
		return t.Fail(fmt.Errorf("%s: %w", verb, err))
	}
	masked := t.IsOpen() || slices.ContainsFunc(t.Columns(), func(c client.ColumnSpec) bool { return c.Name == "mask" })
	return t.Derive(EmbedOp, args, EmbedColumns(vector, masked)...)
}

// EmbedColumns are the columns that an embedding adds, by its vector ("" = full) and whether the table has masks.
func EmbedColumns(vector string, masked bool) []client.ColumnSpec {
	switch {
	case vector == ClipImage, vector == Blip2Image:
		return datasets.Columns(vector + ":vector")
	case vector == ClipText, vector == Blip2Text, vector == Text:
		return datasets.Columns(vector+":vector", vector+"_tokens:number", vector+"_words:number", vector+"_unknown:number", vector+"_cut:number")
	case masked:
		return datasets.Columns("full:vector", "object_only:vector", "background_only:vector", "object_patches:number", "background_patches:number")
	}
	return datasets.Columns("full:vector")
}
