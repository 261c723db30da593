package segment

import (
	"fmt"
	"iter"
	"math"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/stage"
)

// found is the result of an image's maps.
type found struct {
	mask       table.Mask // zero = no pixel reaches the threshold
	score      float64    // mean probability inside the mask
	area       float64    // share of the image
	components int
	reason     string // why there is no mask
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// find computes the mask of an image from the maps of its prompts: each map is resized to the image, a pixel has the
// highest logit of all maps, and then the threshold is applied. Rows are resized twice rather than stored: images may
// be large.
func (w *worker) find(it *item, maps []clipseg.Map) (found, error) {
	largest, area, err := w.args.Keep()
	if err != nil {
		return found{}, err
	}
	b := mask.New(it.width, it.height)
	threshold := float32(math.Log(w.args.Threshold / (1 - w.args.Threshold)))
	top := float32(math.Inf(-1))
	if err := highest(maps, it.width, it.height, func(y int, row []float32) {
		for x, v := range row {
			b.Set(x, y, v >= threshold)
			top = max(top, v)
		}
	}); err != nil {
		return found{}, err
	}
	pixels := float64(it.width) * float64(it.height)
	f := found{score: math.NaN()}
	var most int
	f.components, most = keep(b, largest, area*pixels)
	n, sum := 0, 0.0
	if err := highest(maps, it.width, it.height, func(y int, row []float32) {
		for x, v := range row {
			if b.At(x, y) {
				n++
				sum += logistic(float64(v))
			}
		}
	}); err != nil {
		return found{}, err
	}
	switch {
	case n > 0:
		f.score = sum / float64(n)
		f.area = float64(n) / pixels
		f.mask = mask.Encode(b)
	case f.components > 0:
		f.reason = fmt.Sprintf("no region of %q covers %g of the image; the largest covers %.3g", short(it.objects),
			area, float64(most)/pixels)
	default:
		f.reason = fmt.Sprintf("%q is not found: the highest probability is %.3g, the threshold %g", short(it.objects),
			logistic(float64(top)), w.args.Threshold)
	}
	return f, nil
}

// highest calls each with the rows of the elementwise maximum of the maps at the image's size.
func highest(maps []clipseg.Map, width, height int, each func(y int, row []float32)) error {
	row := make([]float32, width)
	var others []func() (int, []float32, bool)
	for _, m := range maps[1:] {
		rows, err := m.Resize(width, height)
		if err != nil {
			return err
		}
		next, stop := iter.Pull2(rows)
		defer stop()
		others = append(others, next)
	}
	rows, err := maps[0].Resize(width, height)
	if err != nil {
		return err
	}
	for y, first := range rows {
		copy(row, first)
		for _, next := range others {
			_, other, _ := next()
			for x, v := range other {
				row[x] = max(row[x], v)
			}
		}
		each(y, row)
	}
	return nil
}

// short truncates a text for a message.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// values returns a row's values in the order of gomlxmodels.SegmentColumns.
func (w *worker) values(it *item, f found, presence float64) []stage.Value {
	outcome, reason := "ok", ""
	switch {
	case final(it.outcome):
		outcome, reason = it.outcome, it.reason
	case f.mask.Counts == "":
		outcome, reason = "unmasked", f.reason
	}
	numbers := [3]float64{f.score, f.area, float64(f.components)}
	if it.image == nil {
		numbers = [3]float64{math.NaN(), math.NaN(), math.NaN()}
	}
	out := []stage.Value{{Mask: f.mask}, {Number: numbers[0]}, {Number: numbers[1]}, {Number: numbers[2]},
		{Text: outcome}, {Text: reason}}
	if w.judge != nil {
		out = append(out, stage.Value{Number: presence})
	}
	return out
}
