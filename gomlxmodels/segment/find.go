package segment

import (
	"fmt"
	"math"

	"antipode/datasets/mask"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
)

// found is what a picture's maps say.
type found struct {
	mask       client.Mask // zero = nothing passed
	score      float64     // mean probability inside the mask
	area       float64     // share of the picture
	components int
	reason     string // why there is no mask
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// find makes the mask of a picture from the maps of its prompts: each is resized to the picture, a pixel takes the surest, and
// the threshold comes after that.
func (w *worker) find(it *item, maps []clipseg.Map) (found, error) {
	var logits []float32
	for _, m := range maps {
		large, err := m.Resize(it.width, it.height)
		if err != nil {
			return found{}, err
		}
		if logits == nil {
			logits = large
			continue
		}
		for i, v := range large {
			logits[i] = max(logits[i], v)
		}
	}
	b := mask.New(it.width, it.height)
	least := float32(math.Log(w.args.Threshold / (1 - w.args.Threshold)))
	top := float32(math.Inf(-1))
	for i, v := range logits {
		b.Pix[i] = v >= least
		top = max(top, v)
	}
	largest, area, err := w.args.Keep()
	if err != nil {
		return found{}, err
	}
	pixels := float64(len(logits))
	f := found{score: math.NaN()}
	var most int
	f.components, most = keep(b, largest, area*pixels)
	n := 0
	for i, object := range b.Pix {
		if object {
			if n == 0 {
				f.score = 0
			}
			n++
			f.score += logistic(float64(logits[i]))
		}
	}
	switch {
	case n > 0:
		f.score /= float64(n)
		f.area = float64(n) / pixels
		f.mask = mask.Encode(b)
	case f.components > 0:
		f.reason = fmt.Sprintf("no region of %q covers %g of the image; the largest covers %.2g", short(it.objects), area, float64(most)/pixels)
	default:
		f.reason = fmt.Sprintf("%q is not found: the highest probability is %.2g, the threshold %g", short(it.objects), logistic(float64(top)), w.args.Threshold)
	}
	return f, nil
}

// short is the start of a text that is too long for a message.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// values are a row's values in the order of gomlxmodels.SegmentColumns.
func (w *worker) values(it *item, f found, presence float64) []stage.Value {
	outcome, reason := "ok", ""
	switch {
	case final(it.outcome):
		outcome, reason = it.outcome, it.reason
	case f.mask.Counts == "":
		outcome, reason = "unmasked", f.reason
	}
	numbers := [3]float64{f.score, f.area, float64(f.components)}
	if it.picture == nil {
		numbers = [3]float64{math.NaN(), math.NaN(), math.NaN()}
	}
	out := []stage.Value{{Mask: f.mask}, {Number: numbers[0]}, {Number: numbers[1]}, {Number: numbers[2]}, {Text: outcome}, {Text: reason}}
	if w.judge != nil {
		out = append(out, stage.Value{Number: presence})
	}
	return out
}
