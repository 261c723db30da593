// Package blas lets gonum multiply large float64 matrices on a GoMLX backend: XLA on a processor is several times as
// fast as gonum's own loops, which have no vector instructions for it. (gonum's netlib bindings would need a C compiler
// and a BLAS library on the user's machine.)
//
// Results are those of gonum up to the order of sums: some 1e-16 of the products' scale.
package blas

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"
)

// Multiplier multiplies on a backend.
type Multiplier struct {
	backend  compute.Backend
	onDevice func(context.Context, func() error) error
	execs    map[product]*graph.Exec // used within onDevice only
}

// product is the shape of a product on the device, of m×k and k×n.
type product struct{ m, n, k int }

// used is the Multiplier of the last Use.
var used atomic.Pointer[Multiplier]

// Use makes gonum's float64 BLAS multiply large matrices on a backend, until Close. onDevice runs a function where the
// backend may be used, as for package neighbors; where it returns an error, gonum multiplies. It must not be called
// by a program that multiplies with gonum within onDevice.
func Use(backend compute.Backend, onDevice func(context.Context, func() error) error) *Multiplier {
	d := &Multiplier{backend, onDevice, map[product]*graph.Exec{}}
	used.Store(d)
	return d
}

// Close frees the compiled programs; gonum multiplies itself again. Close it before the backend, where the backend may
// be used.
func (d *Multiplier) Close() {
	used.CompareAndSwap(d, nil)
	for _, e := range d.execs {
		e.Finalize()
	}
	d.execs = nil
}

func init() { blas64.Use(implementation{}) }

// implementation is gonum's BLAS with another product of matrices.
type implementation struct{ gonum.Implementation }

// least is the number of multiplications from which on the device is faster.
const least = 1 << 24

// Dgemm computes C = α op(A) op(B) + β C.
func (i implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	if d := used.Load(); d != nil && beta == 0 && m*n*k >= least {
		x := matrix{data: a, stride: lda, transposed: tA != blas.NoTrans}
		y := matrix{data: b, stride: ldb, transposed: tB != blas.NoTrans}
		if d.multiply(m, n, k, alpha, x, y, matrix{data: c, stride: ldc}) == nil {
			return
		}
	}
	i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// matrix is stored by rows, or transposed.
type matrix struct {
	data       []float64
	stride     int
	transposed bool
	rows, cols int // of a part
}

// part returns a block of a matrix.
func (m matrix) part(row, col, rows, cols int) matrix {
	from := row*m.stride + col
	if m.transposed {
		from = col*m.stride + row
	}
	return matrix{m.data[from:], m.stride, m.transposed, rows, cols}
}

// block is the largest side of a block on the device.
const block = 1024

// side is the side of a block for n numbers: few sizes, so that few programs are compiled, and little padding.
func side(n int) int {
	for _, size := range []int{64, 128, 256, 512, 768} {
		if n <= size {
			return size
		}
	}
	return block
}

// multiply writes alpha·x·y to c, block by block.
func (d *Multiplier) multiply(m, n, k int, alpha float64, x, y, c matrix) error {
	y.transposed = !y.transposed
	p := product{side(m), side(n), side(k)}
	for i := 0; i < m; i += p.m {
		for j := 0; j < n; j += p.n {
			for l := 0; l < k; l += p.k {
				rows, cols, inner := min(p.m, m-i), min(p.n, n-j), min(p.k, k-l)
				err := d.onDevice(context.Background(), func() error {
					return d.block(p, x.part(i, l, rows, inner), y.part(j, l, cols, inner), func(flat []float64) {
						for r := range rows {
							to := c.data[(i+r)*c.stride+j:][:cols]
							if l == 0 {
								clear(to)
							}
							floats.AddScaled(to, alpha, flat[r*p.n:][:cols])
						}
					})
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// block computes x·yᵀ and shows it, by rows of p.n numbers.
func (d *Multiplier) block(p product, x, y matrix, read func(flat []float64)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("blas: %v", r)
		}
	}()
	e := d.execs[p]
	if e == nil {
		if e, err = graph.NewExec(d.backend, multiplied); err != nil {
			return err
		}
		e.WithName(fmt.Sprintf("blas/%dx%dx%d", p.m, p.n, p.k)).SetMaxCache(1)
		d.execs[p] = e
	}
	left, err := d.load(x, p.m, p.k)
	if err != nil {
		return err
	}
	defer func() { _ = left.FinalizeAll() }()
	right, err := d.load(y, p.n, p.k)
	if err != nil {
		return err
	}
	defer func() { _ = right.FinalizeAll() }()
	out, err := e.Call(left, right)
	if err != nil {
		return err
	}
	defer func() { _ = out[0].FinalizeAll() }()
	return tensors.ConstFlatData(out[0], read)
}

// multiplied is the graph. (Other layouts of x and y are several times slower on the processor.)
//
// Shapes: x [m,k], y [n,k] float64 → [m,n].
func multiplied(x, y *graph.Node) *graph.Node {
	return graph.Dot(x, y).General([]int{1}, nil, []int{1}, nil)
}

// load copies a block to the device, padded with zeros.
func (d *Multiplier) load(m matrix, rows, cols int) (*tensors.Tensor, error) {
	t, err := tensors.FromShapeForBackend(d.backend, 0, shapes.Make(dtypes.Float64, rows, cols))
	if err != nil {
		return nil, err
	}
	return t, tensors.MutableFlatData(t, func(flat []float64) {
		clear(flat)
		if !m.transposed {
			for i := range m.rows {
				copy(flat[i*cols:], m.data[i*m.stride:][:m.cols])
			}
			return
		}
		for from := 0; from < m.rows; from += 8 { // of a cache line
			for j := range m.cols {
				for i, v := range m.data[j*m.stride:][from:min(from+8, m.rows)] {
					flat[(from+i)*cols+j] = v
				}
			}
		}
	})
}
