package blip

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/vit"
)

// GraphOptions are the options of a graph; the zero value computes what captioning needs.
type GraphOptions struct {
	AllLogits bool         // logits of every token, not of the last one alone
	DType     dtypes.DType // of the computation; zero = Float32
}

// Image is the result of [ForwardImage]. Tokens are float32, the others have the dtype of the computation.
type Image struct {
	// keys and values of the cross-attention of the decoder, or of the encoder of questions, block by block:
	// [B,H,S,d] each
	Context  []*Node
	Tokens   *Node   // [B,S,E] all tokens after the final norm
	Embedded *Node   // [B,S,E] input of block 0
	Blocks   []*Node // [B,S,E] each, after every block
}

// Text is the result of [ForwardText]. Logits are float32, the others have the dtype of the computation.
type Text struct {
	Logits   *Node   // [R,V] of the token after the last one; with AllLogits [R,Q,V]
	Embedded *Node   // [R,Q,D] input of block 0
	Blocks   []*Node // [R,Q,D] each, after every block
}

// ForwardImage is the vision tower and the keys and values that the blocks that attend to it compute from its tokens.
// It panics on wrong shapes.
//
// Shapes: pixels [B,3,H,W] float, normalized as the checkpoint requires → [Image].
func ForwardImage(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) Image {
	dtype, reader := nn.DType(o.DType), "text"
	if cfg.encodes() {
		reader = "question"
	}
	v := vit.Forward(scope.At("vision"), cfg.Vision.ViT(), pixels, vit.GraphOptions{Tokens: true, DType: dtype})
	return Image{Context: contexts(scope.At("%s", reader), &cfg.Text, ConvertDType(v.Tokens, dtype)), Tokens: v.Tokens,
		Embedded: v.Embedded, Blocks: v.Blocks}
}

// contexts returns keys and values of the cross-attention of all blocks.
//
// Shapes: x [B,S,·] → [B,H,S,d] each.
func contexts(scope *model.Scope, c *TextConfig, x *Node) (out []*Node) {
	for i := range c.Layers {
		at := scope.At("block_%d", i).At("look")
		out = append(out, textgen.SplitHeads(at.At("key"), x, c.HiddenSize, c.Heads),
			textgen.SplitHeads(at.At("value"), x, c.HiddenSize, c.Heads))
	}
	return out
}

// ForwardText is the decoder; see textgen.Decoder. It panics on wrong shapes; ids out of range give meaningless
// numbers.
//
// Shapes: in as in textgen.Inputs, with the Context of [Image] or [Question] → [Text].
func ForwardText(scope *model.Scope, cfg *Config, in textgen.Inputs, o GraphOptions) (out Text) {
	in.IDs.AssertRank(2)
	c, dtype, q := &cfg.Text, nn.DType(o.DType), in.IDs.Shape().Dim(1)
	scope = scope.At("text")
	x, words := embed(scope, c, in.IDs, in.Positions, dtype)
	out.Embedded = x
	var keep *Node
	if cfg.class == QuestionClass {
		keep = in.Context[2*c.Layers]
	}
	for i := range c.Layers {
		x = block(scope.At("block_%d", i), c, x, in.Cache.Update, in.Context[2*i], in.Context[2*i+1], keep)
		out.Blocks = append(out.Blocks, x)
	}
	if !o.AllLogits && q > 1 {
		x = nn.Pick(x, in.Last)
	}
	out.Logits = nn.Float32(head(scope.At("head"), cfg, x, words))
	if !o.AllLogits {
		out.Logits = Squeeze(out.Logits, 1)
		out.Logits.AssertDims(in.IDs.Shape().Dim(0), c.VocabSize)
	}
	return out
}

// embed returns the normalized sum of the embeddings of words and positions, and the former's table.
//
// Shapes: ids, positions [R,Q] → [R,Q,D], [V,D].
func embed(scope *model.Scope, c *TextConfig, ids, positions *Node, dtype dtypes.DType) (x, words *Node) {
	words = nn.Param(scope.At("tokens"), ids.Graph(), "words", dtype, c.VocabSize, c.HiddenSize)
	x = Add(Gather(words, InsertAxes(ids, -1)),
		nn.Embedding(scope.At("tokens"), "positions", positions, dtype, c.Positions, c.HiddenSize))
	return nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps), words
}

// block is self-attention, cross-attention and an MLP, each normalized after its residual connection. attend returns
// the keys and values that the block's own may attend to, and their mask; see [textgen.Cache.Update].
//
// Shapes: x [R,Q,D]; key, value [B,H,S,d]; look [B,1,1,S], nil = all → [R,Q,D].
func block(scope *model.Scope, c *TextConfig, x *Node, attend func(k, v *Node) (keys, values, keep *Node), key, value,
	look *Node) *Node {
	at := scope.At("attention")
	project := func(name string) *Node { return textgen.SplitHeads(at.At("%s", name), x, c.HiddenSize, c.Heads) }
	keys, values, keep := attend(project("key"), project("value"))
	y := nn.Attention(project("query"), keys, values, nn.AttentionOptions{Keep: keep})
	x = nn.LayerNorm(scope.At("norm1"), Add(x, textgen.JoinHeads(at.At("out"), y)), c.LayerNormEps)
	x = nn.LayerNorm(scope.At("norm2"), Add(x, textgen.CrossAttention(scope.At("look"), x, key, value, look)),
		c.LayerNormEps)
	y = nn.MLP(scope.At("mlp"), x, c.IntermediateSize, c.HiddenAct)
	return nn.LayerNorm(scope.At("norm3"), Add(x, y), c.LayerNormEps)
}

// head computes logits. Its weights are the word embeddings where the checkpoint has no others.
//
// Shapes: x [R,Q,D]; words [V,D] → [R,Q,V].
func head(scope *model.Scope, cfg *Config, x, words *Node) *Node {
	c := &cfg.Text
	x = nn.Activation(c.HiddenAct, nn.Dense(scope.At("transform"), x, c.HiddenSize, true))
	x = nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps)
	if cfg.ownHead {
		return nn.Dense(scope.At("out"), x, c.VocabSize, true)
	}
	bias := nn.Param(scope.At("out"), x.Graph(), "bias", x.DType(), c.VocabSize)
	return Add(DotGeneral(x, []int{2}, nil, words, []int{1}, nil), InsertAxes(bias, 0, 0))
}
