package nn

import (
	"antipode/internal/must"
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// TestWindows compares with a loop over positions, in maps that whole windows fill and in others, and puts the windows
// back.
func TestWindows(t *testing.T) {
	const b, c = 2, 3
	for _, v := range []struct{ h, w, side int }{{6, 9, 3}, {5, 7, 3}, {2, 3, 4}, {4, 9, 4}, {8, 3, 4}, {3, 2, 1}} {
		x := tensors.MustCopyFlatData[float32](noise(4, b, v.h, v.w, c))
		rows, columns := windows(v.h, v.side), windows(v.w, v.side)
		var want []float32
		for i := range b * rows * columns * v.side * v.side {
			window, at := i/(v.side*v.side), i%(v.side*v.side)
			y := window/columns%rows*v.side + at/v.side
			x0 := window%columns*v.side + at%v.side
			for k := range c {
				value := float32(0)
				if y < v.h && x0 < v.w {
					value = x[((window/(rows*columns)*v.h+y)*v.w+x0)*c+k]
				}
				want = append(want, value)
			}
		}
		for name, backend := range backends {
			t.Run(fmt.Sprintf("%s/%d×%d in %d", name, v.h, v.w, v.side), func(t *testing.T) {
				got := run(t, backend(t), func(_ *model.Scope, in []*Node) []*Node {
					split := Windows(in[0], v.side)
					split.AssertDims(b*rows*columns, v.side*v.side, c)
					joined := JoinWindows(split, v.side, v.h, v.w)
					return []*Node{split, joined, Gradient(ReduceAllSum(Mul(joined, Sin(joined))), in[0])[0],
						Gradient(ReduceAllSum(Mul(in[0], Sin(in[0]))), in[0])[0]}
				}, tensors.FromFlatDataAndDimensions(x, b, v.h, v.w, c))
				must.EqualSlices(t, got[0], want, "windows")
				must.EqualSlices(t, got[1], x)
				must.EqualSlices(t, got[2], got[3])
			})
		}
	}
}
