package blip2

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/nn"
)

// epsilon is that of OPT's norms, which its configuration does not say.
const epsilon = 1e-5

// offset is how many rows of OPT's position embeddings come before the first position.
const offset = 2

// ForwardContext projects what the queries saw to what stands before a text.
//
// Shapes: queries [B,K,D] → [B,K,P].
func ForwardContext(scope *model.Scope, cfg *Config, queries *Node, o GraphOptions) *Node {
	c := &cfg.Text
	b := queries.Shape().Dim(0)
	x := nn.Dense(scope.At("text").At("projection"), ConvertDType(queries, o.dtype()), c.HiddenSize, true)
	if c.WordSize != c.HiddenSize { // transformers' masked_scatter: the first values, one after another
		x = Slice(Reshape(x, b, cfg.Queries*c.HiddenSize), AxisRange(), AxisRange(0, cfg.Queries*c.WordSize))
	}
	return Reshape(x, b, cfg.Queries, c.WordSize)
}

// Text is what the language model gives; what was not asked for is nil. All are float32.
type Text struct {
	Logits   *Node   // [R,V] of what follows the last token; with Stages [R,K+Q,V]
	Embedded *Node   // [R,K+Q,W] input of block 1
	Blocks   []*Node // [R,K+Q,W] each, after every block
}

// ForwardText is the language model; see decode.Network. In a prefill in.Context, one tensor [R,K,P], stands before the prompt. It panics
// on a mistake in shapes; ids out of range give numbers without meaning.
//
// Shapes: in as there → [Text].
func ForwardText(scope *model.Scope, cfg *Config, in decode.Inputs, o GraphOptions) Text {
	in.IDs.AssertRank(2)
	c, g := &cfg.Text, in.IDs.Graph()
	scope = scope.At("text")
	words := nn.Param(scope.At("tokens"), g, "words", o.dtype(), c.VocabSize, c.WordSize)
	x := Gather(words, InsertAxes(in.IDs, -1))
	places, last := in.Positions, in.Last
	if in.Prefill() {
		x = Concatenate([]*Node{ConvertDType(in.Context[0], x.DType()), x}, 1)
		shape := places.Shape().Clone()
		shape.Dimensions[1] = cfg.Queries
		places = Concatenate([]*Node{Iota(g, shape, 1), places}, 1)
		last = AddScalar(last, int32(cfg.Queries))
	}
	if c.WordSize != c.HiddenSize {
		x = nn.Dense(scope.At("in"), x, c.HiddenSize, false)
	}
	positions := nn.Param(scope.At("tokens"), g, "positions", o.dtype(), c.Positions+offset, c.HiddenSize)
	x = Add(x, Gather(positions, InsertAxes(AddScalar(places, int32(offset)), -1)))
	var out Text
	if o.Stages {
		out.Embedded = asFloat32(x)
	}
	for i := range c.Layers {
		x = c.block(scope.At("block_%d", i), x, in.Cache)
		if o.Stages {
			out.Blocks = append(out.Blocks, asFloat32(x))
		}
	}
	if !o.Stages && x.Shape().Dim(1) > 1 {
		x = decode.Pick(x, last)
	}
	if c.finalNorm() {
		x = nn.LayerNorm(scope.At("norm"), x, epsilon)
	}
	out.Logits = asFloat32(cfg.head(scope, x, words))
	if !o.Stages {
		out.Logits = Squeeze(out.Logits, 1)
		out.Logits.AssertDims(in.IDs.Shape().Dim(0), c.VocabSize)
	}
	return out
}

// finalNorm says that a norm stands after the blocks.
func (c *TextConfig) finalNorm() bool { return c.NormBefore && !c.NoFinalNorm }

// block attends to the text so far and ends with an MLP; norms stand before each, or after it was added.
//
// Shapes: x [R,Q,W] → [R,Q,W].
func (c *TextConfig) block(scope *model.Scope, x *Node, cache *decode.Cache) *Node {
	norm := func(name string, x *Node, here bool) *Node {
		if !here {
			return x
		}
		return nn.LayerNorm(scope.At("%s", name), x, epsilon)
	}
	y, at := norm("norm1", x, c.NormBefore), scope.At("attention")
	project := func(name string) *Node { return decode.Heads(at.At("%s", name), y, c.HiddenSize, c.Heads) }
	keys, values, keep := cache.Update(project("key"), project("value"))
	x = Add(x, decode.Joined(at.At("out"), nn.Attention(project("query"), keys, values, keep, false)))
	x = norm("norm1", x, !c.NormBefore)
	x = Add(x, nn.MLP(scope.At("mlp"), norm("norm2", x, c.NormBefore), c.IntermediateSize, c.HiddenAct))
	return norm("norm2", x, !c.NormBefore)
}

// head turns tokens into logits. Its weights are the words' own, where the checkpoint holds no others.
//
// Shapes: x [R,Q,W]; words [V,P] → [R,Q,V].
func (cfg *Config) head(scope *model.Scope, x, words *Node) *Node {
	c := &cfg.Text
	if c.WordSize != c.HiddenSize {
		x = nn.Dense(scope.At("out"), x, c.WordSize, false)
	}
	if cfg.ownHead {
		return nn.Dense(scope.At("head"), x, c.VocabSize, false)
	}
	return DotGeneral(x, []int{2}, nil, words, []int{1}, nil)
}
