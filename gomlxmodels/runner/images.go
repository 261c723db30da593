package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
)

// Pixels reports if image number i, from 0, does not have the n values that a model takes.
func Pixels(i int, pixels []float32, n int) error {
	if len(pixels) != n {
		return fmt.Errorf("image %d: %d pixel values, the model takes %d", i+1, len(pixels), n)
	}
	return nil
}

// Stack puts items of equal size into one tensor of n; the last item fills the places that are left.
//
// Shapes: items [dims…] each → [n,dims…].
func Stack[T float32 | bool](items [][]T, n int, dims ...int) *tensors.Tensor {
	t := tensors.FromShape(shapes.Make(dtypes.FromGenericsType[T](), append([]int{n}, dims...)...))
	tensors.MustMutableFlatData(t, func(flat []T) {
		for k := range n {
			copy(flat[k*len(flat)/n:], items[min(k, len(items)-1)])
		}
	})
	return t
}

// Images runs the graph on square images, batch at a time; the last batch is padded with its last image. For each
// image, in order, it calls take with the results of the call and the image's position in it. ctx is checked between
// calls. Errors of take get the graph's name and the image's number.
//
// Shapes: images [3·side·side] each; the graph's input [batch,3,side,side].
func (g *Graph) Images(ctx context.Context, images [][]float32, side, batch int,
	take func(results [][]float32, at, n int) error) error {
	n := 3 * side * side
	for i, p := range images {
		if err := Pixels(i, p, n); err != nil {
			return err
		}
	}
	if err := g.Load(); err != nil {
		return err
	}
	done := 0
	for some := range slices.Chunk(images, batch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		results, err := g.Call(Stack(some, batch, 3, side, side))
		if err != nil {
			return err
		}
		for k := range some {
			done++
			if err := take(results, k, batch); err != nil {
				return fmt.Errorf("%s: image %d: %w", g.name, done, err)
			}
		}
	}
	return nil
}
