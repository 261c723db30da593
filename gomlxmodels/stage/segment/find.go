package segment

import (
	"fmt"
	"math"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
)

// found is what a finder finds in an image.
type found struct {
	mask       table.Mask // zero = none
	score      float64
	area       float64 // share of the image
	components int
	outcome    string // "failed", "refused"; "" = ok, or unmasked if there is no mask
	reason     string // why there is no mask

	boxes string // the kept boxes, as JSON

	// of a detector and a segmenter
	boxScore  float64 // the highest score of any box
	stability float64
	border    float64 // 1 = the mask reaches the image's border, 0 = it does not
}

// cut keeps the regions of a mask that Components selects and adds the mask and its area, or the reason why no region
// is left. Of a mask without an object pixel there is no reason yet.
func (f *found) cut(it *item, args *gomlxmodels.SegmentArgs, b mask.Bitmap) error {
	largest, area, err := args.Keep()
	if err != nil {
		return err
	}
	pixels := float64(b.Width) * float64(b.Height)
	var most int
	f.components, most = keep(b, largest, area*pixels)
	if n := b.Area(); n > 0 {
		f.mask, f.area = mask.Encode(b), float64(n)/pixels
	} else if f.components > 0 {
		f.reason = fmt.Sprintf("no region of %q covers %g of the image; the largest covers %.3g", short(it.objects),
			area, float64(most)/pixels)
	}
	return nil
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// short truncates a text for a message.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// values returns a row's values in the order of gomlxmodels.SegmentArgs.Columns.
func (w *worker) values(it *item, f found, presence float64) []table.Value {
	outcome, reason := "ok", ""
	switch {
	case final(it.outcome):
		outcome, reason = it.outcome, it.reason
	case f.outcome != "":
		outcome, reason = f.outcome, f.reason
	case f.mask.Counts == "":
		outcome, reason = "unmasked", f.reason
	}
	number := func(v float64) table.Value {
		if it.prompts == nil || f.outcome != "" {
			v = math.NaN()
		}
		return table.Value{Number: v}
	}
	out := []table.Value{{Mask: f.mask}, number(f.score), number(f.area), number(float64(f.components)),
		{Text: outcome}, {Text: reason}}
	if w.args.ListsBoxes() {
		out = append(out, table.Value{Text: f.boxes})
	}
	if w.args.Detector != "" {
		out = append(out, number(f.boxScore), number(f.stability), number(f.border))
	}
	if w.judge != nil {
		out = append(out, table.Value{Number: presence})
	}
	return out
}
