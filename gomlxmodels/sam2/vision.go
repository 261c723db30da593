package sam2

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/preprocess"
)

// Vision is the result of [ForwardVision]. The maps' sides are S, S/2, S/4 and S/8.
type Vision struct {
	Embedded  *Node   // [B,S,S,D] input of block 0; of dtype
	Stages    []*Node // [B,side,side,width] after each of the 4 stages; of dtype
	Levels    []*Node // [B,side,side,C] of the pyramid, the 3 finest; of dtype
	Embedding *Node   // [B,G,G,C] float32: the third level, as the decoder takes it
	// details for the decoder, each two rows and columns of an axis of their own: of the second level, of the first
	Half *Node // [B,G,G,2,2,C/4] float32
	Full *Node // [B,G,G,2,2,C/8,2,2] float32
}

// ForwardVision is the image encoder: patches, blocks, pyramid. It panics on wrong shapes.
//
// Shapes: pixels [B,3,side,side] float, normalized as the checkpoint requires → [Vision].
func ForwardVision(scope *model.Scope, cfg *Config, pixels *Node, dtype dtypes.DType) (out Vision) {
	b, side, c, h := pixels.Shape().Dim(0), int(cfg.ImageSize), &cfg.Vision, &cfg.Hiera
	pixels.AssertDims(b, 3, side, side)
	out.Embedded = embed(scope, cfg, ConvertDType(pixels, dtype))
	x, number := out.Embedded, 0
	for stage, blocks := range h.Blocks {
		for i := range blocks {
			x = block(scope.At("block_%d", number), h, x, stage, h.window(stage, number, i == 0), stage > 0 && i == 0)
			number++
		}
		out.Stages = append(out.Stages, x)
	}
	out.Levels = make([]*Node, stages)
	for i := stages - 1; i >= 0; i-- {
		x := nn.Dense(scope.At("pyramid_%d", i), out.Stages[i], c.Width, true)
		if i < stages-1 && slices.Contains(c.TopDown, i) {
			x = Add(x, double(out.Levels[i+1]))
		}
		out.Levels[i] = x
	}
	out.Levels = out.Levels[:levels]
	g, w := cfg.Side(2), c.Width
	none := nn.Param(scope, pixels.Graph(), "no_memory", dtype, 1, 1, w)
	out.Embedding = nn.Float32(Add(out.Levels[2], Reshape(none, 1, 1, 1, w)))
	half := nn.Dense(scope.At("half"), out.Levels[1], w/4, true)
	half = TransposeAllAxes(Reshape(half, b, g, 2, g, 2, w/4), 0, 1, 3, 2, 4, 5)
	full := nn.Dense(scope.At("full"), out.Levels[0], w/8, true)
	full = TransposeAllAxes(Reshape(full, b, g, 2, 2, g, 2, 2, w/8), 0, 1, 4, 2, 5, 7, 3, 6)
	out.Half, out.Full = nn.Float32(half), nn.Float32(full)
	out.Embedding.AssertDims(b, g, g, w)
	return out
}

// embed is the patches and their positions: a small map that is enlarged for the whole image, and one that is repeated
// in each window.
//
// Shapes: pixels [B,3,side,side] → [B,S,S,D].
func embed(scope *model.Scope, cfg *Config, pixels *Node) *Node {
	g, dtype, h, s := pixels.Graph(), pixels.DType(), &cfg.Hiera, cfg.Side(0)
	d, window, back := h.HiddenSize, h.Windows[0], h.Background
	kernel := nn.Param(scope.At("patch"), g, "weights", dtype, d, 3, 7, 7)
	bias := nn.Param(scope.At("patch"), g, "bias", dtype, d)
	x := Convolve(TransposeAllAxes(pixels, 0, 2, 3, 1), TransposeAllAxes(kernel, 2, 3, 1, 0)).Strides(4).
		PaddingPerDim([][2]int{{3, 3}, {3, 3}}).Done()
	x = Add(x, Reshape(bias, 1, 1, 1, d))
	enlarge := func(from int) *Node { // [S,from]
		weights := make([][]float32, s)
		for i, taps := range preprocess.CubicTaps(from, s, false) {
			weights[i] = make([]float32, from)
			for _, tap := range taps {
				weights[i][tap.At] += float32(tap.Weight)
			}
		}
		return Const(g, weights)
	}
	whole := nn.Float32(Reshape(nn.Param(scope, g, "positions", dtype, 1, d, back[0], back[1]), d, back[0], back[1]))
	whole = Einsum("drx,cx->rcd", Einsum("dyx,ry->drx", whole, enlarge(back[0])), enlarge(back[1]))
	each := nn.Param(scope, g, "window_positions", dtype, 1, d, window, window)
	each = Reshape(TransposeAllAxes(each, 0, 2, 3, 1), 1, 1, window, 1, window, d)
	each = Reshape(BroadcastToDims(each, 1, s/window, window, s/window, window, d), 1, s, s, d)
	return Add(x, Add(ConvertDType(InsertAxes(whole, 0), dtype), each))
}

// block is one block of the backbone. Where it pools, its queries and what it adds to are the largest of 2×2, and it
// has another width.
//
// Shapes: x [B,H,W,in] → [B,H,W,width], or half of H and W where it pools.
func block(scope *model.Scope, h *HieraConfig, x *Node, stage, window int, pools bool) *Node {
	y := nn.LayerNorm(scope.At("norm1"), x, h.LayerNormEps)
	if pools {
		x = pool(nn.Dense(scope.At("skip"), y, h.Widths[stage], true))
	}
	x = Add(x, attend(scope.At("attention"), y, h.Widths[stage], h.Heads[stage], window, pools))
	y = nn.LayerNorm(scope.At("norm2"), x, h.LayerNormEps)
	return Add(x, nn.MLP(scope.At("mlp"), y, h.hidden(stage), h.HiddenAct))
}

// attend is self-attention in square windows, or of the whole map where window is 0. Maps are padded to whole windows
// with zeros, which are attended to: their keys and values are the biases. So the bias is added after the padding.
//
// Shapes: x [B,H,W,in] → [B,H,W,width], or half of H and W where queries are pooled.
func attend(scope *model.Scope, x *Node, width, heads, window int, pools bool) *Node {
	g, dims := x.Graph(), x.Shape().Dimensions
	b, height, columns, d := dims[0], dims[1], dims[2], width/heads
	if window == 0 {
		window = max(height, columns)
	}
	rows, cols := (height+window-1)/window, (columns+window-1)/window
	bias := nn.Param(scope.At("qkv"), g, "bias", x.DType(), 3*width)
	qkv := nn.Dense(scope.At("qkv"), x, 3*width, false)
	for axis, size := range map[int]int{1: rows * window, 2: cols * window} {
		shape := qkv.Shape().Clone()
		if shape.Dimensions[axis] = size - shape.Dim(axis); shape.Dim(axis) > 0 {
			qkv = Concatenate([]*Node{qkv, Zeros(g, shape)}, axis)
		}
	}
	qkv = Reshape(Add(qkv, Reshape(bias, 1, 1, 1, 3*width)), b, rows, window, cols, window, 3, heads, d)
	qkv = Reshape(TransposeAllAxes(qkv, 5, 0, 1, 3, 6, 2, 4, 7), 3, b*rows*cols, heads, window*window, d)
	part := func(i int) *Node { return Squeeze(Slice(qkv, AxisElem(i)), 0) }
	q := part(0)
	if pools {
		window, height, columns = window/2, height/2, columns/2
		q = pool(Reshape(q, b*rows*cols*heads, 2*window, 2*window, d))
		q = Reshape(q, b*rows*cols, heads, window*window, d)
	}
	y := nn.Attention(q, part(1), part(2), nn.AttentionOptions{AtOnce: scoresAtOnce})
	y = TransposeAllAxes(Reshape(y, b, rows, cols, heads, window, window, d), 0, 1, 4, 2, 5, 3, 6)
	y = Reshape(y, b, rows*window, cols*window, width)
	y = Slice(y, AxisRange(), AxisRange(0, height), AxisRange(0, columns))
	return nn.Dense(scope.At("out"), y, width, true)
}

// scoresAtOnce is how many attention scores are computed at once. A global block of a real model has 2^24 for each
// head.
const scoresAtOnce = 1 << 26

// pool is the largest of each 2×2.
//
// Shapes: x [B,H,W,C] → [B,H/2,W/2,C].
func pool(x *Node) *Node {
	dims := x.Shape().Dimensions
	x = Reshape(x, dims[0], dims[1]/2, 2, dims[2]/2, 2, dims[3])
	at := func(i, j int) *Node {
		return Slice(x, AxisRange(), AxisRange(), AxisElem(i), AxisRange(), AxisElem(j))
	}
	return Reshape(Max(Max(at(0, 0), at(0, 1)), Max(at(1, 0), at(1, 1))), dims[0], dims[1]/2, dims[2]/2, dims[3])
}

// double repeats each position in 2×2.
//
// Shapes: x [B,H,W,C] → [B,2·H,2·W,C].
func double(x *Node) *Node {
	dims := x.Shape().Dimensions
	x = BroadcastToDims(Reshape(x, dims[0], dims[1], 1, dims[2], 1, dims[3]), dims[0], dims[1], 2, dims[2], 2, dims[3])
	return Reshape(x, dims[0], 2*dims[1], 2*dims[2], dims[3])
}
