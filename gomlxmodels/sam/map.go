package sam

import (
	"fmt"
	"iter"
	"math"

	"antipode/datasets/mask"
	"antipode/gomlxmodels/preprocess"
)

// Map is what a box frames, before it is a mask: Side × Side logits, row by row, over the padded image, or with SAM 2
// over the stretched one.
type Map struct {
	Side   int
	Logits []float32
	IoU    float32 // the predicted IoU of the mask; it may leave 0 to 1

	padded, insideWidth, insideHeight int // the padded image, and the image in it; 0 where it is stretched
	width, height                     int // the image itself
}

// Stretched is a map, still without logits, over an image of width × height that was stretched to a square.
func Stretched(side, width, height int) Map { return Map{Side: side, width: width, height: height} }

// Rows returns the logits at the image's own size, row by row from the top: first bilinearly at the size of the padded
// image, of which the padding is dropped, and from there bilinearly again, as SamImageProcessor's post_process_masks
// does. Where the image was stretched there is one step. A row's slice is used again for the next.
//
// Shapes: → height × [width].
func (m Map) Rows() (iter.Seq2[int, []float32], error) {
	if m.padded == 0 {
		return preprocess.Interpolate(m.Logits, m.Side, m.Side, m.width, m.height)
	}
	rows, err := preprocess.Interpolate(m.Logits, m.Side, m.Side, m.padded, m.padded)
	if err != nil {
		return nil, fmt.Errorf("sam: %w", err)
	}
	inside := make([]float32, 0, m.insideWidth*m.insideHeight)
	for y, row := range rows {
		if y == m.insideHeight {
			break
		}
		inside = append(inside, row[:m.insideWidth]...)
	}
	return preprocess.Interpolate(inside, m.insideWidth, m.insideHeight, m.width, m.height)
}

// Mask is the mask of a box in its image.
type Mask struct {
	mask.Bitmap         // the image's size; true = logit above 0
	IoU         float64 // predicted; it may leave 0 to 1
	// mean logistic function of the logits over the mask's pixels, 0.5 to 1; 0 where the mask is empty
	Score float64
	// pixels whose logit is above 1, divided by those above −1: 1 for a hard border, 0 where none is above 1
	Stability float64
}

// Mask returns the mask at the image's own size.
func (m Map) Mask() (Mask, error) {
	rows, err := m.Rows()
	if err != nil {
		return Mask{}, err
	}
	out := Mask{Bitmap: mask.New(m.width, m.height), IoU: float64(m.IoU)}
	area, inner, outer := 0, 0, 0
	for y, row := range rows {
		for x, v := range row {
			if v > 1 {
				inner++
			}
			if v > -1 {
				outer++
			}
			if v > 0 {
				out.Set(x, y, true)
				out.Score += 1 / (1 + math.Exp(-float64(v)))
				area++
			}
		}
	}
	if area > 0 {
		out.Score /= float64(area)
	}
	if outer > 0 {
		out.Stability = float64(inner) / float64(outer)
	}
	return out, nil
}
