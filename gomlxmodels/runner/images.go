package runner

import (
	"context"
	"fmt"
	"sync"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
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

// Pixel is the dtype that pixels go to the device in for a network that computes in dtype and rounds them to it first.
func Pixel(dtype dtypes.DType) dtypes.DType {
	if dtype == dtypes.BFloat16 {
		return dtype
	}
	return dtypes.Float32
}

// Stack puts items of equal size into one tensor of n on the device, numbers rounded to BFloat16 if that is the dtype;
// the last item fills the places that are left.
//
// Shapes: items [dims…] each → [n,dims…] of dtype, which is BFloat16 or that of the items.
func Stack[T float32 | bool](r *Runner, dtype dtypes.DType, items [][]T, n int, dims ...int) (*tensors.Tensor, error) {
	shape := shapes.Make(dtype, append([]int{n}, dims...)...)
	if dtype == dtypes.BFloat16 {
		return stack(r, shape, items, func(to []bfloat16.BFloat16, from []T) {
			for i, v := range any(from).([]float32) {
				to[i] = bfloat16.FromFloat32(v)
			}
		})
	}
	if n == 1 {
		return toDevice(r, shape, items[0][:shape.Size()])
	}
	return stack(r, shape, items, func(to, from []T) { copy(to, from) })
}

// stackedAtOnce is the number of values that a goroutine copies.
const stackedAtOnce = 1 << 15

// stack puts items into memory of the runner, all of them at once, and copies that to the device.
func stack[T, D any](r *Runner, shape shapes.Shape, items [][]T, put func(to []D, from []T)) (*tensors.Tensor, error) {
	// The memory is kept: new pages of it cost a GPU's batch more time than the copies.
	flat, _ := r.staging[shape.DType].([]D)
	if cap(flat) < shape.Size() {
		flat = make([]D, shape.Size())
		r.staging[shape.DType] = flat
	}
	flat = flat[:shape.Size()]
	size := len(flat) / shape.Dim(0)
	var group sync.WaitGroup
	for k := range shape.Dim(0) {
		for from := 0; from < size; from += stackedAtOnce {
			to := min(from+stackedAtOnce, size)
			group.Go(func() { put(flat[k*size+from:k*size+to], items[min(k, len(items)-1)][from:to]) })
		}
	}
	group.Wait()
	return toDevice(r, shape, flat)
}

// toDevice copies values to the device.
func toDevice[D any](r *Runner, shape shapes.Shape, flat []D) (*tensors.Tensor, error) {
	buffer, err := r.backend.BufferFromFlatData(0, flat, shape)
	if err != nil {
		return nil, err
	}
	return tensors.FromBuffer(buffer)
}

// Batches calls run for n items, batch at a time, with the inputs of a call and the items from and to (exclusive) that
// it is for. inputs makes them, in a goroutine of its own while run computes the call before; run takes them over. ctx
// is checked between calls.
func (r *Runner) Batches(ctx context.Context, n, batch int, inputs func(from, to int) ([]*tensors.Tensor, error),
	run func(inputs []*tensors.Tensor, from, to int) error) error {
	type loaded struct {
		inputs []*tensors.Tensor
		err    error
	}
	load := func(from int) <-chan loaded {
		if from >= n {
			return nil
		}
		out := make(chan loaded, 1)
		go func() {
			var l loaded
			defer func() { out <- l }()
			defer Recovered(r.name, &l.err)
			if l.inputs, l.err = inputs(from, min(from+batch, n)); l.err != nil {
				Release(l.inputs...)
				l.inputs = nil
			}
		}()
		return out
	}
	next := load(0)
	defer func() {
		if next != nil {
			Release((<-next).inputs...)
		}
	}()
	for from := 0; from < n; from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := <-next
		if next = load(from + batch); l.err != nil {
			return l.err
		}
		if err := run(l.inputs, from, min(from+batch, n)); err != nil {
			return err
		}
	}
	return nil
}

// Images runs the graph on square images, batch at a time; the last batch is padded with its last image. For each
// image, in order, it calls take with the results of the call and the image's position in it. ctx is checked between
// calls. Errors of take get the graph's name and the image's number.
//
// Shapes: images [3·side·side] each; the graph's input [batch,3,side,side] of dtype, as [Stack] takes it.
func (g *Graph) Images(ctx context.Context, dtype dtypes.DType, images [][]float32, side, batch int,
	take func(results [][]float32, at, n int) error) error {
	for i, p := range images {
		if err := Pixels(i, p, 3*side*side); err != nil {
			return err
		}
	}
	if err := g.Load(); err != nil {
		return err
	}
	r := g.net.runner
	return r.Batches(ctx, len(images), batch, func(from, to int) ([]*tensors.Tensor, error) {
		pixels, err := Stack(r, dtype, images[from:to], batch, 3, side, side)
		return []*tensors.Tensor{pixels}, err
	}, func(inputs []*tensors.Tensor, from, to int) error {
		results, err := g.Call(inputs...)
		for i := from; i < to && err == nil; i++ {
			if err := take(results, i-from, batch); err != nil {
				return fmt.Errorf("%s: image %d: %w", g.name, i+1, err)
			}
		}
		return err
	})
}

// Image runs the graph on one square image and leaves its results, which are the caller's to release, on the device.
//
// Shapes: pixels [3·side·side]; the graph's input [1,3,side,side] of dtype, as [Stack] takes it.
func (g *Graph) Image(dtype dtypes.DType, pixels []float32, side int) ([]*tensors.Tensor, error) {
	x, err := Stack(g.net.runner, dtype, [][]float32{pixels}, 1, 3, side, side)
	if err != nil {
		return nil, err
	}
	defer Release(x)
	return g.Results(x)
}
