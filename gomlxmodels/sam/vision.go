package sam

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Vision is the result of [ForwardVision].
type Vision struct {
	Embedded  *Node   // [B,G,G,D] input of block 0; of dtype
	Blocks    []*Node // [B,G²,D] after each block; of dtype
	Embedding *Node   // [B,G,G,C] float32
}

// neckEpsilon is the epsilon of the norms that have none in the configuration.
const neckEpsilon = 1e-6

// ForwardVision is the image encoder: patches, blocks, neck. It panics on wrong shapes.
//
// Shapes: pixels [B,3,side,side] float, normalized as the checkpoint requires, 0 where there is no image → [Vision].
func ForwardVision(scope *model.Scope, cfg *Config, pixels *Node, dtype dtypes.DType) (out Vision) {
	c := &cfg.Vision
	b, side, width := pixels.Shape().Dim(0), c.Grid(), c.HiddenSize
	pixels.AssertDims(b, 3, c.ImageSize, c.ImageSize)
	x := Reshape(ConvertDType(pixels, dtype), b, 3, side, c.PatchSize, side, c.PatchSize)
	x = Reshape(TransposeAllAxes(x, 0, 2, 4, 1, 3, 5), b, side, side, 3*c.PatchSize*c.PatchSize)
	x = nn.Dense(scope.At("patch"), x, width, true)
	out.Embedded = Add(x, nn.Param(scope, x.Graph(), "positions", dtype, 1, side, side, width))
	x = Reshape(out.Embedded, b, side*side, width)
	for i := range c.Layers {
		block := nn.Block{Hidden: c.IntermediateSize, Activation: c.HiddenAct, Epsilon: c.LayerNormEps}
		block.Attend = func(scope *model.Scope, x *Node) *Node {
			window := c.window(i)
			x = nn.Windows(Reshape(x, b, side, side, width), window)
			atOnce := scoresAtOnce
			if nn.OnGPU(x.Graph().Backend()) {
				atOnce *= 16
			}
			x = attendWindow(scope, x, window, c.Heads, c.QKVBias, atOnce)
			return Reshape(nn.JoinWindows(x, window, side, side), b, side*side, width)
		}
		x = block.Forward(scope.At("block_%d", i), x)
		out.Blocks = append(out.Blocks, x)
	}
	neck := func(name string, x *Node) *Node { return nn.LayerNorm(scope.At("%s", name), x, neckEpsilon) }
	x = nn.Dense(scope.At("neck_conv1"), Reshape(x, b, side, side, width), c.OutputChannels, false)
	x = nn.Convolve3(scope.At("neck_conv2"), neck("neck_norm1", x), c.OutputChannels, false)
	out.Embedding = nn.Float32(neck("neck_norm2", x))
	out.Embedding.AssertDims(b, side, side, c.OutputChannels)
	return out
}

// scoresAtOnce is how many attention scores are computed at once, so that they stay in the processor's cache. A global
// block of a real model has 2^24 for each head.
const scoresAtOnce = 1 << 22

// attendWindow is self-attention in square windows with decomposed relative positions: to the score of two positions
// come the products of the (unscaled) query with a learned vector for the difference of their rows, and with one for
// that of their columns. At most atOnce scores, or those of one row of queries and one head, are computed at once.
// Variables: "rows", "columns" [2·side−1,d]; scopes: "qkv", "out".
//
// It is not [nn.Attention] because keys keep their two axes: flat, they take XLA a quarter more processor time.
//
// Shapes: x [B,side²,D] → [B,side²,D].
func attendWindow(scope *model.Scope, x *Node, side, heads int, bias bool, atOnce int) *Node {
	g, b, s, width := x.Graph(), x.Shape().Dim(0), side*side, x.Shape().Dim(2)
	d := width / heads
	qkv := Reshape(nn.Dense(scope.In("qkv"), x, 3*width, bias), b, s, 3, heads, d)
	qkv = TransposeAllAxes(qkv, 2, 0, 3, 1, 4) // [3,B,H,side²,d]
	relative := func(name string) *Node {      // [side,side,d]: of a query's and a key's row or column
		table := nn.Param(scope, g, name, x.DType(), 2*side-1, d)
		at := shapes.Make(dtypes.Int32, side, side)
		return Gather(table, InsertAxes(AddScalar(Sub(Iota(g, at, 0), Iota(g, at, 1)), side-1), -1))
	}
	rows, columns := relative("rows"), relative("columns")
	group := max(1, min(heads, atOnce/(b*s*s)))
	lines := max(1, min(side, atOnce/(b*group*side*s))) // rows of queries
	var parts []*Node
	for from := 0; from < heads; from += group {
		n := min(group, heads-from)
		part := func(i int) *Node {
			return Squeeze(Slice(qkv, AxisElem(i), AxisRange(), AxisRange(from, from+n)), 0)
		}
		k, v, square := part(1), part(2), Reshape(part(0), b, n, side, side, d)
		var done []*Node
		for line := 0; line < side; line += lines {
			m := min(lines, side-line)
			q := Slice(square, AxisRange(), AxisRange(), AxisRange(line, line+m))
			down := Einsum("bhyxd,yzd->bhyxz", q, Slice(rows, AxisRange(line, line+m)))
			across := Einsum("bhyxd,xzd->bhyxz", q, columns)
			q = MulScalar(Reshape(q, b, n, m*side, d), 1/math.Sqrt(float64(d)))
			scores := DotGeneral(q, []int{3}, []int{0, 1}, k, []int{3}, []int{0, 1})
			scores = nn.Float32(Reshape(scores, b, n, m*side, side, side))
			scores = Add(scores, nn.Float32(Add(Reshape(down, b, n, m*side, side, 1),
				Reshape(across, b, n, m*side, 1, side))))
			e := Exp(Sub(scores, ReduceAndKeep(scores, ReduceMax, 3, 4)))
			sum := Reshape(ReduceSum(e, 3, 4), b, n, m*side, 1)
			e = ConvertDType(Reshape(e, b, n, m*side, s), x.DType())
			y := nn.Float32(DotGeneral(e, []int{3}, []int{0, 1}, v, []int{2}, []int{0, 1}))
			done = append(done, ConvertDType(Div(y, sum), x.DType()))
		}
		parts = append(parts, Concatenate(done, 2))
	}
	y := Reshape(TransposeAllAxes(Concatenate(parts, 1), 0, 2, 1, 3), b, s, width)
	return nn.Dense(scope.In("out"), y, width, true)
}
