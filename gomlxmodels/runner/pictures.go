package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"
)

// Pixels says what is wrong with the size of picture number i, from 0, of which a model takes n values.
func Pixels(i int, pixels []float32, n int) error {
	if len(pixels) != n {
		return fmt.Errorf("picture %d: %d pixel values, the model takes %d", i+1, len(pixels), n)
	}
	return nil
}

// Pictures runs the graph on square pictures, batch at a time, the last ones repeated where a batch has room, and gives each result of a call of n pictures, and the place
// of a picture in it, to take, in the pictures' order. ctx is looked at between calls. Errors of take are called by the graph's name and the picture's number.
//
// Shapes: pictures [3·side·side] each; the graph's input [batch,3,side,side].
func (g *Graph) Pictures(ctx context.Context, pictures [][]float32, side, batch int, take func(results [][]float32, at, n int) error) error {
	n := 3 * side * side
	for i, p := range pictures {
		if err := Pixels(i, p, n); err != nil {
			return err
		}
	}
	if err := g.Load(); err != nil {
		return err
	}
	done := 0
	for some := range slices.Chunk(pictures, batch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		flat := make([]float32, batch*n)
		for k := range batch {
			copy(flat[k*n:], some[min(k, len(some)-1)])
		}
		results, err := g.Call(tensors.FromFlatDataAndDimensions(flat, batch, 3, side, side))
		if err != nil {
			return err
		}
		for k := range some {
			done++
			if err := take(results, k, batch); err != nil {
				return fmt.Errorf("%s: picture %d: %w", g.name, done, err)
			}
		}
	}
	return nil
}
