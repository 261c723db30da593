package blip2

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textgen"
)

// epsilon is that of OPT's norms; its configuration does not contain it.
const epsilon = 1e-5

// offset is the number of rows of OPT's position embeddings before the first position.
const offset = 2

// ForwardContext projects the queries' outputs to the language model, where they precede the text.
//
// Shapes: queries [B,K,D] → [B,K,P].
func ForwardContext(scope *model.Scope, cfg *Config, queries *Node, o GraphOptions) *Node {
	c := &cfg.Text
	b := queries.Shape().Dim(0)
	x := nn.Dense(scope.At("text").At("projection"), ConvertDType(queries, nn.DType(o.DType)), c.HiddenSize, true)
	if c.WordSize != c.HiddenSize { // transformers' masked_scatter: the first values, one after another
		x = Slice(Reshape(x, b, cfg.Queries*c.HiddenSize), AxisRange(), AxisRange(0, cfg.Queries*c.WordSize))
	}
	return Reshape(x, b, cfg.Queries, c.WordSize)
}

// Text is the result of [ForwardText]. Logits are float32, the others have the dtype of the computation.
type Text struct {
	Logits   *Node   // [R,V] of the token after the last one; with AllLogits [R,K+Q,V]
	Embedded *Node   // [R,K+Q,W] input of block 0
	Blocks   []*Node // [R,K+Q,W] each, after every block
}

// ForwardText is the language model; see textgen.Decoder. In a prefill in.Context, one tensor [R,K,P], precedes the
// prompt. It panics on wrong shapes; ids out of range give meaningless numbers.
//
// Shapes: in as in textgen.Inputs → [Text].
func ForwardText(scope *model.Scope, cfg *Config, in textgen.Inputs, o GraphOptions) (out Text) {
	in.IDs.AssertRank(2)
	c, g, dtype := &cfg.Text, in.IDs.Graph(), nn.DType(o.DType)
	scope = scope.At("text")
	words := nn.Param(scope.At("tokens"), g, "words", dtype, c.VocabSize, c.WordSize)
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
	x = Add(x, nn.Embedding(scope.At("tokens"), "positions", AddScalar(places, int32(offset)), dtype,
		c.Positions+offset, c.HiddenSize))
	out.Embedded = x
	block := nn.Block{Hidden: c.IntermediateSize, Activation: c.HiddenAct, Epsilon: epsilon, PostNorm: !c.NormBefore,
		Attend: func(scope *model.Scope, x *Node) *Node { return c.attend(scope, x, in.Cache) }}
	for i := range c.Layers {
		x = block.Forward(scope.At("block_%d", i), x)
		out.Blocks = append(out.Blocks, x)
	}
	if !o.AllLogits && x.Shape().Dim(1) > 1 {
		x = nn.Pick(x, last)
	}
	if c.finalNorm() {
		x = nn.LayerNorm(scope.At("norm"), x, epsilon)
	}
	out.Logits = nn.Float32(cfg.head(scope, x, words))
	if !o.AllLogits {
		out.Logits = Squeeze(out.Logits, 1)
		out.Logits.AssertDims(in.IDs.Shape().Dim(0), c.VocabSize)
	}
	return out
}

// finalNorm reports whether a norm follows the blocks.
func (c *TextConfig) finalNorm() bool { return c.NormBefore && !c.NoFinalNorm }

// attend is causal self-attention with a key/value cache.
//
// Shapes: x [R,Q,W] → [R,Q,W].
func (c *TextConfig) attend(scope *model.Scope, x *Node, cache *textgen.Cache) *Node {
	project := func(name string) *Node { return textgen.SplitHeads(scope.At("%s", name), x, c.HiddenSize, c.Heads) }
	keys, values, keep := cache.Update(project("key"), project("value"))
	y := nn.Attention(project("query"), keys, values, nn.AttentionOptions{Keep: keep})
	return textgen.JoinHeads(scope.At("out"), y)
}

// head computes logits. Its weights are the word embeddings where the checkpoint has no others.
//
// Shapes: x [R,Q,W]; words [V,P] → [R,Q,V].
func (c *Config) head(scope *model.Scope, x, words *Node) *Node {
	t := &c.Text
	if t.WordSize != t.HiddenSize {
		x = nn.Dense(scope.At("out"), x, t.WordSize, false)
	}
	if c.ownHead {
		return nn.Dense(scope.At("head"), x, t.VocabSize, false)
	}
	return DotGeneral(x, []int{2}, nil, words, []int{1}, nil)
}
