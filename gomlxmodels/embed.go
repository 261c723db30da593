package gomlxmodels

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// EmbedOp is the operation of [Embed] and [EmbedText] in a plan.
const EmbedOp = "embed"

// The vectors a model makes, by the name of their column.
const (
	Full      = "full"       // of an image; with masks, object_only and background_only too
	Logits    = "logits"     // of an image: its logits of the classes of an Inception v3
	ClipImage = "clip_image" // of an image, in CLIP's shared space
	ClipText  = "clip_text"  // of a text, in CLIP's shared space

	ClipImagePooled = "clip_image_pooled" // of an image, before CLIP's projection

	Blip2Image = "blip2_image" // of an image, by BLIP-2
	Blip2Text  = "blip2_text"  // of a text, in the space into which BLIP-2 projects images
	Text       = "text"        // of a text
)

var textVectors = []string{Text, ClipText, Blip2Text}

// projectedMax is the pooling that compares images with texts.
const projectedMax = "projected_max"

// EmbedOptions are the options of [Embed].
type EmbedOptions struct {
	// Masking is how a ViT hides patches for object_only and background_only: "drop" (default; hidden patches are
	// removed), "neginf" (attention scores of −∞) or "zeroprob" (attention weights set to 0 after the softmax).
	Masking string `json:"masking" default:"drop" for:"full" values:"drop,neginf,zeroprob" help:"how patches are hidden"`

	// Fill is what the pixels of hidden patches become: "none" (default; they are not changed), "white" or "black".
	Fill string `json:"fill" default:"none" for:"full" values:"none,white,black" help:"what hidden pixels become"`

	// PatchRule decides which patches belong to the object: "any" (default; at least one object pixel) or "resized"
	// (the mask is resized to the patch grid).
	PatchRule string `json:"patch_rule" flag:"patches" default:"any" for:"full" values:"any,resized" help:"which patches belong to the object"`

	// Preprocess is how images are prepared: "model" (default; as the model's folder says); of a ViT also
	// "public-code", as in Decomposed-DIG's public code: the middle square, resized bilinearly, with the mean and
	// deviation of ImageNet; of a CLIP also "cmmd", as in CMMD's public code: stretched to a square in floating point,
	// bicubic without antialiasing.
	Preprocess string `json:"preprocess,omitempty" group:"Rare options" zero:"model" for:"full,clip" values:"model,public-code,cmmd" help:"how images are prepared: as the model's folder says; of a ViT also as Decomposed-DIG's code does (the middle square, ImageNet's mean and deviation); of a CLIP also as CMMD's code does (stretched, bicubic without antialiasing)"`

	// Precision is the number type of the computation: "auto" (default; bfloat16 on an NVIDIA GPU, else float32),
	// "float32" or "bfloat16". bfloat16 changes a vector by about a hundredth of its scale.
	Precision string `json:"precision,omitempty" group:"Rare options" default:"auto" for:"encoder" values:"auto,float32,bfloat16" help:"number type of the computation; auto is bfloat16 on an NVIDIA GPU, else float32"`

	// Vector is the vector to make: "full" (default), "logits", "clip_image", "clip_image_pooled" or "blip2_image". The
	// model must make it.
	Vector string `json:"vector,omitempty" zero:"full" values:"full,logits,clip_image,clip_image_pooled,blip2_image" help:"the vector to make"`

	// Against is the text column that Pooling "projected_max" compares each image with. The vector is that of the
	// query with the highest cosine similarity to the text's vector, so that the cosine similarity of the two is
	// BLIP-2's image-text similarity.
	Against string `json:"text,omitempty" for:"compares" help:"the text column that each image is compared with"`

	// Pooling selects the output of the model that becomes the vector. Default "auto": the usual one of the model.
	//   - CLIP: "projected" (default; in the space of images and texts) or "pooled" (before the projection).
	//   - BLIP-2: "pooled" (the vision tower's pooled output), "patches" (mean of its patch tokens), "queries" (mean
	//     of the Q-Former's outputs); for a Blip2ForImageTextRetrieval also "projected" (default; mean of the
	//     projected queries), "projected_first" (the first of them) and "projected_max" (the one closest to a text,
	//     see Against), all of unit length.
	//   - ViT: the class token; no choice.
	Pooling string `json:"pooling,omitempty" group:"Rare options" default:"auto" for:"clip,blip2" values:"auto,projected,pooled,mean,cls,patches,queries,projected_first,projected_max" help:"which output the vector is: of a CLIP projected, pooled; of a sentence encoder mean, cls, pooled; of BLIP-2's images the others"`

	// Exec are the options of a program (a model named exec:PATH), which embeds whole images.
	Exec ExecOptions `json:"exec,omitzero" group:"Programs (exec:PATH)" for:"exec"`
}

// EmbedTextOptions are the options of [EmbedText].
type EmbedTextOptions struct {
	// Vector is the vector to make: "text" (default), "clip_text" or "blip2_text". The model must make it.
	Vector string `json:"vector" default:"text" values:"text,clip_text,blip2_text" help:"the vector to make"`

	// Pooling selects the output of the model that becomes the vector. Default "auto": the usual one of the model.
	//   - Sentence encoder: "auto" (as its folder says, else the mean), "mean", "cls" or "pooled".
	//   - CLIP: "projected" (default; in the space of images and texts) or "pooled" (before the projection).
	//   - BLIP-2: "projected".
	Pooling string `json:"pooling" default:"auto" for:"encoder" values:"auto,projected,pooled,mean,cls" help:"which output the vector is"`

	// Precision is the number type of the computation: "auto" (default; bfloat16 on an NVIDIA GPU, else float32),
	// "float32" or "bfloat16".
	Precision string `json:"precision" default:"auto" for:"encoder" values:"auto,float32,bfloat16" help:"number type of the computation"`

	// Exec are the options of a program (a model named exec:PATH).
	Exec ExecOptions `json:"exec,omitzero" for:"exec"`
}

// EmbedArgs are the arguments of an embed stage in a plan. The text column Against is that of [EmbedText] too; "" =
// images alone.
type EmbedArgs struct {
	Model string `json:"model"` // a known name, a name on the hub, or the absolute path of a folder
	EmbedOptions
}

// Embed adds vectors of the images. Which columns are added depends on [EmbedOptions].Vector:
//
//   - "full", of a vision transformer (ViT, DINOv2, SigLIP, CLIP): full, the vector of the whole image, of a CLIP or
//     SigLIP that of clip_image. Where the table has a column mask, also object_only and background_only, computed from
//     the same image with the other patches hidden, and object_patches and background_patches, the number of patches of
//     each. A vector for which no patch is left (an image without a mask, for example) is null. The vector of a SigLIP
//     is made by its pooling head, which sees the patches that are not hidden. Of an Inception v3, full alone; a table
//     with masks is an error.
//   - "logits", of an Inception v3: logits, of its classes, whose softmax are the probabilities of the Inception score.
//     Those of the network of the score have no bias, as its definition says.
//   - "clip_image", of a CLIP or SigLIP: clip_image, the projected vector, and clip_image_model, the name of the model.
//   - "clip_image_pooled", of a CLIP: clip_image_pooled, the vector before the projection, and clip_image_pooled_model.
//     Neither is normalized. Embed twice for both columns.
//   - "blip2_image", of a BLIP-2 with any language model: blip2_image.
//
// A row without an image whose outcome is refused, failed or skipped has no vector. The table needs the columns id and
// image. See the package comment for model.
func Embed(model string, images datasets.Table, options ...EmbedOptions) datasets.Table {
	fail := func(err error) datasets.Table {
		return datasets.Extend(images).Fail(fmt.Errorf("Embed: %w", err)).Table
	}
	o, err := only(options, func(o *EmbedOptions) []string {
		if strings.HasPrefix(model, Exec) {
			return []string{"exec"}
		}
		vector, _, _ := strings.Cut(cmp.Or(o.Vector, Full), "_") // full, logits, clip or blip2
		of := []string{vector, "encoder"}
		if o.Vector == Blip2Image && o.Pooling == projectedMax {
			of = append(of, "compares")
		}
		return of
	})
	switch {
	case err != nil:
	case o.Vector == ClipImagePooled && o.Pooling != "auto" && o.Pooling != "pooled":
		err = fmt.Errorf("vector %s with pooling %s: that vector is pooled; use vector %s", o.Vector, o.Pooling,
			ClipImage)
	case o.Preprocess != "" && (o.Preprocess == "cmmd") != strings.HasPrefix(o.Vector, ClipImage):
		problem := "is for a ViT (the vector full), not for a CLIP, unless it is cmmd. Fix: leave it out"
		if o.Preprocess == "cmmd" {
			problem = "cmmd is for a CLIP (the vector clip_image), not for a ViT (the vector full). Fix: leave it out"
		}
		err = &operation.Invalid{Name: "Preprocess", Problem: problem, Option: &operation.Option{Flag: "preprocess"}}
	case o.Pooling == projectedMax && o.Against == "":
		err = fmt.Errorf("pooling %s compares each image with a text: name the text column in Against (--text)",
			projectedMax)
	}
	if err != nil {
		return fail(invalid(err))
	}
	images = datasets.Extend(images).Need("id", table.KindText).Need("image", table.KindImage).Table
	if o.Against != "" {
		images = datasets.Extend(images).Need(o.Against, table.KindText).Table
	}
	return embed(fail, model, images, o)
}

// EmbedText adds vectors of a text column. Which column is added depends on [EmbedTextOptions].Vector: "text", of a
// sentence encoder; "clip_text", of the text tower of a CLIP or SigLIP, with its name in clip_text_model; "blip2_text",
// of a Blip2ForImageTextRetrieval.
//
// Four numbers per text are added too, named after the vector. They vary widely between languages:
//
//   - text_tokens: tokens of the whole text, without special tokens;
//   - text_words: the number of its words;
//   - text_unknown: tokens that replace something the vocabulary lacks;
//   - text_cut: tokens that exceeded the model's context and were truncated.
//
// An empty text has a vector like any other; a row whose outcome is refused, failed or skipped has none. The table
// needs the columns id and column. See the package comment for model.
func EmbedText(model string, t datasets.Table, column string, options ...EmbedTextOptions) datasets.Table {
	fail := func(err error) datasets.Table { return datasets.Extend(t).Fail(fmt.Errorf("EmbedText: %w", err)).Table }
	o, err := only(options, func(*EmbedTextOptions) []string { return []string{kindOf(model, "encoder")} })
	if err != nil {
		return fail(err)
	}
	var all EmbedOptions // with the defaults of images, which a plan has too
	if err := check(&all); err != nil {
		return fail(err)
	}
	all.Vector, all.Against, all.Pooling, all.Precision, all.Exec = o.Vector, column, o.Pooling, o.Precision, o.Exec
	return embed(fail, model, datasets.Extend(t).Need("id", table.KindText).Need(column, table.KindText).Table, all)
}

// embed returns the plan.
func embed(fail func(error) datasets.Table, model string, t datasets.Table, o EmbedOptions) datasets.Table {
	args := EmbedArgs{model, o}
	var err error
	if args.Model, err = resolveModel(model, o.Exec); err != nil {
		return fail(err)
	}
	masked := datasets.Extend(t).IsOpen() || slices.ContainsFunc(t.Columns(),
		func(c table.ColumnSpec) bool { return c.Name == "mask" })
	out := execSecrets(datasets.Extend(t).Derive(EmbedOp, args, EmbedColumns(args.Vector, masked)...).Table, model,
		args.Exec)
	if slices.Contains([]string{ClipImage, ClipImagePooled, ClipText}, args.Vector) {
		out = out.With(args.Vector+ModelSuffix, checkpoint(args.Model))
	}
	return out
}

// ModelSuffix ends the name of the text column with the name of the CLIP whose vectors a column has: vectors of two
// CLIPs are not comparable.
const ModelSuffix = "_model"

// checkpoint returns the name of a model for a table: that of a folder or program without its path.
func checkpoint(model string) string {
	kind, path, program := strings.Cut(model, ":")
	if !program || kind+":" != Exec {
		kind, path = "", model
	} else {
		kind += ":"
	}
	if filepath.IsAbs(path) {
		path = filepath.Base(path)
	}
	return kind + path
}

// EmbedColumns returns the columns that an embedding adds, by its vector ("" = full) and whether the table has masks.
func EmbedColumns(vector string, masked bool) []table.ColumnSpec {
	switch {
	case slices.Contains([]string{Logits, ClipImage, ClipImagePooled, Blip2Image}, vector):
		return datasets.Columns(vector + ":vector")
	case slices.Contains(textVectors, vector):
		return datasets.Columns(vector+":vector", vector+"_tokens:number", vector+"_words:number",
			vector+"_unknown:number", vector+"_cut:number")
	case masked:
		return datasets.Columns("full:vector", "object_only:vector", "background_only:vector", "object_patches:number",
			"background_patches:number")
	}
	return datasets.Columns("full:vector")
}
