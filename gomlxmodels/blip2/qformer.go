package blip2

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

// Tower is the result of the vision tower. Embedded and Blocks have the dtype of the computation, the others are
// float32.
type Tower struct {
	Tokens   *Node   // [B,S,E] all tokens after the final norm, the class token first
	Pooled   *Node   // [B,E] the class token, normalized once more by the same norm
	Embedded *Node   // [B,S,E] input of block 0
	Blocks   []*Node // [B,S,E] each, after every block
}

// ForwardTower is the vision tower. It panics on wrong shapes.
//
// Shapes: pixels [B,3,H,W] float, normalized as the checkpoint requires → [Tower].
func ForwardTower(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) Tower {
	scope, dtype := scope.At("vision"), nn.DType(o.DType)
	v := vit.Forward(scope, &cfg.Vision, pixels, vit.GraphOptions{Tokens: true, DType: dtype})
	pooled := nn.LayerNorm(scope.At("norm"), ConvertDType(v.CLS, dtype), cfg.Vision.LayerNormEps)
	return Tower{Tokens: v.Tokens, Pooled: nn.Float32(pooled), Embedded: v.Embedded, Blocks: v.Blocks}
}

// ForwardQueries is the Q-Former: learned queries attend to each other and to the tower's tokens. blocks are the
// outputs of its blocks, in the dtype of the computation.
//
// Shapes: tokens [B,S,E] → queries [B,K,D] float32; blocks [B,K,D] each.
func ForwardQueries(scope *model.Scope, cfg *Config, tokens *Node, o GraphOptions) (queries *Node, blocks []*Node) {
	scope = scope.At("qformer")
	c, b, dtype := &cfg.QFormer, tokens.Shape().Dim(0), nn.DType(o.DType)
	tokens.AssertDims(b, -1, cfg.Vision.HiddenSize)
	tokens = ConvertDType(tokens, dtype)
	x := nn.Param(scope, tokens.Graph(), "queries", dtype, 1, cfg.Queries, c.HiddenSize)
	x = nn.LayerNorm(scope.At("embeddings").At("norm"), x, c.LayerNormEps)
	x = BroadcastToDims(x, b, cfg.Queries, c.HiddenSize)
	for i := range c.Layers {
		x = c.block(scope.At("block_%d", i), x, tokens, i%c.LookEvery == 0)
		blocks = append(blocks, x)
	}
	x.AssertDims(b, cfg.Queries, c.HiddenSize)
	return nn.Float32(x), blocks
}

// block is self-attention of the queries, cross-attention to the image where cross is true, and an MLP, each normalized
// after its residual connection.
//
// Shapes: x [B,K,D]; tokens [B,S,E] → [B,K,D].
func (c *QFormerConfig) block(scope *model.Scope, x, tokens *Node, cross bool) *Node {
	y := nn.SelfAttention(scope.At("attention"), x, nn.SelfAttentionOptions{Heads: c.Heads})
	x = nn.LayerNorm(scope.At("norm1"), Add(x, y), c.LayerNormEps)
	if cross {
		at := scope.At("look")
		key, value := textgen.SplitHeads(at.At("key"), tokens, c.HiddenSize, c.Heads),
			textgen.SplitHeads(at.At("value"), tokens, c.HiddenSize, c.Heads)
		x = nn.LayerNorm(at.At("norm"), Add(x, textgen.CrossAttention(at, x, key, value, nil)), c.LayerNormEps)
	}
	at := scope.At("queries")
	y = nn.MLP(at.At("mlp"), x, c.IntermediateSize, c.HiddenAct)
	return nn.LayerNorm(at.At("norm"), Add(x, y), c.LayerNormEps)
}

// shared projects into the space shared by images and texts; vectors have length 1.
//
// Shapes: x [...,D] float32 → [...,C] float32.
func shared(scope *model.Scope, cfg *Config, x *Node, o GraphOptions) *Node {
	return nn.Unit(nn.Float32(nn.Dense(scope, ConvertDType(x, nn.DType(o.DType)), cfg.SharedSize, true)))
}
