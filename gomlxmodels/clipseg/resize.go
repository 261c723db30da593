package clipseg

import (
	"fmt"
	"iter"
)

// Map is one image's logits under one prompt, row by row: Side × Side values over the whole image. The
// probability that a pixel shows what the prompt names is the logit's logistic function.
type Map struct {
	Side   int
	Logits []float32
}

// Resize returns the logits at another size, for example the image's own, row by row from the top: bilinear, pixel
// centers at halves, edges repeated, no antialiasing (torch's interpolate with align_corners=False). A row's slice is
// used again for the next. An error names a size that is not positive.
//
// Shapes: → height × [width].
func (m Map) Resize(width, height int) (iter.Seq2[int, []float32], error) {
	if width < 1 || height < 1 || m.Side < 1 || len(m.Logits) != m.Side*m.Side {
		return nil, fmt.Errorf("clipseg: %d logits of side %d cannot be resized to %d×%d pixels", len(m.Logits), m.Side,
			width, height)
	}
	return func(yield func(int, []float32) bool) {
		across := m.taps(width)
		mixed, row := make([]float32, m.Side), make([]float32, width)
		for y, v := range m.taps(height) {
			low, high := m.Logits[v.low*m.Side:], m.Logits[v.high*m.Side:]
			for x := range mixed {
				mixed[x] = low[x] + v.weight*(high[x]-low[x])
			}
			for x, h := range across {
				row[x] = mixed[h.low] + h.weight*(mixed[h.high]-mixed[h.low])
			}
			if !yield(y, row) {
				return
			}
		}
	}, nil
}

// tap is the input of an output pixel: two neighbors, and the weight of the second.
type tap struct {
	low, high int
	weight    float32
}

func (m Map) taps(n int) []tap {
	out := make([]tap, n)
	for i := range out {
		x := max(0, (float32(i)+0.5)*(float32(m.Side)/float32(n))-0.5)
		low := min(int(x), m.Side-1)
		out[i] = tap{low, min(low+1, m.Side-1), min(1, x-float32(low))}
	}
	return out
}
