package blip

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

// Image is what the tower gives; what was not asked for is nil.
type Image struct {
	Context  []*Node // key and value of block 0, of block 1, … of the decoder: [B,H,S,d] each
	Tokens   *Node   // [B,S,E] all tokens after the final norm, float32
	Embedded *Node   // [B,S,E] input of block 1, float32
	Blocks   []*Node // [B,S,E] each, after every block, float32
}

// Text is what the decoder gives; what was not asked for is nil. All are float32.
type Text struct {
	Logits   *Node   // [R,V] of what follows the last token; with Stages [R,Q,V]
	Embedded *Node   // [R,Q,D] input of block 1
	Blocks   []*Node // [R,Q,D] each, after every block
}

func (o GraphOptions) dtype() dtypes.DType {
	if o.DType == dtypes.InvalidDType {
		return dtypes.Float32
	}
	return o.DType
}

func asFloat32(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// ForwardImage is the tower, and what the decoder's blocks make of its tokens. It panics on a mistake in shapes.
//
// Shapes: pixels [B,3,H,W] float, normalised as the checkpoint wants → [Image].
func ForwardImage(scope *model.Scope, cfg *Config, pixels *Node, o GraphOptions) Image {
	v := vit.Forward(scope.At("vision"), cfg.Vision.vit(), pixels, vit.GraphOptions{Tokens: true, Stages: o.Stages, DType: o.dtype()})
	out := Image{Tokens: v.Tokens, Embedded: v.Embedded, Blocks: v.Blocks}
	x := ConvertDType(v.Tokens, o.dtype())
	for i := range cfg.Text.Layers {
		at := scope.At("text").At("block_%d", i).At("look")
		out.Context = append(out.Context, decode.Heads(at.At("key"), x, cfg.Text.HiddenSize, cfg.Text.Heads), decode.Heads(at.At("value"), x, cfg.Text.HiddenSize, cfg.Text.Heads))
	}
	return out
}

// ForwardText is the decoder; see decode.Network. It panics on a mistake in shapes; ids out of range give numbers without meaning.
//
// Shapes: in as there, its contexts those of [Image] → [Text].
func ForwardText(scope *model.Scope, cfg *Config, in decode.Inputs, o GraphOptions) Text {
	in.IDs.AssertRank(2)
	c, g := &cfg.Text, in.IDs.Graph()
	scope = scope.At("text")
	r, q := in.IDs.Shape().Dim(0), in.IDs.Shape().Dim(1)
	words := nn.Param(scope.At("tokens"), g, "words", o.dtype(), c.VocabSize, c.HiddenSize)
	positions := nn.Param(scope.At("tokens"), g, "positions", o.dtype(), c.Positions, c.HiddenSize)
	x := Add(Gather(words, InsertAxes(in.IDs, -1)), Gather(positions, InsertAxes(in.Positions, -1)))
	x = nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps)
	x.AssertDims(r, q, c.HiddenSize)
	var out Text
	if o.Stages {
		out.Embedded = asFloat32(x)
	}
	for i := range c.Layers {
		x = block(scope.At("block_%d", i), c, x, in.Cache, in.Context[2*i], in.Context[2*i+1])
		if o.Stages {
			out.Blocks = append(out.Blocks, asFloat32(x))
		}
	}
	if !o.Stages && q > 1 {
		x = decode.Pick(x, in.Last)
	}
	out.Logits = asFloat32(head(scope.At("head"), cfg, x, words))
	if !o.Stages {
		out.Logits = Squeeze(out.Logits, 1)
		out.Logits.AssertDims(r, c.VocabSize)
	}
	return out
}

// block attends to the text so far, looks at the picture, and ends with an MLP; each part is normalised after it was added.
//
// Shapes: x [R,Q,D]; key, value [B,H,S,d] → [R,Q,D].
func block(scope *model.Scope, c *TextConfig, x *Node, cache *decode.Cache, key, value *Node) *Node {
	at := scope.At("attention")
	project := func(name string) *Node { return decode.Heads(at.At("%s", name), x, c.HiddenSize, c.Heads) }
	keys, values, keep := cache.Update(project("key"), project("value"))
	y := nn.Attention(project("query"), keys, values, keep, false)
	x = nn.LayerNorm(scope.At("norm1"), Add(x, decode.Joined(at.At("out"), y)), c.LayerNormEps)
	x = nn.LayerNorm(scope.At("norm2"), Add(x, decode.Look(scope.At("look"), x, key, value)), c.LayerNormEps)
	y = nn.MLP(scope.At("mlp"), x, c.IntermediateSize, c.HiddenAct)
	return nn.LayerNorm(scope.At("norm3"), Add(x, y), c.LayerNormEps)
}

// head turns tokens into logits. Its weights are the words' own, where the checkpoint holds no others.
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
