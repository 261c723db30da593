package clipseg

import (
	"iter"

	"antipode/gomlxmodels/preprocess"
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
	return preprocess.Interpolate(m.Logits, m.Side, m.Side, width, height)
}
