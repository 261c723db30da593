package blip2

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// GraphOptions says what a graph computes; the zero value is the result alone.
type GraphOptions struct {
	Stages bool         // keep what each stage gives
	DType  dtypes.DType // what is computed in; zero = Float32
}

func (o GraphOptions) dtype() dtypes.DType {
	if o.DType == dtypes.InvalidDType {
		return dtypes.Float32
	}
	return o.DType
}

func asFloat32(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// Tower is what the vision tower gives; what was not asked for is nil. All are float32.
type Tower struct {
	Tokens   *Node   // [B,S,E] all tokens after the final norm, the class token first
	Pooled   *Node   // [B,E] the class token, normalised once more by the same norm
	Embedded *Node   // [B,S,E] input of block 1
	Blocks   []*Node // [B,S,E] each, after every block
}

// ForwardTower is the vision tower. It panics on a mistake in shapes.
//
// Shapes: pixels [B,3,H,W] float, normalised as the checkpoint wants → [Tower].
func ForwardTower(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) Tower {
	scope = scope.At("vision")
	v := vit.Forward(scope, &cfg.Vision, pixels, vit.GraphOptions{Tokens: true, Stages: o.Stages, DType: o.dtype()})
	class := ConvertDType(v.CLS, o.dtype())
	pooled := asFloat32(nn.LayerNorm(scope.At("norm"), class, cfg.Vision.LayerNormEps))
	return Tower{Tokens: v.Tokens, Pooled: pooled, Embedded: v.Embedded, Blocks: v.Blocks}
}

// ForwardQueries is the Q-Former: its queries attend to each other and look at the tower's tokens. blocks holds what every block gives,
// where o.Stages asks for it; all are float32.
//
// Shapes: tokens [B,S,E] → queries [B,K,D]; blocks [B,K,D] each.
func ForwardQueries(scope *model.Scope, cfg *Config, tokens *Node, o GraphOptions) (queries *Node, blocks []*Node) {
	scope = scope.At("qformer")
	c := &cfg.QFormer
	tokens = ConvertDType(tokens, o.dtype())
	tokens.AssertDims(-1, -1, cfg.Vision.HiddenSize)
	x := nn.Param(scope, tokens.Graph(), "queries", o.dtype(), 1, cfg.Queries, c.HiddenSize)
	x = nn.LayerNorm(scope.At("embeddings").At("norm"), x, c.LayerNormEps)
	x = BroadcastToDims(x, tokens.Shape().Dim(0), cfg.Queries, c.HiddenSize)
	for i := range c.Layers {
		x = c.block(scope.At("block_%d", i), x, tokens, i%c.LookEvery == 0)
		if o.Stages {
			blocks = append(blocks, asFloat32(x))
		}
	}
	x.AssertDims(tokens.Shape().Dim(0), cfg.Queries, c.HiddenSize)
	return asFloat32(x), blocks
}

// block is attention among the queries, a look at the picture where looks says so, and an MLP; each is normalised after it was added.
//
// Shapes: x [B,K,D]; tokens [B,S,E] → [B,K,D].
func (c *QFormerConfig) block(scope *model.Scope, x, tokens *Node, looks bool) *Node {
	y := nn.SelfAttention(scope.At("attention"), x, nn.AttentionOptions{Heads: c.Heads, QKVBias: true})
	x = nn.LayerNorm(scope.At("norm1"), Add(x, y), c.LayerNormEps)
	if looks {
		at := scope.At("look")
		key, value := decode.Heads(at.At("key"), tokens, c.HiddenSize, c.Heads), decode.Heads(at.At("value"), tokens, c.HiddenSize, c.Heads)
		x = nn.LayerNorm(at.At("norm"), Add(x, decode.Look(at, x, key, value)), c.LayerNormEps)
	}
	at := scope.At("queries")
	y = nn.MLP(at.At("mlp"), x, c.IntermediateSize, c.HiddenAct)
	return nn.LayerNorm(at.At("norm"), Add(x, y), c.LayerNormEps)
}

// shared projects into the space that pictures and texts share; vectors have length 1.
//
// Shapes: x [...,D] float32 → [...,C] float32.
func shared(scope *model.Scope, cfg *Config, x *Node, o GraphOptions) *Node {
	return nn.Unit(asFloat32(nn.Dense(scope, ConvertDType(x, o.dtype()), cfg.SharedSize, true)))
}
