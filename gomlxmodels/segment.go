package gomlxmodels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// SegmentOp is the operation of [Segment] in a plan.
const SegmentOp = "segment"

// SegmentArgs are the arguments of a segment stage in a plan.
type SegmentArgs struct {
	Model      string  `json:"model"`  // a known name, a name on the hub, or the absolute path of a folder
	Object     string  `json:"object"` // the text column that names the objects
	Prompt     string  `json:"prompt"` // the template; it contains one %s
	Separator  string  `json:"separator"`
	Threshold  float64 `json:"threshold"`
	Components string  `json:"components"`         // see [SegmentArgs.Keep]
	Presence   string  `json:"presence,omitempty"` // a CLIP; "" = no column presence

	// The rest is for a detector and a segmenter, the model. A threshold of 0 is the detector's own.
	Detector      string  `json:"detector,omitempty"` // "" = the model is a CLIPSeg
	Profile       string  `json:"profile,omitempty"`
	BoxThreshold  float64 `json:"box_threshold,omitempty"`
	TextThreshold float64 `json:"text_threshold,omitempty"`
	Boxes         string  `json:"boxes,omitempty"`

	Exec ExecOptions `json:"exec,omitzero"`
}

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
	Text string

	// Separator separates several objects in one cell, whose masks are united; default "|". With [NoSeparator] a
	// cell is one object.
	Separator string

	// Template is the prompt template, with %s for the object's name, for example "a photo of a %s"; default "%s".
	Template string

	// Threshold is the lowest probability of a pixel of the object, above 0 and below 1; default 0.5.
	Threshold float64

	// Components selects which connected regions of a mask remain: "all" (default), "largest", or "above AREA":
	// those of at least this share of the image, for example "above 0.001". Pixels that touch at a corner are
	// connected.
	Components string

	// Presence is a CLIP model; default none. With it the number column presence is added: the probability that the
	// object appears anywhere in the image, whether or not a mask was found. It is the softmax of the image's logits
	// over "a photo of a OBJECT" (for each object) and "a photo", without the share of the latter: 0.5 for one
	// object means that its name describes the image no better than "a photo".
	Presence string

	// Detector is the model that finds boxes, which the segmenter turns into masks: a GroundingDINO or an OWLv2.
	// Required for a SAM or SAM 2.1; the other options below need it too. With the name of a pair ("langsam") it
	// replaces the pair's.
	Detector string

	// Segmenter replaces the segmenter of a pair ("langsam").
	Segmenter string

	// Profile is the implementation whose numbers are computed: "transformers" (default) or "langsam-2024", LangSAM in
	// spring 2024, which Decomposed-DIG used ("langsam" selects it) and which is a GroundingDINO with a SAM. They
	// differ in the sizes of images, resampling, thresholds and two numerical constants, not in weights.
	Profile string

	// BoxThreshold is the score a box must exceed; default 0.25, in the profile "langsam-2024" 0.3, for an OWLv2 0.1.
	BoxThreshold float64

	// TextThreshold is the probability that a word must exceed to be part of a box's label, of a GroundingDINO;
	// default 0.25. It changes labels, neither boxes nor masks.
	TextThreshold float64

	// Boxes selects what an object's mask is made of: "union" (default) of the masks of all its boxes, the mask of the
	// "best" box, that with the highest score, or the "largest" mask.
	Boxes string

	// Exec are the options of a program (a model named exec:PATH), for which of the others only Text, Separator,
	// Template, Components and Presence are.
	Exec ExecOptions
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
// Columns of these names are replaced. The table needs the columns id and image and the text column. Computation is in
// float32 on every device.
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
	fail := func(err error) datasets.Table { return images.Fail(fmt.Errorf("Segment: %w", err)) }
	o, err := only(options)
	args := SegmentArgs{Object: cmp.Or(o.Text, "object"), Prompt: cmp.Or(o.Template, "%s"),
		Separator: cmp.Or(o.Separator, "|"), Threshold: cmp.Or(o.Threshold, 0.5),
		Components: cmp.Or(o.Components, "all"), Detector: o.Detector, Profile: o.Profile, BoxThreshold: o.BoxThreshold,
		TextThreshold: o.TextThreshold, Boxes: o.Boxes, Exec: o.Exec}
	if p, ok := FindPair(model); ok {
		model, args.Detector, args.Profile = cmp.Or(o.Segmenter, p.Segmenter), cmp.Or(o.Detector, p.Detector),
			cmp.Or(o.Profile, p.Profile)
	} else if o.Segmenter != "" {
		err = invalid(err, fmt.Errorf("segmenter %q replaces that of a pair (%s); %q is none: give one of the two",
			o.Segmenter, strings.Join(pairNames(), ", "), model))
	}
	if args.Detector != "" {
		args.Profile, args.Boxes = cmp.Or(args.Profile, ProfileTransformers), cmp.Or(args.Boxes, "union")
	}
	if o.Separator == NoSeparator {
		args.Separator = ""
	}
	args.Model = model
	if err = invalid(err, args.Check()); err != nil {
		return fail(err)
	}
	if args.Model, err = resolveExec(model, o.Exec); err != nil {
		return fail(err)
	}
	for _, m := range []struct {
		role, name string
		to         *string
	}{
		{"detector: ", args.Detector, &args.Detector},
		{"presence: ", o.Presence, &args.Presence},
	} {
		if m.name == "" {
			continue
		}
		if *m.to, err = resolve(m.name); err != nil {
			return fail(fmt.Errorf("%s%w", m.role, err))
		}
	}
	masked := images.Need("id", table.KindText).Need("image", table.KindImage).Need(args.Object, table.KindText).
		Derive(SegmentOp, args, args.Columns()...)
	return execSecrets(masked, model, o.Exec)
}

// Check reports an invalid argument.
func (a *SegmentArgs) Check() error {
	switch {
	case strings.HasPrefix(a.Model, Exec) && (a.Threshold != 0.5 || a.Detector != ""):
		return errors.New("a program takes no threshold and no detector; pass it arguments of its own (--exec-arg)")
	case a.Detector == "" && (a.Profile != "" || a.Boxes != "" || a.BoxThreshold != 0 || a.TextThreshold != 0):
		return errors.New("profile, boxes and their thresholds need a detector, the model that finds the boxes " +
			"(grounding-dino-base, or langsam for a whole pair)")
	case a.Detector == "":
	case a.Threshold != 0.5:
		return errors.New("threshold is for a CLIPSeg: the mask of a box is where SAM's logit is above 0")
	case !slices.Contains([]string{ProfileTransformers, ProfileLangSAM2024}, a.Profile):
		return fmt.Errorf("profile %q: must be %s or %s", a.Profile, ProfileTransformers, ProfileLangSAM2024)
	case !slices.Contains([]string{"union", "best", "largest"}, a.Boxes):
		return fmt.Errorf("boxes %q: must be union, best or largest", a.Boxes)
	case !(a.BoxThreshold >= 0 && a.BoxThreshold < 1) || !(a.TextThreshold >= 0 && a.TextThreshold < 1):
		return fmt.Errorf("box threshold %v, text threshold %v: must be above 0 and below 1", a.BoxThreshold,
			a.TextThreshold)
	}
	if !(a.Threshold > 0 && a.Threshold < 1) {
		return fmt.Errorf("threshold %v: must be above 0 and below 1", a.Threshold)
	}
	if strings.Count(a.Prompt, "%") != 1 || !strings.Contains(a.Prompt, "%s") {
		return fmt.Errorf("template %q: must contain %%s once, for the object's name, and no other %%", a.Prompt)
	}
	_, _, err := a.Keep()
	return err
}

// Keep parses Components: only the largest region, or all of at least an area (a share of the image; 0 = all).
func (a *SegmentArgs) Keep() (largest bool, area float64, err error) {
	switch a.Components {
	case "all":
		return false, 0, nil
	case "largest":
		return true, 0, nil
	}
	number, above := strings.CutPrefix(a.Components, "above ")
	area, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !above || err != nil || !(area > 0 && area < 1) {
		return false, 0, fmt.Errorf(
			`components %q: must be "all", "largest" or "above AREA", a share of the image between 0 and 1`,
			a.Components)
	}
	return false, area, nil
}

// Objects returns the names in a cell, split at the separator, without surrounding white space and duplicates.
func (a *SegmentArgs) Objects(cell string) []string {
	names := []string{cell}
	if a.Separator != "" {
		names = strings.Split(cell, a.Separator)
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
