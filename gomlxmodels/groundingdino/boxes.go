package groundingdino

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"antipode/gomlxmodels/tokenizers"
)

// Box is a detected object.
type Box struct {
	// corners in pixels of the image, x from the left and y from the top; they may be slightly outside of it
	X0, Y0, X1, Y1 float64
	Score          float64 // from 0 to 1: the highest probability of any token, [CLS], [SEP] and periods included
	Label          string  // the tokens above the text threshold; may be ""
	Query          int     // the query that found it, from 0
}

// found makes boxes of a network's results: those whose score is above the threshold, in descending order of scores.
//
// Shapes: logits [K,length], of which the caption's tokens are the first; boxes [K,4].
func (d *Detector) found(logits, boxes []float32, length int, c Caption, size Size, o DetectOptions,
	t *tokenizers.Tokenizer) (list []Box) {
	for q := range len(boxes) / 4 {
		row := logits[q*length:][:len(c.IDs)]
		score := logistic(slices.Max(row))
		if !(score > o.BoxThreshold) {
			continue
		}
		var label []int32
		for i, l := range row {
			// neither the first token nor the last of the longest caption
			if i > 0 && i < d.m.cfg.MaxText-1 && logistic(l) > o.TextThreshold {
				label = append(label, c.IDs[i])
			}
		}
		b := Box{Score: score, Query: q, Label: t.Decode(label, false)}
		if d.s.dropPeriods {
			b.Label = strings.ReplaceAll(b.Label, ".", "")
		}
		w, h := float64(size.Width), float64(size.Height)
		x, y, dx, dy := float64(boxes[4*q])*w, float64(boxes[4*q+1])*h, float64(boxes[4*q+2])*w/2,
			float64(boxes[4*q+3])*h/2
		b.X0, b.Y0, b.X1, b.Y1 = x-dx, y-dy, x+dx, y+dy
		list = append(list, b)
	}
	slices.SortStableFunc(list, func(a, b Box) int { return -cmp.Compare(a.Score, b.Score) })
	return list
}

func logistic(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }
