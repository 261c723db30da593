package nn

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/near"
)

// TestSampleMaps compares with loops over the neighbors of each point, for maps that fill their places and others, and
// for points inside, outside, on edges, and far away.
func TestSampleMaps(t *testing.T) {
	const b, h, d, q, p = 2, 3, 2, 7, 3
	maps := []Map{{0, 4, 6}, {24, 3, 2}, {30, 1, 1}}
	const v = 31
	sizes := []float32{4, 6, 3, 2, 1, 1, 3, 5, 2, 2, 1, 1} // [b,maps,(h,w)]
	flat := func(seed uint64, dims ...int) []float32 {
		return tensors.MustCopyFlatData[float32](noise(seed, dims...))
	}
	x, w, at := flat(1, b, v, h, d), flat(2, b, q, h, len(maps), p), flat(3, b, q, h, len(maps), p, 2)
	for i := range at {
		at[i] = 0.5 + 0.5*at[i]
	}
	copy(at, []float32{0, 0, 1, 1, 0.5, 0.25, 1e9, -1e9, -0.05, 0.5, 0.5, 1.05})
	want := make([]float32, b*q*h*d)
	for i := range b * q * h {
		batch, head := i/(q*h), i%h
		for l, m := range maps {
			rows, columns := float64(sizes[(batch*len(maps)+l)*2]), float64(sizes[(batch*len(maps)+l)*2+1])
			for k := range p {
				n := (i*len(maps)+l)*p + k
				px, py := float64(at[2*n])*columns-0.5, float64(at[2*n+1])*rows-0.5
				for y := range int(rows) {
					for col := range int(columns) {
						share := max(0, 1-math.Abs(px-float64(col))) * max(0, 1-math.Abs(py-float64(y)))
						for c := range d {
							from := ((batch*v+m.Start+y*m.Columns+col)*h+head)*d + c
							want[i*d+c] += float32(share * float64(w[n]) * float64(x[from]))
						}
					}
				}
			}
		}
	}
	for name, backend := range backends {
		got := run(t, backend(t), func(_ *model.Scope, in []*Node) []*Node {
			return []*Node{SampleMaps(in[0], maps, in[1], in[2], in[3])}
		}, tensors.FromFlatDataAndDimensions(x, b, v, h, d), tensors.FromFlatDataAndDimensions(sizes, b, len(maps), 2),
			tensors.FromFlatDataAndDimensions(at, b, q, h, len(maps), p, 2),
			tensors.FromFlatDataAndDimensions(w, b, q, h, len(maps), p))
		near.Check(t, name, got[0], want, 1e-5, 1e-5)
	}
}

// TestGroupNorm compares with loops over the valid positions; what is at the others does not matter.
func TestGroupNorm(t *testing.T) {
	const b, s, c, groups, epsilon = 2, 5, 6, 3, 1e-2
	x := tensors.MustCopyFlatData[float32](noise(1, b, s, c))
	valid := []bool{true, true, true, true, true, true, false, true, true, false}
	for _, all := range []bool{true, false} {
		want := make([]float32, len(x))
		for i := range b {
			for k := range groups {
				sum, squares, n := 0.0, 0.0, 0.0
				each := func(do func(at int)) {
					for j := range s * c {
						if j%c/(c/groups) == k && (all || valid[i*s+j/c]) {
							do(i*s*c + j)
						}
					}
				}
				each(func(at int) { sum, n = sum+float64(x[at]), n+1 })
				each(func(at int) { squares += math.Pow(float64(x[at])-sum/n, 2) })
				each(func(at int) {
					want[at] = float32((float64(x[at]) - sum/n) / math.Sqrt(squares/n+epsilon))
				})
			}
		}
		for name, backend := range backends {
			got := run(t, backend(t), func(scope *model.Scope, in []*Node) []*Node {
				at := in[1]
				if all {
					at = nil
				}
				return []*Node{GroupNorm(scope, in[0], groups, epsilon, at)}
			}, tensors.FromFlatDataAndDimensions(x, b, s, c), tensors.FromFlatDataAndDimensions(valid, b, s))[0]
			for i := range valid {
				if !all && !valid[i] {
					copy(got[i*c:], slices.Repeat([]float32{0}, c))
				}
			}
			near.Check(t, name, got, want, 1e-5, 1e-5)
		}
	}
}
