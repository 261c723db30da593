package blip

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
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
		out.Context = append(out.Context, heads(at.At("key"), &cfg.Text, x), heads(at.At("value"), &cfg.Text, x))
	}
	return out
}

// heads is a dense layer whose output is cut into heads.
//
// Shapes: x [R,Q,·] → [R,H,Q,d].
func heads(scope *model.Scope, c *TextConfig, x *Node) *Node {
	y := nn.Dense(scope, x, c.HiddenSize, true)
	y = Reshape(y, x.Shape().Dim(0), x.Shape().Dim(1), c.Heads, c.HiddenSize/c.Heads)
	return TransposeAllAxes(y, 0, 2, 1, 3)
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
		x = pick(x, in.Last)
	}
	out.Logits = asFloat32(head(scope.At("head"), cfg, x, words))
	if !o.Stages {
		out.Logits = Squeeze(out.Logits, 1)
		out.Logits.AssertDims(r, c.VocabSize)
	}
	return out
}

// pick takes one token of each row.
//
// Shapes: x [R,Q,D]; at [R,1] int32 → [R,1,D].
func pick(x, at *Node) *Node {
	r, q, d := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	rows := Iota(x.Graph(), shapes.Make(dtypes.Int32, r, 1), 0)
	return InsertAxes(Gather(Reshape(x, r*q, d), Add(MulScalar(rows, int32(q)), at)), 1)
}

// block attends to the text so far, looks at the picture, and ends with an MLP; each part is normalised after it was added.
//
// Shapes: x [R,Q,D]; key, value [B,H,S,d] → [R,Q,D].
func block(scope *model.Scope, c *TextConfig, x *Node, cache *decode.Cache, key, value *Node) *Node {
	at := scope.At("attention")
	keys, values, keep := cache.Update(heads(at.At("key"), c, x), heads(at.At("value"), c, x))
	y := nn.Attention(heads(at.At("query"), c, x), keys, values, keep, false)
	x = nn.LayerNorm(scope.At("norm1"), Add(x, joined(at.At("out"), c, y)), c.LayerNormEps)

	at = scope.At("look")
	r, q, b := x.Shape().Dim(0), x.Shape().Dim(1), key.Shape().Dim(0)
	rows := Reshape(x, b, r/b*q, c.HiddenSize) // all captions of a picture look at one copy of it
	y = nn.Attention(heads(at.At("query"), c, rows), key, value, nil, false)
	y = Reshape(joined(at.At("out"), c, y), r, q, c.HiddenSize)
	x = nn.LayerNorm(scope.At("norm2"), Add(x, y), c.LayerNormEps)

	y = nn.MLP(scope.At("mlp"), x, c.IntermediateSize, c.HiddenAct)
	return nn.LayerNorm(scope.At("norm3"), Add(x, y), c.LayerNormEps)
}

// joined puts heads side by side again and mixes them.
//
// Shapes: y [R,H,Q,d] → [R,Q,D].
func joined(scope *model.Scope, c *TextConfig, y *Node) *Node {
	y = Reshape(TransposeAllAxes(y, 0, 2, 1, 3), y.Shape().Dim(0), y.Shape().Dim(2), c.HiddenSize)
	return nn.Dense(scope, y, c.HiddenSize, true)
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
