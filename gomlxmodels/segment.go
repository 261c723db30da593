package gomlxmodels

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// SegmentOp is the operation of [Segment] in a plan.
const SegmentOp = "segment"

// The profiles of a detector and a segmenter: the implementation whose numbers are computed.
const (
	ProfileTransformers = "transformers"
	ProfileLangSAM2024  = "langsam-2024" // LangSAM in spring 2024, as Decomposed-DIG used it
)

// NoSeparator as [SegmentOptions].Separator makes each cell one object, whatever it contains.
const NoSeparator = "\x00"

// The texts that [SegmentOptions].Presence compares with an image: one for each object, and a neutral one.
const (
	PresencePrompt = "a photo of a %s"
	NeutralPrompt  = "a photo"
)

// SegmentOptions are the options of [Segment].
type SegmentOptions struct {
	// Text is the text column that names what to find; default "object".
	Text string `json:"object" flag:"object" default:"object" help:"the text COLUMN that names the object in each image"`

	// Template is the prompt template, with %s for the object's name, for example "a photo of a %s"; default "%s".
	Template string `json:"prompt" flag:"prompt" default:"%s" help:"the prompt template, with %s for the object's name"`

	// Separator separates several objects in one cell, whose masks are united; default "|". With [NoSeparator] a
	// cell is one object.
	Separator string `json:"separator" default:"|" none:"\x00" help:"the text between several objects in a cell, whose masks are united"`

	// Threshold is the lowest probability of a pixel of the object, above 0 and below 1; default 0.5.
	Threshold float64 `json:"threshold" default:"0.5" for:"clipseg" min:">0" max:"<1" help:"the lowest probability of a pixel of the object"`

	// Components selects which connected regions of a mask remain: "all" (default), "largest", or "above AREA":
	// those of at least this share of the image, for example "above 0.001". Pixels that touch at a corner are
	// connected.
	Components string `json:"components" group:"Rare options" default:"all" help:"which connected regions remain: all, largest, \"above AREA\" (a share of the image)"`

	// Presence is a CLIP model; default none. With it the number column presence is added: the probability that the
	// object appears anywhere in the image, whether or not a mask was found. It is the softmax of the image's logits
	// over "a photo of a OBJECT" (for each object) and "a photo", without the share of the latter: 0.5 for one
	// object means that its name describes the image no better than "a photo".
	Presence string `json:"presence,omitempty" group:"Rare options" help:"a CLIP (NAME or folder); adds the column presence: the probability that the object appears anywhere in the image"`

	// Detector is the model that finds boxes, which the segmenter turns into masks: a GroundingDINO or an OWLv2.
	// Required for a SAM or SAM 2.1. With the name of a pair ("langsam") it replaces the pair's.
	Detector string `json:"detector,omitempty" group:"A detector with a segmenter" for:"detector" help:"the model that finds boxes, of which a SAM makes masks: a GroundingDINO or OWLv2, NAME or folder; default the pair's"`

	// Segmenter replaces the segmenter of a pair ("langsam").
	Segmenter string `json:"-" flag:"segmenter" group:"A detector with a segmenter" for:"pair" help:"a SAM or SAM 2.1, NAME or folder, in place of the pair's"`

	// Profile is the implementation whose numbers are computed: "transformers" (default) or "langsam-2024", LangSAM in
	// spring 2024, which Decomposed-DIG used ("langsam" selects it) and which is a GroundingDINO with a SAM. They
	// differ in the sizes of images, resampling, thresholds and two numerical constants, not in weights.
	Profile string `json:"profile,omitempty" group:"A detector with a segmenter" for:"detector" values:"transformers,langsam-2024" help:"the implementation whose numbers are computed; default transformers, for langsam langsam-2024"`

	// BoxThreshold is the score a box must exceed; default 0.25, in the profile "langsam-2024" 0.3, for an OWLv2 0.1.
	BoxThreshold float64 `json:"box_threshold,omitempty" group:"A detector with a segmenter" for:"detector" min:">0" max:"<1" help:"the score a box must exceed; default 0.25, langsam-2024 0.3, OWLv2 0.1"`

	// TextThreshold is the probability that a word must exceed to be part of a box's label, of a GroundingDINO;
	// default 0.25. It changes labels, neither boxes nor masks.
	TextThreshold float64 `json:"text_threshold,omitempty" group:"A detector with a segmenter" for:"detector" min:">0" max:"<1" help:"the probability a word must exceed to be part of a box's label; default 0.25"`

	// Boxes selects what an object's mask is made of: "union" (default) of the masks of all its boxes, the mask of the
	// "best" box, that with the highest score, or the "largest" mask.
	Boxes string `json:"boxes,omitempty" group:"A detector with a segmenter" for:"detector" values:"union,best,largest" help:"what an object's mask is made of: all its boxes' masks, that of the best box, or the largest; default union"`

	// Precision is the number type of the computation: "float32" (default) or "bfloat16", which is faster on a GPU and
	// changes masks a little (docs/benchmarks.md). A GroundingDINO and Presence compute in float32.
	Precision string `json:"precision,omitempty" group:"Rare options" for:"clipseg,detector" zero:"float32" values:"float32,bfloat16" help:"number type of the computation; bfloat16 is faster on a GPU and changes masks a little"`

	// Exec are the options of a program (a model named exec:PATH).
	Exec ExecOptions `json:"exec,omitzero" group:"Programs (exec:PATH)" for:"exec"`
}

// SegmentArgs are the arguments of a segment stage in a plan. A threshold of 0 is the detector's own.
type SegmentArgs struct {
	Model string `json:"model"` // a known name, a name on the hub, or the absolute path of a folder
	SegmentOptions
}

// Segment finds the object that a text column names in each image ("cat", or "cat|dog" for both) and adds
//
//   - mask, at the image's size; of several objects the union;
//   - mask_score: of a CLIPSeg, the mean probability of the mask's pixels; of a SAM, the IoU it predicts, the mean over
//     the boxes by the area of their masks, which may be slightly outside 0 to 1;
//   - mask_area, the mask's share of the image;
//   - mask_components, the number of connected regions before Components removes any;
//   - presence, if [SegmentOptions].Presence names a model;
//   - outcome and reason: "ok", or "unmasked" with the reason if nothing is found. Rows that are refused, failed or
//     skipped already remain so; without an image such a row has no mask and no numbers. An image whose shape the
//     detector cannot take is "failed".
//
// Columns of these names are replaced. The table needs the columns id and image and the text column.
//
// The model is one of three kinds; see the package comment for how to name it. A CLIPSegForImageSegmentation with its
// tokenizer makes a map of logits, which is resized to the image bilinearly; the mask is where the probability reaches
// Threshold, and of several objects each pixel has the highest logit. A text longer than the model's context is
// truncated, as by the model's own processor.
//
// A SAM (SamModel, Sam2Model) needs a Detector (GroundingDinoForObjectDetection, Owlv2ForObjectDetection): the detector
// finds boxes of each object by itself, and the segmenter makes a mask of each box. [Pairs] have a name of their own:
// "langsam" is that of Decomposed-DIG, sam-vit-huge with grounding-dino-base in the profile "langsam-2024". Then there
// are also
//
//   - boxes, the boxes above the threshold in a JSON array, in descending order of scores for each object: object,
//     label (the words the box belongs to), score, box (x0, y0, x1, y1 in pixels of the upright image) and iou;
//   - box_score, the highest score of any box, whether or not it exceeds the threshold;
//   - stability_score, the pixels whose logit is above 1 divided by those above −1, averaged as mask_score: near 1
//     for a mask with a clear border;
//   - touches_border, 1 if the mask reaches the border of the image, else 0.
//
// A program ("exec:PATH", see docs/adapters.md) makes any number of masks of each object. mask is their union,
// mask_score the mean of their scores by area, null if one has none, and boxes lists those with a box, without iou. A
// row that the program refuses or fails on has that outcome.
func Segment(model string, images datasets.Table, options ...SegmentOptions) datasets.Table {
	fail := func(err error) datasets.Table {
		return datasets.Extend(images).Fail(fmt.Errorf("Segment: %w", err)).Table
	}
	o, err := table.One(options)
	if p, ok := FindPair(model); ok {
		model, o.Segmenter = cmp.Or(o.Segmenter, p.Segmenter), ""
		o.Detector, o.Profile = cmp.Or(o.Detector, p.Detector), cmp.Or(o.Profile, p.Profile)
	}
	args := SegmentArgs{model, o}
	if err = invalid(err, args.Check()); err != nil {
		return fail(err)
	}
	if args.Model, err = resolveModel(model, o.Exec); err != nil {
		return fail(err)
	}
	for _, m := range []struct {
		role string
		name *string
	}{{"detector", &args.Detector}, {"presence", &args.Presence}} {
		if *m.name == "" {
			continue
		}
		if *m.name, err = resolve(*m.name); err != nil {
			return fail(fmt.Errorf("%s: %w", m.role, err))
		}
	}
	masked := datasets.Extend(images).Need("id", table.KindText).Need("image", table.KindImage).Need(args.Text,
		table.KindText).
		Derive(SegmentOp, args, args.Columns()...).Table
	return execSecrets(masked, model, o.Exec)
}

// Check completes and validates the arguments; [NoSeparator] becomes "".
func (a *SegmentArgs) Check() error {
	of := kindOf(a.Model, "clipseg")
	if of == "clipseg" && a.Detector != "" {
		of, a.Profile, a.Boxes = "detector", cmp.Or(a.Profile, ProfileTransformers), cmp.Or(a.Boxes, "union")
	}
	if err := check(&a.SegmentOptions, of); err != nil {
		return err
	}
	if strings.Count(a.Template, "%") != 1 || !strings.Contains(a.Template, "%s") {
		return fmt.Errorf("template %q: must contain %%s once, for the object's name, and no other %%", a.Template)
	}
	_, _, err := a.Keep()
	return err
}

// Keep parses Components: only the largest region, or all of at least an area (a share of the image; 0 = all).
func (o *SegmentOptions) Keep() (largest bool, area float64, err error) {
	switch o.Components {
	case "all":
		return false, 0, nil
	case "largest":
		return true, 0, nil
	}
	number, above := strings.CutPrefix(o.Components, "above ")
	area, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !above || err != nil || !(area > 0 && area < 1) {
		return false, 0, fmt.Errorf(
			`components %q: must be "all", "largest" or "above AREA", a share of the image between 0 and 1`,
			o.Components)
	}
	return false, area, nil
}

// Objects returns the names in a cell, split at the separator, without surrounding white space and duplicates.
func (o *SegmentOptions) Objects(cell string) []string {
	names := []string{cell}
	if o.Separator != "" {
		names = strings.Split(cell, o.Separator)
	}
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// ListsBoxes reports whether there is a column boxes.
func (a *SegmentArgs) ListsBoxes() bool { return a.Detector != "" || strings.HasPrefix(a.Model, Exec) }

// Columns returns the columns that the segmentation adds or replaces.
func (a *SegmentArgs) Columns() []table.ColumnSpec {
	columns := datasets.Columns("mask:mask", "mask_score:number", "mask_area:number", "mask_components:number",
		"outcome:text", "reason:text")
	if a.ListsBoxes() {
		columns = append(columns, datasets.Columns("boxes:text")...)
	}
	if a.Detector != "" {
		columns = append(columns, datasets.Columns("box_score:number", "stability_score:number",
			"touches_border:number")...)
	}
	if a.Presence != "" {
		columns = append(columns, datasets.Columns("presence:number")...)
	}
	return columns
}
