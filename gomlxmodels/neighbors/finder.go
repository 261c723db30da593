package neighbors

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"antipode/internal/fault"
)

// Finder finds neighbors on a backend. It implements prdc.Neighbors of package metrics/prdc. Several goroutines may
// call its methods.
type Finder struct {
	backend  compute.Backend
	onDevice func(context.Context, func() error) error
	block    int

	mu      sync.Mutex
	execs   map[[3]int]*graph.Exec
	checked bool // the device was seen to multiply in float32
}

// Options are the settings of [New]. The zero Options suit a program that owns its backend.
type Options struct {
	// OnDevice runs f where the backend may be used, for example on the one goroutine that owns the device. It is
	// called for each block, so others get their turn, and returns when f has. Nil calls f, one call at a time.
	OnDevice func(ctx context.Context, f func() error) error
	// Block is the number of rows of a block, at most; 0 = 1024. Results do not depend on it.
	Block int
}

// New makes a Finder. Close it before the backend.
func New(backend compute.Backend, opts Options) *Finder {
	f := &Finder{backend: backend, onDevice: opts.OnDevice, block: opts.Block, execs: map[[3]int]*graph.Exec{}}
	if f.onDevice == nil {
		var one sync.Mutex
		f.onDevice = func(_ context.Context, do func() error) error {
			one.Lock()
			defer one.Unlock()
			return do()
		}
	}
	if f.block <= 0 {
		f.block = 1024
	}
	return f
}

// Close frees the compiled programs.
func (f *Finder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.execs {
		e.Finalize()
	}
	f.execs = map[[3]int]*graph.Exec{}
}

// rows is the block size for a set of n rows: few sizes, so that few programs are compiled, and little padding.
func (f *Finder) rows(n int) int {
	for size := 64; size < f.block; size *= 2 {
		if n <= size {
			return size
		}
	}
	return f.block
}

// squared is the graph: squared distances of two blocks of vectors.
//
// Shapes: x [A,D], xx [A], y [B,D], yy [B] float32 → [A,B] float32, with xx and yy the squared norms of the rows of x
// and y.
func squared(x, xx, y, yy *graph.Node) *graph.Node {
	dot := graph.Dot(x, y).General([]int{1}, nil, []int{1}, nil)
	norms := graph.Add(graph.ExpandAxes(xx, 1), graph.ExpandAxes(yy, 0))
	return graph.Sub(norms, graph.MulScalar(dot, 2))
}

func (f *Finder) exec(a, b, width int) (*graph.Exec, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := [3]int{a, b, width}
	if e := f.execs[key]; e != nil {
		return e, nil
	}
	e, err := graph.NewExec(f.backend, squared)
	if err != nil {
		return nil, err
	}
	e.WithName(fmt.Sprintf("neighbors/%dx%dx%d", a, b, width)).SetMaxCache(1)
	f.execs[key] = e
	return e, nil
}

// block is room for one block of a set on the device.
type block struct {
	vectors, norms *tensors.Tensor
	rows, width    int
}

func (f *Finder) newBlock(rows, width int) (b *block, err error) {
	b = &block{rows: rows, width: width}
	if b.vectors, err = tensors.FromShapeForBackend(f.backend, 0,
		shapes.Make(dtypes.Float32, rows, width)); err != nil {
		return nil, err
	}
	if b.norms, err = tensors.FromShapeForBackend(f.backend, 0, shapes.Make(dtypes.Float32, rows)); err != nil {
		b.free()
		return nil, err
	}
	return b, nil
}

func (b *block) free() {
	for _, t := range []*tensors.Tensor{b.vectors, b.norms} {
		if t != nil {
			_ = t.FinalizeAll() // the block is done with; nothing depends on it any more
		}
	}
}

// fill loads rows from…from+rows of a set; rows beyond its end become zeros.
func (b *block) fill(s *set, from int) error {
	err := tensors.MutableFlatData(b.vectors, func(flat []float32) {
		fault.Pieces(b.rows, 64, runtime.GOMAXPROCS(0), func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				to := flat[i*b.width : (i+1)*b.width]
				if from+i < len(s.rows) {
					s.scaled(from+i, to)
				} else {
					clear(to)
				}
			}
		})
	})
	if err != nil {
		return err
	}
	return tensors.MutableFlatData(b.norms, func(flat []float32) {
		clear(flat)
		for i := 0; i < len(flat) && from+i < len(s.rows); i++ {
			flat[i] = float32(s.norms[from+i])
		}
	})
}

// check makes sure that the device multiplies in true float32: the bound on its error rests on it. With the 10 bits of
// TF32, or the 7 of bfloat16, 1+2⁻¹² would become 1.
func (f *Finder) check(e *graph.Exec, x, y *block) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.checked {
		return nil
	}
	const probe = 1 + 0x1p-12
	for _, b := range []*block{x, y} {
		if err := b.fill(&set{}, 0); err != nil { // zeros
			return err
		}
		if err := tensors.MutableFlatData(b.vectors, func(flat []float32) { flat[0] = probe }); err != nil {
			return err
		}
	}
	err := f.distances(e, x, y, func(squared []float32) { f.checked = squared[0] == -2*(1+0x1p-11) })
	if err == nil && !f.checked {
		err = fmt.Errorf("neighbors: the device does not multiply float32 in full precision; turn off its TF32 mode")
	}
	return err
}

// distances computes the squared distances of two blocks and shows them to read, row by row of x.
func (f *Finder) distances(e *graph.Exec, x, y *block, read func(squared []float32)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("neighbors: %v", r)
		}
	}()
	out, err := e.Call(x.vectors, x.norms, y.vectors, y.norms)
	if err != nil {
		return fmt.Errorf("neighbors: %w", err)
	}
	defer func() { _ = out[0].FinalizeAll() }()
	return tensors.ConstFlatData(out[0], read)
}
