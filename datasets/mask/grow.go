package mask

import (
	"math"
	"slices"
)

// Grow returns the mask dilated by a disc of a radius in pixels, or eroded if the radius is negative: pixels become
// object whose distance to an object pixel is at most the radius, or background whose distance to a background pixel is
// at most −radius. Distances are those of pixels' centers. What is outside the image is neither: the image's border
// does not erode a mask.
func (b Bitmap) Grow(radius float64) Bitmap {
	out := Bitmap{Width: b.Width, Height: b.Height, Pix: slices.Clone(b.Pix)}
	if radius == 0 || math.IsNaN(radius) {
		return out
	}
	grows := radius > 0
	for i, d := range b.squaredDistances(grows) {
		if d <= radius*radius {
			out.Pix[i] = grows
		}
	}
	return out
}

// squaredDistances returns for each pixel the squared distance to the nearest pixel of a value; +Inf where there is
// none (Felzenszwalb and Huttenlocher, Distance Transforms of Sampled Functions, 2012).
func (b Bitmap) squaredDistances(to bool) []float64 {
	d := make([]float64, len(b.Pix))
	for i, object := range b.Pix {
		if object != to {
			d[i] = math.Inf(1)
		}
	}
	line := make([]float64, max(b.Width, b.Height))
	at, from := make([]int, len(line)), make([]float64, len(line)+1)
	transform := func(start, step, n int) {
		last := -1 // of the parabolas whose lower envelope is the result; they rise from at, and are lowest from from
		for q := range n {
			line[q] = d[start+q*step]
			if math.IsInf(line[q], 1) {
				continue
			}
			cross := math.Inf(-1)
			for last >= 0 {
				p := at[last]
				cross = (line[q] + float64(q*q) - line[p] - float64(p*p)) / float64(2*(q-p))
				if cross > from[last] {
					break
				}
				last--
				cross = math.Inf(-1)
			}
			last++
			at[last], from[last] = q, cross
		}
		for q, k := 0, 0; q < n && last >= 0; q++ {
			for k < last && from[k+1] < float64(q) {
				k++
			}
			d[start+q*step] = line[at[k]] + float64((q-at[k])*(q-at[k]))
		}
	}
	for x := range b.Width {
		transform(x, b.Width, b.Height)
	}
	for y := range b.Height {
		transform(y*b.Width, 1, b.Width)
	}
	return d
}
