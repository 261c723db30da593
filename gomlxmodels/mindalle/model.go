package mindalle

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textgen"
)

// epsilon of all norms.
const epsilon = 1e-5

// Forward is the GPT; see textgen.Decoder. A prefill reads a text, a step an image token. It panics on wrong shapes;
// ids out of range give meaningless numbers.
//
// Shapes: in as in textgen.Inputs → [R,V] logits in float32, V = [Config].ImageVocab.
func Forward(scope *model.Scope, c *Config, in textgen.Inputs, dtype dtypes.DType) *Node {
	dtype = nn.DType(dtype)
	tokens, positions, vocab, length := "text", in.Positions, c.TextVocab, c.TextLength
	if !in.Prefill() {
		tokens, vocab, length = "image", c.ImageVocab, c.ImageLength
		positions = AddScalar(positions, int32(-c.TextLength))
	}
	at := scope.At("%s", tokens)
	x := Add(nn.Embedding(at, "tokens", in.IDs, dtype, vocab, c.Width),
		nn.Embedding(at, "positions", positions, dtype, length, c.Width))
	block := nn.Block{Hidden: 4 * c.Width, Activation: c.activation(), Epsilon: epsilon,
		Attend: func(scope *model.Scope, x *Node) *Node {
			project := func(name string) *Node { return textgen.SplitHeads(scope.At("%s", name), x, c.Width, c.Heads) }
			keys, values, keep := in.Cache.Update(project("key"), project("value"))
			y := nn.Attention(project("query"), keys, values, nn.AttentionOptions{Keep: keep})
			return textgen.JoinHeads(scope.At("out"), y)
		}}
	for i := range c.Layers {
		x = block.Forward(scope.At("block_%d", i), x)
	}
	if x.Shape().Dim(1) > 1 {
		x = nn.Pick(x, in.Last)
	}
	x = nn.LayerNorm(scope.At("norm"), x, epsilon)
	return Squeeze(nn.Float32(nn.Dense(scope.At("head"), x, c.ImageVocab, false)), 1)
}
