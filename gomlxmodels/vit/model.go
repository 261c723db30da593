package vit

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// GraphOptions are the options of [Forward]; the zero value computes the embedding of whole images.
type GraphOptions struct {
	// Object requests Obj-only and BG-only too: [B,N] bool, true = the patch contains object pixels.
	Object  *Node
	Masking Masking // "" = Drop
	// Pieces are the pixels that the two masked sequences see, [B,C,H,W] for object patches and the same for background
	// patches; nil = the original pixels.
	Pieces  *[2]*Node
	Tokens  bool         // compute every row of the last block: Outputs.Tokens
	Pooler  bool         // Outputs.Pooled: Hugging Face's pooler on the class token
	Classes int          // Outputs.Logits: a classification head of so many classes on the class token; 0 = none
	DType   dtypes.DType // of the computation; zero = that of the pixels
}

// Outputs is the result of [Forward]; what was not requested is nil. All are float32 except Embedded and Blocks, which
// have the dtype of the computation.
type Outputs struct {
	// Full-image: the class token after the final norm, or the output of the pooling head. Of a tower with a projection
	// [B,P], as Object and Background.
	CLS        *Node   // [B,D]
	Object     *Node   // [B,D] Obj-only; meaningless for a row without object patches
	Background *Node   // [B,D] BG-only; meaningless for a row without background patches
	Tokens     *Node   // [B,T+N,D] all tokens of the full pass after the final norm
	Embedded   *Node   // [B,T+N,D] input of block 0
	Blocks     []*Node // [B,T+N,D] hidden states after each block; the last [B,1,D] without Tokens
	Pooled     *Node   // [B,pooler_output_size]
	Logits     *Node   // [B,K]
}

// Forward is the network. Variables without values are created below scope and initialized as package nn does, so that
// the same function trains. It panics on wrong shapes.
//
// Shapes: pixels [B,C,H,W] float, normalized as the checkpoint requires → [Outputs].
func Forward(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) (out Outputs) {
	pixels.AssertDims(-1, cfg.NumChannels, cfg.ImageSize[0], cfg.ImageSize[1])
	f := &forward{scope: scope, cfg: cfg, dtype: o.DType}
	if f.dtype == dtypes.InvalidDType {
		f.dtype = pixels.DType()
	}
	patches := f.patches(pixels)
	out.Embedded = f.sequence(patches, 1)
	last := nn.Block{SelfAttentionOptions: nn.SelfAttentionOptions{Queries: 1}}
	if o.Tokens || cfg.AttentionPool {
		last.Queries = 0
	}
	out.Blocks = f.blocks(out.Embedded, last)
	x := f.norm("norm", out.Blocks[cfg.Layers-1])
	if o.Tokens {
		out.Tokens = nn.Float32(x)
	}
	cls := f.embedding(x, nn.AttentionOptions{})
	out.CLS = nn.Float32(cls)
	if o.Pooler {
		out.Pooled = nn.Float32(nn.Activation(cfg.PoolerAct, nn.Dense(scope.At("pooler"), cls, cfg.poolerSize(), true)))
	}
	if o.Classes > 0 {
		out.Logits = nn.Float32(nn.Dense(scope.At("classifier"), cls, o.Classes, true))
	}
	if o.Object != nil {
		o.Object.AssertDims(pixels.Shape().Dim(0), cfg.Patches())
		if o.Pieces != nil {
			side := BroadcastToShape(InsertAxes(o.Object, -1), shapes.Make(dtypes.Bool, patches.Shape().Dimensions...))
			patches = Where(side, f.patches(o.Pieces[0]), f.patches(o.Pieces[1]))
		}
		masked := f.packed
		if o.Masking == ZeroProb {
			masked = f.zeroProb
		}
		out.Object, out.Background = masked(patches, o.Object)
	}
	out.CLS.AssertDims(pixels.Shape().Dim(0), cfg.HiddenSize)
	for _, x := range []**Node{&out.CLS, &out.Object, &out.Background} {
		if cfg.Projection > 0 && *x != nil {
			*x = nn.Float32(nn.Dense(scope.At("projection"), ConvertDType(*x, f.dtype), cfg.Projection, false))
		}
	}
	return out
}

// embedding is the class token of tokens after the final norm, or what the pooling head makes of those that o keeps.
//
// Shapes: x [B,S,D] → [B,D].
func (f *forward) embedding(x *Node, o nn.AttentionOptions) *Node {
	if f.cfg.AttentionPool {
		return f.pool(x, o)
	}
	return row(x, 0)
}

// forward is the graph of one network under construction.
type forward struct {
	scope *model.Scope
	cfg   *Config
	dtype dtypes.DType
}

func (f *forward) norm(name string, x *Node) *Node {
	return nn.LayerNorm(f.scope.At("%s", name), x, f.cfg.LayerNormEps)
}

// row takes one token.
//
// Shapes: x [B,S,D] → [B,D].
func row(x *Node, at int) *Node { return Squeeze(Slice(x, AxisRange(), AxisElem(at)), 1) }

// patches embeds the patches and adds their positions: the convolution of the paper as one matrix product. Pixels
// beyond the last whole patch are ignored.
//
// Shapes: pixels [B,C,H,W] → [B,N,D].
func (f *forward) patches(pixels *Node) *Node {
	c := f.cfg
	b := pixels.Shape().Dim(0)
	rows, columns := c.Grid()
	ph, pw := c.PatchSize[0], c.PatchSize[1]
	pixels = Slice(ConvertDType(pixels, f.dtype), AxisRange(), AxisRange(), AxisRange(0, rows*ph),
		AxisRange(0, columns*pw))
	x := Reshape(pixels, b, c.NumChannels, rows, ph, columns, pw)
	x = Reshape(TransposeAllAxes(x, 0, 2, 4, 1, 3, 5), b, rows*columns, c.NumChannels*ph*pw)
	x = nn.Dense(f.scope.At("patch"), x, c.HiddenSize, !c.PreNorm)
	return Add(x, f.positions(x.Graph(), c.positionsBefore(), c.Patches()))
}

// positionsBefore is the number of position embeddings that belong to prefix tokens.
func (c *Config) positionsBefore() int {
	switch {
	case c.PatchPositions:
		return 0
	case c.BareRegisters:
		return 1
	}
	return c.Prefix()
}

// positions is a range of the position embeddings, [1,n,D].
func (f *forward) positions(g *Graph, from, n int) *Node {
	all := nn.Param(f.scope.At("tokens"), g, "positions", f.dtype, 1, f.cfg.positionsBefore()+f.cfg.Patches(),
		f.cfg.HiddenSize)
	return Slice(all, AxisRange(), AxisRange(from, from+n))
}

// sequence puts the prefix tokens, each of them repeated copies times, before the patches: class tokens first.
//
// Shapes: patches [B,N,D] → [B,copies·T+N,D].
func (f *forward) sequence(patches *Node, copies int) *Node {
	g, b, c := patches.Graph(), patches.Shape().Dim(0), f.cfg
	if c.Prefix() == 0 {
		return patches
	}
	prefix := nn.Param(f.scope.At("tokens"), g, "class", f.dtype, 1, 1, c.HiddenSize)
	if c.BareRegisters {
		prefix = Add(prefix, f.positions(g, 0, 1))
	}
	if c.Registers > 0 {
		prefix = Concatenate([]*Node{prefix, nn.Param(f.scope.At("tokens"), g, "registers", f.dtype, 1, c.Registers,
			c.HiddenSize)}, 1)
	}
	if n := c.positionsBefore(); n > 0 && !c.BareRegisters {
		prefix = Add(prefix, f.positions(g, 0, n))
	}
	var parts []*Node
	for t := range c.Prefix() {
		one := Slice(prefix, AxisRange(), AxisElem(t))
		for range copies {
			parts = append(parts, BroadcastToDims(one, b, 1, c.HiddenSize))
		}
	}
	x := Concatenate(append(parts, patches), 1)
	if c.PreNorm {
		x = f.norm("prenorm", x)
	}
	return x
}

// scoresAtOnce is how many attention scores are held at once: OWLv2's 3,601 positions have more.
const scoresAtOnce = 1 << 26

// blocks runs the encoder and returns the output of every block. block contains the mask, and the number of rows that
// the last block computes as Queries.
//
// Shapes: x [B,S,D]; block.Keep [B,1,S or 1,S] bool or nil → [B,S,D] each, the last [B,Q,D].
func (f *forward) blocks(x *Node, block nn.Block) (out []*Node) {
	c := f.cfg
	block.Heads, block.NoQKVBias, block.Hidden, block.Activation = c.Heads, !c.QKVBias, c.IntermediateSize, c.HiddenAct
	block.Epsilon, block.LayerScale, block.Gated = c.LayerNormEps, c.LayerScale, c.Gated
	queries := block.Queries
	block.Queries, block.AtOnce = 0, scoresAtOnce
	for i := range c.Layers {
		if i == c.Layers-1 && queries > 0 {
			if block.Queries = queries; block.Keep != nil && block.Keep.Shape().Dim(2) > 1 {
				block.Keep = Slice(block.Keep, AxisRange(), AxisRange(), AxisRange(0, queries))
			}
		}
		x = block.Forward(f.scope.At("block_%d", i), x)
		out = append(out, x)
	}
	return out
}

// masked is the output of the final norm of a sequence under a mask: its first queries rows, all for a pooling head.
func (f *forward) masked(x *Node, o nn.AttentionOptions, queries int) *Node {
	if f.cfg.AttentionPool {
		queries = 0
	}
	blocks := f.blocks(x, nn.Block{SelfAttentionOptions: nn.SelfAttentionOptions{AttentionOptions: o,
		Queries: queries}})
	return f.norm("norm", blocks[f.cfg.Layers-1])
}

// packed computes Obj-only and BG-only in one sequence: every prefix token twice, once for each side, and attention
// only within a side. Equal to two sequences from which the other side's patches were removed.
//
// Shapes: patches [B,N,D]; object [B,N] bool → [B,D], [B,D].
func (f *forward) packed(patches, object *Node) (*Node, *Node) {
	g, b, side := patches.Graph(), patches.Shape().Dim(0), object // [B,S]
	if t := f.cfg.Prefix(); t > 0 {
		prefix := slices.Repeat([]bool{true, false}, t)
		side = Concatenate([]*Node{BroadcastToDims(Const(g, [][]bool{prefix}), b, 2*t), object}, 1)
	}
	s := side.Shape().Dim(1)
	keep := LogicalNot(LogicalXor(BroadcastToDims(InsertAxes(side, -1), b, s, s),
		BroadcastToDims(InsertAxes(side, 1), b, s, s)))
	x := f.masked(f.sequence(patches, 2), nn.AttentionOptions{Keep: InsertAxes(keep, 1)}, 2)
	if f.cfg.AttentionPool {
		of := func(side *Node) *Node {
			return nn.Float32(f.pool(x, nn.AttentionOptions{Keep: InsertAxes(side, 1, 1)}))
		}
		return of(side), of(LogicalNot(side))
	}
	return nn.Float32(row(x, 0)), nn.Float32(row(x, 1))
}

// zeroProb computes Obj-only and BG-only as two sequences one after the other in the batch, multiplying the attention
// to excluded patches by 0 after the softmax. Excluded patches still contribute to the sums, so the two cannot share a
// sequence.
//
// Shapes: patches [B,N,D]; object [B,N] bool → [B,D], [B,D].
func (f *forward) zeroProb(patches, object *Node) (*Node, *Node) {
	g, b, t := patches.Graph(), patches.Shape().Dim(0), f.cfg.Prefix()
	x := f.sequence(patches, 1)
	x = Concatenate([]*Node{x, x}, 0)
	side := Concatenate([]*Node{object, LogicalNot(object)}, 0)
	if t > 0 {
		side = Concatenate([]*Node{BroadcastToDims(Const(g, [][]bool{{true}}), 2*b, t), side}, 1)
	}
	keep := nn.AttentionOptions{Keep: InsertAxes(side, 1, 1), ZeroProb: true} // [2B,1,1,S]
	cls := nn.Float32(f.embedding(f.masked(x, keep, 1), keep))
	return Slice(cls, AxisRange(0, b)), Slice(cls, AxisRange(b, 2*b))
}
