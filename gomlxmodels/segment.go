package gomlxmodels

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// SegmentOp is the operation of [Segment].
const SegmentOp = "segment"

// SegmentArgs are the arguments of a segment stage.
type SegmentArgs struct {
	Model      string  `json:"model"`  // a known name, a name on the hub, or the absolute path of a folder
	Object     string  `json:"object"` // the column that names the objects
	Prompt     string  `json:"prompt"` // holds one %s
	Separator  string  `json:"separator"`
	Threshold  float64 `json:"threshold"`
	Components string  `json:"components"`         // see [SegmentArgs.Keep]
	Presence   string  `json:"presence,omitempty"` // a CLIP; "" = no column presence
}

// SegmentOption is a setting of [Segment].
type SegmentOption func(*SegmentArgs) error

// Threshold is the probability from which on a pixel is the object's, between 0 and 1; 0.5 by default.
func Threshold(probability float64) SegmentOption {
	return func(a *SegmentArgs) error {
		if !(probability > 0 && probability < 1) {
			return fmt.Errorf("threshold %v: it is a probability between 0 and 1", probability)
		}
		a.Threshold = probability
		return nil
	}
}

// Prompt says what the model is asked, with %s where the object's name goes, for example "a photo of a %s"; "%s" by default.
func Prompt(template string) SegmentOption {
	return func(a *SegmentArgs) error {
		if strings.Count(template, "%") != 1 || !strings.Contains(template, "%s") {
			return fmt.Errorf("prompt %q: it holds %%s once, where the object's name goes, and no other %%", template)
		}
		a.Prompt = template
		return nil
	}
}

// Separator stands between several objects in one cell, whose masks are united; "|" by default. "" makes a cell one object.
func Separator(text string) SegmentOption {
	return func(a *SegmentArgs) error {
		a.Separator = text
		return nil
	}
}

// Components says which connected regions of a mask are kept: "all" (the default), "largest", or "above AREA": those of at least
// this share of the picture, for example "above 0.001". Pixels that touch at a corner are connected.
func Components(rule string) SegmentOption {
	return func(a *SegmentArgs) error {
		a.Components = rule
		_, _, err := a.Keep()
		return err
	}
}

// The texts by which [Presence] compares an image: one for each object, and one that says nothing.
const (
	PresencePrompt = "a photo of a %s"
	NeutralPrompt  = "a photo"
)

// Presence adds the number column presence: how surely a second model, a CLIP, sees the object anywhere in the image, whether or
// not it was masked. It is the softmax of the image's logits over "a photo of a OBJECT" (for each object) and "a photo", without
// the latter's share: 0.5 for one object means that naming it describes the image no better than not.
func Presence(model string) SegmentOption {
	return func(a *SegmentArgs) (err error) {
		a.Presence, err = resolve(model)
		return err
	}
}

// Keep reads Components: only the largest region, or all of at least an area (a share of the picture; 0 = all).
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
		return false, 0, fmt.Errorf(`components %q: it is "all", "largest" or "above AREA", a share of the picture between 0 and 1`, a.Components)
	}
	return false, area, nil
}

// Objects are the names in a cell: what stands between separators, without white space around it, each once.
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

// Segment finds in each image what the text column object names ("cat", or "cat|dog" for both) and adds
//
//   - mask, at the image's own size: the pixels whose probability reaches the threshold. The model's logits are resized to the
//     image bilinearly, and the threshold is applied after that; of several objects each pixel takes the surest;
//   - mask_score, the mean probability of the mask's pixels;
//   - mask_area, the mask's share of the image;
//   - mask_components, the number of connected regions that reach the threshold, before [Components] leaves any out;
//   - presence, where [Presence] asks for it;
//   - outcome and reason, as MasksFrom does: "unmasked" with the reason where nothing is found, else "ok". Other outcomes
//     (refused, failed, skipped) stay with their reasons; without an image such a row gets no mask and no numbers.
//
// Columns of these names are replaced. A text longer than the model's context is cut, as the model's own processor does. Work is in
// float32 on every device.
//
// model is a name that [Known] lists, a model on the hub that was pulled, or a folder of a CLIPSegForImageSegmentation with its
// tokenizer, as transformers writes them.
func Segment(model string, t datasets.Table, object string, options ...SegmentOption) datasets.Table {
	args := SegmentArgs{Object: object, Prompt: "%s", Separator: "|", Threshold: 0.5, Components: "all"}
	for _, o := range options {
		if err := o(&args); err != nil {
			return t.Fail(fmt.Errorf("Segment: %w", err))
		}
	}
	if object == "" {
		return t.Fail(errors.New("Segment: name the column that names the objects"))
	}
	var err error
	if args.Model, err = resolve(model); err != nil {
		return t.Fail(fmt.Errorf("Segment: %w", err))
	}
	return t.Need("id", client.Text).Need("image", client.Picture).Need(object, client.Text).Derive(SegmentOp, args, SegmentColumns(args.Presence != "")...)
}

// SegmentColumns are the columns that a segmentation adds or replaces, with or without [Presence].
func SegmentColumns(presence bool) []client.ColumnSpec {
	columns := datasets.Columns("mask:mask", "mask_score:number", "mask_area:number", "mask_components:number", "outcome:text", "reason:text")
	if presence {
		columns = append(columns, datasets.Columns("presence:number")...)
	}
	return columns
}
