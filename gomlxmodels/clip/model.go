package clip

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// GraphOptions says what a tower computes; the zero value is the embedding alone.
type GraphOptions struct {
	Stages bool         // keep what each stage gives: Outputs.Embedded, Outputs.Blocks, Outputs.Tokens
	DType  dtypes.DType // what is computed in; zero = Float32
}

// Outputs is what a tower gives; what was not asked for is nil. All are float32. S is 1+N for pictures.
type Outputs struct {
	Pooled    *Node   // [B,D] the class token, or the end-of-text token, after the final norm
	Projected *Node   // [B,P] in the space both towers share; not normalised
	Embedded  *Node   // [B,S,D] input of block 1
	Blocks    []*Node // [B,S,D] each, after every block
	Tokens    *Node   // [B,S,D] all tokens after the final norm
}

func (o GraphOptions) dtype() dtypes.DType {
	if o.DType == dtypes.InvalidDType {
		return dtypes.Float32
	}
	return o.DType
}

func asFloat32(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// ForwardImage is the image tower. It panics on a mistake in shapes.
//
// Shapes: pixels [B,3,H,W] float, normalised as the checkpoint wants → [Outputs].
func ForwardImage(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) Outputs {
	v := vit.Forward(scope.At("vision"), cfg.Vision.vit(), pixels, vit.GraphOptions{Stages: o.Stages, DType: o.dtype()})
	out := Outputs{Pooled: v.CLS, Embedded: v.Embedded, Blocks: v.Blocks, Tokens: v.Tokens}
	out.Projected = project(scope.At("vision").At("projection"), cfg, v.CLS, o)
	return out
}

// project moves a tower's embedding into the space both share.
//
// Shapes: pooled [B,D] → [B,P].
func project(scope *model.Scope, cfg *Config, pooled *Node, o GraphOptions) *Node {
	x := asFloat32(nn.Dense(scope, ConvertDType(pooled, o.dtype()), cfg.ProjectionDim, false))
	x.AssertDims(pooled.Shape().Dim(0), cfg.ProjectionDim)
	return x
}

// TextRows are rows of texts, several a row, as package pack lays them.
type TextRows struct {
	IDs       *Node // [R,L] int32: tokens
	Positions *Node // [R,L] int32: a token's place in its own text
	Segments  *Node // [R,L] int32: the text, from 1, a token belongs to; 0 = padding
	Ends      *Node // [R,T] int32: the place in the row of each text's end token; 0 where there is no text
}

// ForwardTextRows is [ForwardText] for several texts a row: a token attends to itself and the tokens of its own text before it.
//
// Shapes: in, see TextRows → Outputs.Pooled [R,T,D], Outputs.Projected [R,T,P], the others [R,L,D]. What belongs to no text has
// no meaning.
func ForwardTextRows(scope *model.Scope, cfg *Config, in TextRows, o GraphOptions) Outputs {
	in.IDs.AssertRank(2)
	g, r, l, t := in.IDs.Graph(), in.IDs.Shape().Dim(0), in.IDs.Shape().Dim(1), in.Ends.Shape().Dim(1)
	in.Positions.AssertDims(r, l)
	in.Segments.AssertDims(r, l)
	in.Ends.AssertDims(r, t)
	own := Equal(InsertAxes(in.Segments, 2), InsertAxes(in.Segments, 1)) // [R,L,L]
	own = LogicalAnd(own, BroadcastToShape(InsertAxes(LowerTriangular(g, l), 0), own.Shape()))
	out := readTexts(scope.At("text"), cfg, in.IDs, in.Positions, InsertAxes(own, 1), in.Ends, o)
	out.Pooled = Reshape(out.Pooled, r, t, cfg.Text.HiddenSize)
	out.Projected = Reshape(out.Projected, r, t, cfg.ProjectionDim)
	return out
}

// ForwardText is the text tower: a transformer in which a token attends to itself and the tokens before it. What stands
// after the end-of-text token does not matter. A text without one is pooled at its first token, as in transformers. It panics
// on a mistake in shapes; ids out of range give numbers without meaning.
//
// Shapes: ids [B,S] int, S ≤ max_position_embeddings → [Outputs].
func ForwardText(scope *model.Scope, cfg *Config, ids *Node, o GraphOptions) Outputs {
	ids.AssertRank(2)
	g, s := ids.Graph(), ids.Shape().Dim(1)
	before := InsertAxes(LowerTriangular(g, s), 0, 0) // [1,1,S,S]
	return readTexts(scope.At("text"), cfg, ids, nil, before, end(&cfg.Text, ids), o)
}

// readTexts is the text tower of texts whose embeddings are the rows at: positions nil counts from the start of the row.
//
// Shapes: ids, positions [B,S] int; keep [·,1,S,S] bool, true = may be attended; at [B,T] int32 → Pooled [B·T,D], Projected [B·T,P].
func readTexts(scope *model.Scope, cfg *Config, ids, positions, keep, at *Node, o GraphOptions) Outputs {
	c, g, s := &cfg.Text, ids.Graph(), ids.Shape().Dim(1)
	words := nn.Param(scope.At("tokens"), g, "words", o.dtype(), c.VocabSize, c.HiddenSize)
	places := nn.Param(scope.At("tokens"), g, "positions", o.dtype(), c.Context, c.HiddenSize)
	if positions == nil {
		places = InsertAxes(Slice(places, AxisRange(0, s)), 0)
	} else {
		places = Gather(places, InsertAxes(positions, -1))
	}
	x := Add(Gather(words, InsertAxes(ids, -1)), places)
	var out Outputs
	if o.Stages {
		out.Embedded = asFloat32(x)
	}
	for i := range c.Layers {
		x = textBlock(scope.At("block_%d", i), c, x, keep)
		if o.Stages {
			out.Blocks = append(out.Blocks, asFloat32(x))
		}
	}
	if o.Stages {
		out.Tokens = asFloat32(nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps))
	}
	pooled := nn.LayerNorm(scope.At("norm"), pick(x, at), c.LayerNormEps)
	out.Pooled = asFloat32(pooled)
	out.Projected = project(scope.At("projection"), cfg, pooled, o)
	return out
}

// textBlock is one block of the text tower; package vit's attends both ways.
//
// Shapes: x [B,S,D]; keep [·,1,S,S] bool → [B,S,D].
func textBlock(scope *model.Scope, c *TextConfig, x, keep *Node) *Node {
	y := nn.LayerNorm(scope.At("norm1"), x, c.LayerNormEps)
	x = Add(x, nn.SelfAttention(scope.At("attention"), y, nn.AttentionOptions{Heads: c.Heads, QKVBias: true, Keep: keep}))
	y = nn.LayerNorm(scope.At("norm2"), x, c.LayerNormEps)
	return Add(x, nn.MLP(scope.At("mlp"), y, c.IntermediateSize, c.HiddenAct))
}

// end is [TextConfig.End] in the graph, 0 where there is no end.
//
// Shapes: ids [B,S] int → [B,1] int32.
func end(c *TextConfig, ids *Node) *Node {
	b, s := ids.Shape().Dim(0), ids.Shape().Dim(1)
	ids = ConvertDType(ids, dtypes.Int32)
	mark := ConstAs(ids, int32(c.EndToken))
	if c.EndToken == legacyEnd {
		mark = ReduceAndKeep(ids, ReduceMax, -1)
	}
	places := Iota(ids.Graph(), shapes.Make(dtypes.Int32, b, s), 1)
	is := Equal(ids, BroadcastToDims(mark, b, s))
	at := ReduceAndKeep(Where(is, places, AddScalar(ZerosLike(places), int32(s))), ReduceMin, -1)
	return Where(LessThan(at, ConstAs(at, int32(s))), at, ZerosLike(at))
}

// pick takes the tokens at some places of each row.
//
// Shapes: x [B,S,D]; at [B,T] int32 → [B·T,D].
func pick(x, at *Node) *Node {
	b, s, t := x.Shape().Dim(0), x.Shape().Dim(1), at.Shape().Dim(1)
	rows := Iota(x.Graph(), shapes.Make(dtypes.Int32, b, t), 0)
	x = Reshape(x, b*s, x.Shape().Dim(2))
	return Gather(x, Reshape(Add(MulScalar(rows, int32(s)), at), b*t, 1))
}
