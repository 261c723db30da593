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

// SegmentArgs are the arguments of a segment stage in a plan.
type SegmentArgs struct {
	Model      string  `json:"model"`  // a known name, a name on the hub, or the absolute path of a folder
	Object     string  `json:"object"` // the text column that names the objects
	Prompt     string  `json:"prompt"` // the template; it contains one %s
	Separator  string  `json:"separator"`
	Threshold  float64 `json:"threshold"`
	Components string  `json:"components"`         // see [SegmentArgs.Keep]
	Presence   string  `json:"presence,omitempty"` // a CLIP; "" = no column presence
}

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
}

// Segment finds the object that a text column names in each image ("cat", or "cat|dog" for both) and adds
//
//   - mask, at the image's size: the pixels whose probability reaches the threshold. The model's logits are resized
//     to the image bilinearly before the threshold is applied; of several objects each pixel has the highest logit;
//   - mask_score, the mean probability of the mask's pixels;
//   - mask_area, the mask's share of the image;
//   - mask_components, the number of connected regions that reach the threshold, before Components removes any;
//   - presence, if [SegmentOptions].Presence names a model;
//   - outcome and reason: "ok", or "unmasked" with the reason if nothing is found. Rows that are refused, failed or
//     skipped already remain so; without an image such a row has no mask and no numbers.
//
// Columns of these names are replaced. A text longer than the model's context is truncated, as by the model's own
// processor. Computation is in float32 on every device. The table needs the columns id and image and the text column.
//
// The model is a CLIPSegForImageSegmentation with its tokenizer; see the package comment for how to name it.
func Segment(model string, images datasets.Table, options ...SegmentOptions) datasets.Table {
	fail := func(err error) datasets.Table { return images.Fail(fmt.Errorf("Segment: %w", err)) }
	o, err := only(options)
	args := SegmentArgs{Object: cmp.Or(o.Text, "object"), Prompt: cmp.Or(o.Template, "%s"),
		Separator: cmp.Or(o.Separator, "|"), Threshold: cmp.Or(o.Threshold, 0.5),
		Components: cmp.Or(o.Components, "all")}
	if o.Separator == NoSeparator {
		args.Separator = ""
	}
	if err = invalid(err, args.check()); err != nil {
		return fail(err)
	}
	if args.Model, err = resolve(model); err != nil {
		return fail(err)
	}
	if o.Presence != "" {
		if args.Presence, err = resolve(o.Presence); err != nil {
			return fail(fmt.Errorf("presence: %w", err))
		}
	}
	return images.Need("id", table.KindText).Need("image", table.KindImage).Need(args.Object, table.KindText).
		Derive(SegmentOp, args, SegmentColumns(args.Presence != "")...)
}

func (a *SegmentArgs) check() error {
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

// SegmentColumns returns the columns that a segmentation adds or replaces.
func SegmentColumns(presence bool) []table.ColumnSpec {
	columns := datasets.Columns("mask:mask", "mask_score:number", "mask_area:number", "mask_components:number",
		"outcome:text", "reason:text")
	if presence {
		columns = append(columns, datasets.Columns("presence:number")...)
	}
	return columns
}
