package groundingdino

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// swinEps is the epsilon of those norms of the backbone that its configuration does not decide.
const swinEps = 1e-5

// Backbone is the result of [ForwardBackbone]; places outside of an image's maps are meaningless.
type Backbone struct {
	Patches *Node   // [B,H,W,C] of stage 1, before its first block
	Blocks  []*Node // [B,H,W,C] each, after every block
	Merged  []*Node // [B,H,W,C] each, inputs of the stages 2 to 4
	Maps    []*Node // [B,H,W,C] each, normalized outputs of the stages 2 to 4
}

// ForwardBackbone is the Swin transformer (Liu et al. 2021, arXiv 2103.14030): attention in windows, which every other
// block shifts by half a window, in four stages, each of half the height and width and twice the width in channels.
//
// Shapes: pixels [B,3,H,W], of the bucket; sizes [B,N,2] float32, what [Config.Sizes] returns for each image →
// [Backbone].
func ForwardBackbone(scope *model.Scope, cfg *Config, pixels, sizes *Node) (out Backbone) {
	c := &cfg.Swin
	b, h, w, p := pixels.Shape().Dim(0), pixels.Shape().Dim(2), pixels.Shape().Dim(3), c.PatchSize
	f := newFrame(cfg, Size{h, w}, sizes)
	x := f.mask(0, TransposeAllAxes(pixels, 0, 2, 3, 1))
	x = TransposeAllAxes(Reshape(x, b, h/p, p, w/p, p, 3), 0, 1, 3, 5, 2, 4)
	x = nn.Dense(scope.At("patches"), Reshape(x, b, h/p, w/p, 3*p*p), c.EmbedDim, true)
	x = nn.LayerNorm(scope.At("patches_norm"), x, swinEps)
	out.Patches = x
	for s := range stages {
		at := scope.At("stage_%d", s)
		if s > 0 {
			x = merge(at.At("merge"), f, s, x)
			out.Merged = append(out.Merged, x)
		}
		for i := range c.Depths[s] {
			x = swinBlock(at.At("block_%d", i), f, s, i%2 == 1, x)
			out.Blocks = append(out.Blocks, x)
		}
		if s > 0 {
			out.Maps = append(out.Maps, nn.LayerNorm(at.At("norm"), x, swinEps))
		}
	}
	return out
}

// merge makes one position of four: the input of stage s from the output of the one before.
//
// Shapes: x [B,H,W,C] → [B,⌈H/2⌉,⌈W/2⌉,2C].
func merge(scope *model.Scope, f *frame, s int, x *Node) *Node {
	to, c := f.places[1+s], x.Shape().Dim(3)
	x = pad(f.mask(s, x), 2*to.Height, 2*to.Width)
	x = TransposeAllAxes(Reshape(x, -1, to.Height, 2, to.Width, 2, c), 0, 1, 3, 4, 2, 5) // columns before rows
	x = nn.LayerNorm(scope.At("norm"), Reshape(x, -1, to.Height, to.Width, 4*c), swinEps)
	return nn.Dense(scope.At("reduction"), x, 2*c, false)
}

// swinBlock is a transformer block whose attention is within windows.
//
// Shapes: x [B,H,W,C] → [B,H,W,C].
func swinBlock(scope *model.Scope, f *frame, s int, shifted bool, x *Node) *Node {
	c, place, width := &f.cfg.Swin, f.places[1+s], x.Shape().Dim(3)
	ws, shift := c.Window, 0
	if shifted {
		shift = c.Window / 2
	}
	rows, columns := (place.Height+ws-1)/ws*ws, (place.Width+ws-1)/ws*ws // of whole windows
	o := nn.SelfAttentionOptions{Heads: c.Heads[s], NoQKVBias: !c.QKVBias}
	block := nn.Block{Hidden: c.hidden(s), Activation: c.HiddenAct, Epsilon: c.LayerNormEps}
	block.Attend = func(scope *model.Scope, y *Node) *Node {
		y = f.mask(1+s, Reshape(y, -1, place.Height, place.Width, width))
		// the zeros up to the next whole window are attended to
		y = nn.Windows(roll(pad(y, rows, columns), shift), ws)
		if shift > 0 {
			areas := nn.Windows(roll(f.areas(1+s, rows, columns, shift), shift), ws) // [B·windows,ws²,1]
			o.Keep = InsertAxes(Equal(areas, TransposeAllAxes(areas, 0, 2, 1)), 1)
		}
		o.Bias = windowBias(scope, y.Graph(), ws, o.Heads)
		y = roll(nn.JoinWindows(nn.SelfAttention(scope, y, o), ws, rows, columns), -shift)
		y = Slice(y, AxisRange(), AxisRange(0, place.Height), AxisRange(0, place.Width))
		return Reshape(y, -1, place.Height*place.Width, width)
	}
	y := block.Forward(scope, Reshape(x, -1, place.Height*place.Width, width))
	return Reshape(y, x.Shape().Dimensions...)
}

// areas numbers the parts of a map that attend to themselves alone where windows are shifted: what the shift moves to
// the other end, the whole windows of the image, and the rest of the bucket, by rows and by columns.
//
// Shapes: → [B,rows,columns,1] float32.
func (f *frame) areas(i, rows, columns, shift int) *Node {
	g, b := f.sizes.Graph(), f.sizes.Shape().Dim(0)
	side := func(n, axis int) *Node { // [B,n]
		windows, moved := make([]float32, n), make([]float32, n) // first rows of windows; 1 where a row is moved
		for r := range n {
			windows[r] = float32(r / f.cfg.Swin.Window * f.cfg.Swin.Window)
			if r < shift {
				moved[r] = 1
			}
		}
		like := func(v []float32) *Node { return BroadcastToDims(Const(g, [][]float32{v}), b, n) }
		inside := LessThan(like(windows), BroadcastToDims(Reshape(f.side(i, axis), b, 1), b, n))
		return Add(ConvertDType(inside, dtypes.Float32), like(moved))
	}
	area := Add(MulScalar(InsertAxes(side(rows, 0), 2), 3), InsertAxes(side(columns, 1), 1))
	return InsertAxes(area, -1)
}

// windowBias is added to attention by the distance of key and query.
//
// Shapes: → [1,heads,ws²,ws²].
func windowBias(scope *model.Scope, g *Graph, ws, heads int) *Node {
	at := make([][]int32, ws*ws)
	for q := range at {
		at[q] = make([]int32, ws*ws)
		for k := range at[q] {
			at[q][k] = int32((q/ws-k/ws+ws-1)*(2*ws-1) + q%ws - k%ws + ws - 1)
		}
	}
	table := nn.Param(scope, g, "distances", dtypes.Float32, (2*ws-1)*(2*ws-1), heads)
	return InsertAxes(TransposeAllAxes(Gather(table, InsertAxes(Const(g, at), -1)), 2, 0, 1), 0)
}

// pad adds zeros on the right and below.
//
// Shapes: x [B,H,W,C] → [B,rows,columns,C].
func pad(x *Node, rows, columns int) *Node {
	for axis, n := range []int{0, rows, columns} {
		if shape := x.Shape().Clone(); axis > 0 && shape.Dim(axis) < n {
			shape.Dimensions[axis] = n - shape.Dim(axis)
			x = Concatenate([]*Node{x, Zeros(x.Graph(), shape)}, axis)
		}
	}
	return x
}

// roll moves rows up and columns left, and what leaves on one side comes in on the other.
//
// Shapes: x [B,H,W,C] → [B,H,W,C].
func roll(x *Node, by int) *Node {
	if by == 0 {
		return x
	}
	for axis := 1; axis <= 2; axis++ {
		n := x.Shape().Dim(axis)
		at := (by + n) % n
		x = Concatenate([]*Node{SliceAxis(x, axis, AxisRange(at)), SliceAxis(x, axis, AxisRange(0, at))}, axis)
	}
	return x
}
