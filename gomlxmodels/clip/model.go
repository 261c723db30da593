package clip

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// GraphOptions are the options of a tower's graph; the zero value computes the embedding alone.
type GraphOptions struct {
	Tokens bool         // compute Outputs.Tokens
	DType  dtypes.DType // of the computation; zero = Float32
}

// Outputs is the result of a tower; what was not requested is nil. All are float32 except Embedded and Blocks, which
// have the dtype of the computation. S is 1+N for images.
type Outputs struct {
	Pooled    *Node   // [B,D] the class token, or the end-of-text token, after the final norm
	Projected *Node   // [B,P] in the space shared by both towers; not normalized
	Embedded  *Node   // [B,S,D] input of block 0
	Blocks    []*Node // [B,S,D] hidden states after each block; the last of an image [B,1,D] without Tokens
	Tokens    *Node   // [B,S,D] all tokens after the final norm
}

// ForwardImage is the image tower. It panics on wrong shapes.
//
// Shapes: pixels [B,3,H,W] float, normalized as the checkpoint requires → [Outputs].
func ForwardImage(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) Outputs {
	scope = scope.At("vision")
	v := vit.Forward(scope, cfg.tower(), pixels, vit.GraphOptions{Tokens: o.Tokens, DType: nn.DType(o.DType)})
	projected := v.CLS
	if !cfg.SigLIP {
		projected = project(scope, cfg, v.CLS, o)
	}
	return Outputs{Pooled: v.CLS, Projected: projected, Embedded: v.Embedded, Blocks: v.Blocks, Tokens: v.Tokens}
}

// project maps a tower's embedding to the shared space.
//
// Shapes: pooled [...,D] → [...,P].
func project(scope *model.Scope, cfg *Config, pooled *Node, o GraphOptions) *Node {
	x := ConvertDType(pooled, nn.DType(o.DType))
	return nn.Float32(nn.Dense(scope.At("projection"), x, cfg.ProjectionDim, cfg.SigLIP))
}

// ForwardText is the text tower: a causal transformer, of a SigLIP one in which every token attends to all. Tokens after the end-of-text token have no influence. A text
// without one is pooled at its first token, as in transformers. It panics on wrong shapes; ids out of range give
// meaningless numbers.
//
// Shapes: ids [B,S] int, S ≤ max_position_embeddings → [Outputs].
func ForwardText(scope *model.Scope, cfg *Config, ids *Node, o GraphOptions) Outputs {
	ids.AssertRank(2)
	var causal *Node
	if !cfg.Text.Full {
		causal = InsertAxes(LowerTriangular(ids.Graph(), ids.Shape().Dim(1)), 0, 0) // [1,1,S,S]
	}
	out := forwardText(scope.At("text"), cfg, ids, nil, causal, end(&cfg.Text, ids), o)
	out.Pooled, out.Projected = Squeeze(out.Pooled, 1), Squeeze(out.Projected, 1)
	return out
}

// TextRows are rows that hold several texts each, as package pack arranges them.
type TextRows struct {
	IDs       *Node // [R,L] int32: tokens
	Positions *Node // [R,L] int32: the position of a token in its own text
	Segments  *Node // [R,L] int32: the text that a token belongs to, from 1; 0 = padding
	Ends      *Node // [R,T] int32: the place in the row of each text's end token; 0 where there is no text
}

// ForwardTextRows is [ForwardText] for several texts in a row: a token attends to itself and the tokens of its own text
// before it, of a SigLIP all tokens of its text.
//
// Shapes: in, see TextRows → Outputs.Pooled [R,T,D], Outputs.Projected [R,T,P], the others [R,L,D]. Rows that belong to
// no text are meaningless.
func ForwardTextRows(scope *model.Scope, cfg *Config, in TextRows, o GraphOptions) Outputs {
	in.IDs.AssertRank(2)
	r, l := in.IDs.Shape().Dim(0), in.IDs.Shape().Dim(1)
	in.Positions.AssertDims(r, l)
	in.Segments.AssertDims(r, l)
	in.Ends.AssertDims(r, -1)
	own := Equal(InsertAxes(in.Segments, 2), InsertAxes(in.Segments, 1)) // [R,L,L]
	if !cfg.Text.Full {
		own = LogicalAnd(own, BroadcastToShape(InsertAxes(LowerTriangular(in.IDs.Graph(), l), 0), own.Shape()))
	}
	return forwardText(scope.At("text"), cfg, in.IDs, in.Positions, InsertAxes(own, 1), in.Ends, o)
}

// forwardText is the text tower. The embeddings of the texts are the rows at; positions nil count from the start of
// the row.
//
// Shapes: ids, positions [B,S] int; keep [·,1,S,S] bool, true = may be attended; at [B,T] int32 → Pooled [B,T,D],
// Projected [B,T,P], the others [B,S,D].
func forwardText(scope *model.Scope, cfg *Config, ids, positions, keep, at *Node, o GraphOptions) (out Outputs) {
	c, dtype := &cfg.Text, nn.DType(o.DType)
	x := nn.Embedding(scope.At("tokens"), "words", ids, dtype, c.VocabSize, c.HiddenSize)
	places := nn.Param(scope.At("tokens"), ids.Graph(), "positions", dtype, c.Context, c.HiddenSize)
	if positions == nil {
		places = InsertAxes(Slice(places, AxisRange(0, ids.Shape().Dim(1))), 0)
	} else {
		places = Gather(places, InsertAxes(positions, -1))
	}
	x = Add(x, places)
	out.Embedded = x
	block := nn.Block{Hidden: c.IntermediateSize, Activation: c.HiddenAct, Epsilon: c.LayerNormEps}
	block.Heads, block.Keep = c.Heads, keep
	for i := range c.Layers {
		x = block.Forward(scope.At("block_%d", i), x)
		out.Blocks = append(out.Blocks, x)
	}
	if o.Tokens {
		out.Tokens = nn.Float32(nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps))
	}
	pooled := nn.LayerNorm(scope.At("norm"), nn.Pick(x, at), c.LayerNormEps)
	out.Pooled, out.Projected = nn.Float32(pooled), project(scope, cfg, pooled, o)
	return out
}

// end is [TextConfig.End] in the graph, 0 where there is no end.
//
// Shapes: ids [B,S] int → [B,1] int32.
func end(c *TextConfig, ids *Node) *Node {
	b, s := ids.Shape().Dim(0), ids.Shape().Dim(1)
	if c.Full {
		return BroadcastToDims(Const(ids.Graph(), [][]int32{{int32(s - 1)}}), b, 1)
	}
	ids = ConvertDType(ids, dtypes.Int32)
	mark := ConstAs(ids, int32(c.EndToken))
	if c.EndToken == HighestToken {
		mark = ReduceAndKeep(ids, ReduceMax, -1)
	}
	places := Iota(ids.Graph(), shapes.Make(dtypes.Int32, b, s), 1)
	is := Equal(ids, BroadcastToDims(mark, b, s))
	at := ReduceAndKeep(Where(is, places, AddScalar(ZerosLike(places), int32(s))), ReduceMin, -1)
	return Where(LessThan(at, ConstAs(at, int32(s))), at, ZerosLike(at))
}
