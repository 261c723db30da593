package clipseg

import "fmt"

// Map is one picture's logits under one prompt, row by row: Side × Side values over the whole picture. The probability that a
// pixel shows what the prompt names is the logit's logistic function.
type Map struct {
	Side   int
	Logits []float32
}

// Resize gives the logits at another size, for example the picture's own: bilinear, pixel centres at halves, edges repeated,
// no antialiasing (torch's interpolate with align_corners=False). An error names a size that is not positive.
//
// Shapes: → [height·width].
func (m Map) Resize(width, height int) ([]float32, error) {
	if width < 1 || height < 1 || m.Side < 1 || len(m.Logits) != m.Side*m.Side {
		return nil, fmt.Errorf("clipseg: %d logits of side %d cannot be resized to %d×%d pixels", len(m.Logits), m.Side, width, height)
	}
	type tap struct {
		low, high int
		weight    float32 // of high
	}
	plan := func(n int) []tap {
		taps := make([]tap, n)
		for i := range taps {
			x := max(0, (float32(i)+0.5)*(float32(m.Side)/float32(n))-0.5)
			low := min(int(x), m.Side-1)
			taps[i] = tap{low, min(low+1, m.Side-1), min(1, x-float32(low))}
		}
		return taps
	}
	out := make([]float32, 0, width*height)
	across := plan(width)
	mixed := make([]float32, m.Side)
	for _, v := range plan(height) {
		low, high := m.Logits[v.low*m.Side:], m.Logits[v.high*m.Side:]
		for x := range mixed {
			mixed[x] = low[x] + v.weight*(high[x]-low[x])
		}
		for _, h := range across {
			out = append(out, mixed[h.low]+h.weight*(mixed[h.high]-mixed[h.low]))
		}
	}
	return out, nil
}
