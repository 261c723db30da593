package preprocess

import (
	"fmt"
	"iter"
	"math"
)

// Interpolate returns a map of numbers, row by row columns values each, at another size, row by row from the top:
// bilinear, pixel centers at halves, edges repeated, no antialiasing (torch's interpolate with align_corners=False). A
// row's slice is used again for the next. An error names a size that is not positive or not the map's.
//
// Shapes: values [rows·columns] → height × [width].
func Interpolate(values []float32, columns, rows, width, height int) (iter.Seq2[int, []float32], error) {
	if width < 1 || height < 1 || columns < 1 || rows < 1 || len(values) != columns*rows {
		return nil, fmt.Errorf("%d values of %d×%d cannot be resized to %d×%d pixels", len(values), columns, rows,
			width, height)
	}
	return func(yield func(int, []float32) bool) {
		across := neighborsOf(columns, width)
		mixed, row := make([]float32, columns), make([]float32, width)
		for y, v := range neighborsOf(rows, height) {
			low, high := values[v.low*columns:], values[v.high*columns:]
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

// neighbors are the two inputs of an output value, and the weight of the second.
type neighbors struct {
	low, high int
	weight    float32
}

// neighborsOf are the inputs of each of out values that are made of in.
func neighborsOf(in, out int) []neighbors {
	list := make([]neighbors, out)
	for i := range list {
		x := max(0, (float32(i)+0.5)*(float32(in)/float32(out))-0.5)
		low := min(int(x), in-1)
		list[i] = neighbors{low, min(low+1, in-1), min(1, x-float32(low))}
	}
	return list
}

// Tap is an input of a value and its weight.
type Tap struct {
	At     int
	Weight float64
}

// CubicTaps are the inputs of each of to values that are made of from, by torch's bicubic interpolation of position
// embeddings with align_corners=False: with a = −0.75 and edges repeated or, antialiased, with a = −0.5 and what is
// beyond an edge left out. Both must be positive.
//
// Shapes: → [to].
func CubicTaps(from, to int, antialias bool) [][]Tap {
	taps := make([][]Tap, to)
	if antialias {
		firsts, ends, shares := sharesOf(from, to, Bicubic)
		for i := range taps {
			for k, share := range shares[ends[i]:ends[i+1]] {
				taps[i] = append(taps[i], Tap{firsts[i] + k, share})
			}
		}
		return taps
	}
	for i := range taps {
		x := (float64(i)+0.5)*float64(from)/float64(to) - 0.5
		low := math.Floor(x)
		for k := range 4 {
			at := int(low) - 1 + k
			taps[i] = append(taps[i], Tap{min(max(at, 0), from-1), keys(x-float64(at), -0.75)})
		}
	}
	return taps
}

// ResizeGrid resizes a grid of vectors, position embeddings, by [CubicTaps]. Grids are rows × columns; the vectors have
// d numbers, and all sizes must be positive.
//
// Shapes: values [from·from,D] → [to·to,D].
func ResizeGrid(values []float32, from, to [2]int, d int, antialias bool) []float32 {
	out := make([]float32, to[0]*to[1]*d)
	across := CubicTaps(from[1], to[1], antialias)
	for y, down := range CubicTaps(from[0], to[0], antialias) {
		for x := range across {
			row := out[(y*to[1]+x)*d:][:d]
			for _, v := range down {
				for _, h := range across[x] {
					w := float32(v.Weight * h.Weight)
					for c, value := range values[(v.At*from[1]+h.At)*d:][:d] {
						row[c] += w * value
					}
				}
			}
		}
	}
	return out
}
