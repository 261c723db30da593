package vit

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"

	"antipode/gomlxmodels/nn"
)

// GraphOptions says what [Forward] computes; the zero value is the embedding of whole images.
type GraphOptions struct {
	// Object asks for Obj-only and BG-only too: [B,N] bool, true = the patch holds object pixels.
	Object  *Node
	Masking Masking // "" = Drop
	// Pieces are the pixels the two masked set-ups see, [B,C,H,W] for object patches and the same for background
	// patches; nil = the original pixels.
	Pieces *[2]*Node
	Tokens bool // compute every row of the last block: Outputs.Tokens
	Stages bool // keep what each stage gives: Outputs.Embedded, Outputs.Blocks; implies Tokens
	Pooler bool // Outputs.Pooled: Hugging Face's pooler on the class token
	// Classes > 0 asks for Outputs.Logits: a classification head of that many classes on the class token.
	Classes int
	DType   dtypes.DType // what is computed in; zero = the pixels' own
}

// Outputs is what [Forward] gives; what was not asked for is nil. All are float32.
type Outputs struct {
	CLS        *Node   // [B,D] Full-image: the class token after the final norm
	Object     *Node   // [B,D] Obj-only; meaningless for a row without object patches
	Background *Node   // [B,D] BG-only; meaningless for a row without background patches
	Tokens     *Node   // [B,T+N,D] all tokens of the full pass after the final norm
	Embedded   *Node   // [B,T+N,D] input of block 1
	Blocks     []*Node // [B,T+N,D] each, after every block
	Pooled     *Node   // [B,pooler_output_size]
	Logits     *Node   // [B,K]
}

// Forward is the network. Variables are created below scope where they have no values yet, with the start values of
// package nn, so that the same function trains. It panics on a mistake in shapes.
//
// Shapes: pixels [B,C,H,W] float, normalised as the checkpoint wants; options as documented there → [Outputs].
func Forward(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) Outputs {
	pixels.AssertDims(-1, cfg.NumChannels, cfg.ImageSize[0], cfg.ImageSize[1])
	f := &forward{scope: scope, cfg: cfg, dtype: o.DType}
	if f.dtype == dtypes.InvalidDType {
		f.dtype = pixels.DType()
	}
	var out Outputs
	patches := f.patches(pixels)
	x := f.sequence(patches, 1)
	out.Embedded = asFloat32(x)
	queries := 1
	if o.Tokens || o.Stages {
		queries = 0
	}
	x = f.blocks(x, queries, nil, false, func(b *Node) { out.Blocks = append(out.Blocks, asFloat32(b)) })
	x = f.norm(scope.At("norm"), x)
	cls := f.row(x, 0)
	out.CLS = asFloat32(cls)
	if queries == 0 {
		out.Tokens = asFloat32(x)
	}
	if !o.Stages {
		out.Embedded, out.Blocks = nil, nil
	}
	if o.Pooler {
		out.Pooled = asFloat32(nn.Activation(cfg.PoolerAct, nn.Dense(scope.At("pooler"), cls, cfg.poolerSize(), true)))
	}
	if o.Classes > 0 {
		out.Logits = asFloat32(nn.Dense(scope.At("classifier"), cls, o.Classes, true))
	}
	if o.Object != nil {
		o.Object.AssertDims(pixels.Shape().Dim(0), cfg.Patches())
		if o.Pieces != nil {
			side := BroadcastToShape(InsertAxes(o.Object, -1), shapes.Make(dtypes.Bool, patches.Shape().Dimensions...))
			patches = Where(side, f.patches(o.Pieces[0]), f.patches(o.Pieces[1]))
		}
		if o.Masking == ZeroProb {
			out.Object, out.Background = f.zeroProb(patches, o.Object)
		} else {
			out.Object, out.Background = f.packed(patches, o.Object)
		}
	}
	out.CLS.AssertDims(pixels.Shape().Dim(0), cfg.HiddenSize)
	return out
}

// forward is one network being built.
type forward struct {
	scope *model.Scope
	cfg   *Config
	dtype dtypes.DType
}

func asFloat32(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

func (f *forward) norm(scope *model.Scope, x *Node) *Node {
	return nn.LayerNorm(scope, x, f.cfg.LayerNormEps)
}

// row takes one token.
//
// Shapes: x [B,S,D] → [B,D].
func (f *forward) row(x *Node, at int) *Node {
	return Squeeze(Slice(x, AxisRange(), AxisElem(at)), 1)
}

// patches embeds the patches, position included: the convolution of the paper as one matrix product.
//
// Shapes: pixels [B,C,H,W] → [B,N,D].
func (f *forward) patches(pixels *Node) *Node {
	c := f.cfg
	b := pixels.Shape().Dim(0)
	rows, columns := c.Grid()
	ph, pw := c.PatchSize[0], c.PatchSize[1]
	pixels = Slice(ConvertDType(pixels, f.dtype), AxisRange(), AxisRange(), AxisRange(0, rows*ph), AxisRange(0, columns*pw)) // a rest of the image is not seen
	x := Reshape(pixels, b, c.NumChannels, rows, ph, columns, pw)
	x = Reshape(TransposeAllAxes(x, 0, 2, 4, 1, 3, 5), b, rows*columns, c.NumChannels*ph*pw)
	x = nn.Dense(f.scope.At("patch"), x, c.HiddenSize, !c.PreNorm)
	return Add(x, f.positions(x.Graph(), f.positionsBefore(), c.Patches()))
}

// positionsBefore is how many position embeddings belong to prefix tokens.
func (f *forward) positionsBefore() int {
	if f.cfg.PatchPositions {
		return 0
	}
	return f.cfg.Prefix()
}

// positions is a range of the position embeddings, [1,n,D].
func (f *forward) positions(g *Graph, from, n int) *Node {
	all := nn.Param(f.scope.At("tokens"), g, "positions", f.dtype, 1, f.positionsBefore()+f.cfg.Patches(), f.cfg.HiddenSize)
	return Slice(all, AxisRange(), AxisRange(from, from+n))
}

// sequence puts the prefix tokens before the patches: each of them copies times, class tokens first.
//
// Shapes: patches [B,N,D] → [B,copies·T+N,D].
func (f *forward) sequence(patches *Node, copies int) *Node {
	g, b, c := patches.Graph(), patches.Shape().Dim(0), f.cfg
	prefix := nn.Param(f.scope.At("tokens"), g, "class", f.dtype, 1, 1, c.HiddenSize)
	if c.Registers > 0 {
		prefix = Concatenate([]*Node{prefix, nn.Param(f.scope.At("tokens"), g, "registers", f.dtype, 1, c.Registers, c.HiddenSize)}, 1)
	}
	if f.positionsBefore() > 0 {
		prefix = Add(prefix, f.positions(g, 0, c.Prefix()))
	}
	parts := []*Node{}
	for t := range c.Prefix() {
		one := Slice(prefix, AxisRange(), AxisElem(t))
		for range copies {
			parts = append(parts, BroadcastToDims(one, b, 1, c.HiddenSize))
		}
	}
	x := Concatenate(append(parts, patches), 1)
	if c.PreNorm {
		x = f.norm(f.scope.At("prenorm"), x)
	}
	return x
}

// blocks runs the encoder. Of the last block only the first queries rows are computed; 0 = all.
//
// Shapes: x [B,S,D]; keep [B,1,S or 1,S] bool or nil → [B,queries or S,D].
func (f *forward) blocks(x *Node, queries int, keep *Node, zeroProb bool, each func(*Node)) *Node {
	for i := range f.cfg.Layers {
		rows := 0
		if i == f.cfg.Layers-1 {
			rows = queries
		}
		x = f.block(f.scope.At("block_%d", i), x, rows, keep, zeroProb)
		if each != nil {
			each(x)
		}
	}
	return x
}

func (f *forward) block(scope *model.Scope, x *Node, rows int, keep *Node, zeroProb bool) *Node {
	if rows > 0 && keep != nil && keep.Shape().Dim(2) > 1 {
		keep = Slice(keep, AxisRange(), AxisRange(), AxisRange(0, rows))
	}
	y := nn.SelfAttention(scope.At("attention"), f.norm(scope.At("norm1"), x), nn.AttentionOptions{
		Heads: f.cfg.Heads, QKVBias: f.cfg.QKVBias, Queries: rows, Keep: keep, ZeroProb: zeroProb})
	if rows > 0 {
		x = Slice(x, AxisRange(), AxisRange(0, rows))
	}
	x = Add(x, f.layerScale(scope.At("scale1"), y))
	y = nn.MLP(scope.At("mlp"), f.norm(scope.At("norm2"), x), f.cfg.IntermediateSize, f.cfg.HiddenAct)
	return Add(x, f.layerScale(scope.At("scale2"), y))
}

func (f *forward) layerScale(scope *model.Scope, x *Node) *Node {
	if !f.cfg.LayerScale {
		return x
	}
	d := f.cfg.HiddenSize
	gain := scope.WithInitializer(initializer.One).VariableWithShape("gain", shapes.Make(f.dtype, d)).NodeValue(x.Graph())
	return Mul(x, Reshape(gain, 1, 1, d))
}

// packed computes Obj-only and BG-only in one sequence: every prefix token twice, once for each side, and attention only
// within a side. Equal to two sequences from which the other side's patches were removed.
//
// Shapes: patches [B,N,D]; object [B,N] bool → [B,D], [B,D].
func (f *forward) packed(patches, object *Node) (*Node, *Node) {
	g, b := patches.Graph(), patches.Shape().Dim(0)
	prefix := make([]bool, 0, 2*f.cfg.Prefix())
	for range f.cfg.Prefix() {
		prefix = append(prefix, true, false)
	}
	side := Concatenate([]*Node{BroadcastToDims(Const(g, [][]bool{prefix}), b, len(prefix)), object}, 1) // [B,S]
	s := side.Shape().Dim(1)
	keep := LogicalNot(LogicalXor(BroadcastToDims(InsertAxes(side, -1), b, s, s), BroadcastToDims(InsertAxes(side, 1), b, s, s)))
	x := f.blocks(f.sequence(patches, 2), 2, InsertAxes(keep, 1), false, nil)
	x = f.norm(f.scope.At("norm"), x)
	return asFloat32(f.row(x, 0)), asFloat32(f.row(x, 1))
}

// zeroProb computes Obj-only and BG-only as two sequences one after the other in the batch, multiplying the attention
// to excluded patches by 0 after the softmax. Excluded patches still shape the sums, so nothing can be packed.
//
// Shapes: patches [B,N,D]; object [B,N] bool → [B,D], [B,D].
func (f *forward) zeroProb(patches, object *Node) (*Node, *Node) {
	g, b, t := patches.Graph(), patches.Shape().Dim(0), f.cfg.Prefix()
	x := f.sequence(patches, 1)
	x = Concatenate([]*Node{x, x}, 0)
	side := Concatenate([]*Node{object, LogicalNot(object)}, 0)
	ones := BroadcastToDims(Const(g, [][]bool{{true}}), 2*b, t)
	keep := Concatenate([]*Node{ones, side}, 1) // [2B,S]
	x = f.blocks(x, 1, Reshape(keep, 2*b, 1, 1, keep.Shape().Dim(1)), true, nil)
	cls := asFloat32(f.row(f.norm(f.scope.At("norm"), x), 0))
	return Slice(cls, AxisRange(0, b)), Slice(cls, AxisRange(b, 2*b))
}
