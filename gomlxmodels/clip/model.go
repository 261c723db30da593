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

// ForwardText is the text tower: a transformer in which a token attends to itself and the tokens before it. What stands
// after the end-of-text token does not matter. A text without one is pooled at its first token, as in transformers. It panics
// on a mistake in shapes; ids out of range give numbers without meaning.
//
// Shapes: ids [B,S] int, S ≤ max_position_embeddings → [Outputs].
func ForwardText(scope *model.Scope, cfg *Config, ids *Node, o GraphOptions) Outputs {
	ids.AssertRank(2)
	c, g, s := &cfg.Text, ids.Graph(), ids.Shape().Dim(1)
	scope = scope.At("text")
	words := nn.Param(scope.At("tokens"), g, "words", o.dtype(), c.VocabSize, c.HiddenSize)
	positions := nn.Param(scope.At("tokens"), g, "positions", o.dtype(), c.Context, c.HiddenSize)
	positions = InsertAxes(Slice(positions, AxisRange(0, s)), 0)
	x := Add(Gather(words, InsertAxes(ids, -1)), positions)
	var out Outputs
	if o.Stages {
		out.Embedded = asFloat32(x)
	}
	before := InsertAxes(LowerTriangular(g, s), 0, 0) // [1,1,S,S]
	for i := range c.Layers {
		x = textBlock(scope.At("block_%d", i), c, x, before)
		if o.Stages {
			out.Blocks = append(out.Blocks, asFloat32(x))
		}
	}
	if o.Stages {
		out.Tokens = asFloat32(nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps))
	}
	pooled := nn.LayerNorm(scope.At("norm"), pick(x, end(c, ids)), c.LayerNormEps)
	out.Pooled = asFloat32(pooled)
	out.Projected = project(scope.At("projection"), cfg, pooled, o)
	return out
}

// textBlock is one block of the text tower; package vit's attends both ways.
//
// Shapes: x [B,S,D]; before [1,1,S,S] bool → [B,S,D].
func textBlock(scope *model.Scope, c *TextConfig, x, before *Node) *Node {
	y := nn.LayerNorm(scope.At("norm1"), x, c.LayerNormEps)
	x = Add(x, nn.SelfAttention(scope.At("attention"), y, nn.AttentionOptions{Heads: c.Heads, QKVBias: true, Keep: before}))
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

// pick takes one token of each text.
//
// Shapes: x [B,S,D]; at [B,1] int32 → [B,D].
func pick(x, at *Node) *Node {
	b, s := x.Shape().Dim(0), x.Shape().Dim(1)
	rows := Iota(x.Graph(), shapes.Make(dtypes.Int32, b, 1), 0)
	x = Reshape(x, b*s, x.Shape().Dim(2))
	return Gather(x, Add(MulScalar(rows, int32(s)), at))
}
