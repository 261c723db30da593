package dallemini

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textgen"
)

// epsilon of all norms.
const epsilon = 1e-5

// GraphOptions are the options of a graph; the zero value computes what generating needs.
type GraphOptions struct {
	AllLogits bool         // [ForwardImage] returns the logits of both branches at every token, [2,R,Q,V]
	DType     dtypes.DType // of the computation; zero = Float32
}

// ForwardText is the encoder. It panics on wrong shapes; ids out of range give meaningless numbers.
//
// Shapes: ids [B,S] int32; valid [B,S] bool, false = padding → [B,S,D] in the dtype of the computation.
func ForwardText(scope *model.Scope, c *Config, ids, valid *Node, o GraphOptions) *Node {
	ids.AssertDims(-1, c.TextLength)
	scope, keep := scope.At("encoder"), InsertAxes(valid, 1, 1)
	x := embed(scope, ids, Iota(ids.Graph(), ids.Shape(), 1), c.TextVocab, c.TextLength, c.Width, nn.DType(o.DType))
	for i := range c.EncoderDepth {
		at := scope.At("layer_%d", i)
		q, k, v := project(at.At("self"), nn.LayerNormNoGain(at.At("norm0"), x, epsilon), c.EncoderHeads)
		y := nn.Attention(q, k, v, nn.AttentionOptions{Keep: keep})
		x = Add(x, attended(at.At("self"), at.At("norm1"), textgen.Joined(y)))
		x = Add(x, gated(at.At("glu"), x, c.EncoderGLU))
	}
	return nn.LayerNormNoGain(scope.At("norm_out"), x, epsilon)
}

// ForwardContext encodes texts for [ForwardImage]: keys and values of the decoder's cross-attention, layer by layer,
// and at last which tokens are no padding. Each group has a text or two: the prompt, then the empty prompt.
//
// Shapes: ids [G,n,S] int32; valid [G,n,S] bool → 2·layers × [G,n,H,S,d], [G,n,S] bool.
func ForwardContext(scope *model.Scope, c *Config, ids, valid *Node, o GraphOptions) []*Node {
	g, n, s, h := ids.Shape().Dim(0), ids.Shape().Dim(1), ids.Shape().Dim(2), c.DecoderHeads
	states := ForwardText(scope, c, Reshape(ids, g*n, s), Reshape(valid, g*n, s), o)
	var out []*Node
	for i := range c.DecoderDepth {
		at := scope.At("decoder").At("layer_%d", i).At("cross")
		for _, name := range []string{"key", "value"} {
			x := textgen.Heads(nn.Dense(at.At("%s", name), states, c.Width, false), h)
			out = append(out, Reshape(x, g, n, h, s, c.Width/h))
		}
	}
	return append(out, valid)
}

// ForwardImage is the decoder; see textgen.Decoder. With two texts in a group it runs both branches on the same tokens,
// and the logits are u + scale·(c − u). It panics on wrong shapes; ids out of range give meaningless numbers.
//
// Shapes: in as in textgen.Inputs, with the Context of [ForwardContext] → [R,V] in float32.
func ForwardImage(scope *model.Scope, c *Config, in textgen.Inputs, scale float64, o GraphOptions) *Node {
	scope = scope.At("decoder")
	n, r := in.Context[0].Shape().Dim(1), in.IDs.Shape().Dim(0)
	x := embed(scope, in.IDs, in.Positions, c.ImageVocab+1, c.ImageLength, c.Width, nn.DType(o.DType))
	x = repeat(x, n) // [n·R,Q,D]: all rows of the prompt, then all of the empty prompt
	for i := range c.DecoderDepth {
		at := scope.At("layer_%d", i)
		x = Add(x, c.attendImage(at, x, n, in.Cache))
		x = Add(x, c.attendText(at, x, in.Context[2*i], in.Context[2*i+1], in.Context[2*c.DecoderDepth]))
		x = Add(x, gated(at.At("glu"), x, c.DecoderGLU))
	}
	x = nn.LayerNormNoGain(scope.At("norm_out"), x, epsilon)
	if !o.AllLogits && x.Shape().Dim(1) > 1 {
		x = nn.Pick(x, repeat(in.Last, n))
	}
	logits := nn.Float32(nn.Dense(scope.At("head"), x, c.ImageVocab+1, false)) // [n·R,Q or 1,V]
	if o.AllLogits {
		return Reshape(logits, n, r, -1, c.ImageVocab+1)
	}
	logits = Squeeze(logits, 1)
	if n == 2 {
		prompt, empty := half(logits, 0, 2), half(logits, 1, 2)
		logits = Add(empty, MulScalar(Sub(prompt, empty), scale))
	}
	return logits
}

// repeat returns n copies of x along the first axis.
func repeat(x *Node, n int) *Node {
	copies := make([]*Node, n)
	for i := range copies {
		copies[i] = x
	}
	return Concatenate(copies, 0)
}

// half is part i of n of the first axis.
func half(x *Node, i, n int) *Node {
	rows := x.Shape().Dim(0) / n
	return Slice(x, AxisRange(i*rows, (i+1)*rows))
}

// embed is tokens with their positions, normalized.
//
// Shapes: ids, positions [B,S] int32 → [B,S,D].
func embed(scope *model.Scope, ids, positions *Node, vocab, length, width int, dtype dtypes.DType) *Node {
	x := Add(nn.Embedding(scope, "tokens", ids, dtype, vocab, width),
		nn.Embedding(scope, "positions", positions, dtype, length, width))
	return nn.LayerNorm(scope.At("norm_in"), x, epsilon)
}

// project computes queries, keys and values.
//
// Shapes: x [B,S,D] → [B,H,S,d] each.
func project(scope *model.Scope, x *Node, heads int) (q, k, v *Node) {
	of := func(name string) *Node {
		return textgen.Heads(nn.Dense(scope.At("%s", name), x, x.Shape().Dim(2), false), heads)
	}
	return of("query"), of("key"), of("value")
}

// attended projects what attention finds, and normalizes it.
//
// Shapes: y [B,S,D] → [B,S,D].
func attended(scope, norm *model.Scope, y *Node) *Node {
	return nn.LayerNorm(norm, nn.Dense(scope.At("out"), y, y.Shape().Dim(2), false), epsilon)
}

// attendImage is the attention of image tokens to those before them, branch by branch.
//
// Shapes: x [n·R,Q,D] → [n·R,Q,D].
func (c *Config) attendImage(at *model.Scope, x *Node, n int, cache *textgen.Cache) *Node {
	q, k, v := project(at.At("self"), nn.LayerNormNoGain(at.At("norm0"), x, epsilon), c.DecoderHeads)
	var found []*Node
	for i := range n {
		keys, values, keep := cache.Update(half(k, i, n), half(v, i, n))
		y := nn.Attention(half(q, i, n), keys, values, nn.AttentionOptions{Keep: keep})
		found = append(found, textgen.Joined(y))
	}
	return attended(at.At("self"), at.At("norm1"), Concatenate(found, 0))
}

// attendText is the attention of image tokens to the texts, branch by branch. Rows of a group share its texts.
//
// Shapes: x [n·R,Q,D]; key, value [G,n,H,S,d]; valid [G,n,S] bool → [n·R,Q,D].
func (c *Config) attendText(at *model.Scope, x, key, value, valid *Node) *Node {
	g, n := key.Shape().Dim(0), key.Shape().Dim(1)
	r, q := x.Shape().Dim(0)/n, x.Shape().Dim(1)
	y := nn.Dense(at.At("cross").At("query"), nn.LayerNormNoGain(at.At("norm2"), x, epsilon), c.Width, false)
	var found []*Node
	for i := range n {
		of := func(x *Node) *Node { return Squeeze(Slice(x, AxisRange(), AxisElem(i)), 1) }
		rows := textgen.Heads(Reshape(half(y, i, n), g, r/g*q, c.Width), c.DecoderHeads)
		z := nn.Attention(rows, of(key), of(value), nn.AttentionOptions{Keep: InsertAxes(of(valid), 1, 1)})
		found = append(found, Reshape(textgen.Joined(z), r, q, c.Width))
	}
	return attended(at.At("cross"), at.At("norm3"), Concatenate(found, 0))
}

// gated is the gated linear unit.
//
// Shapes: x [B,S,D] → [B,S,D].
func gated(scope *model.Scope, x *Node, hidden int) *Node {
	y := nn.LayerNormNoGain(scope.At("norm0"), x, epsilon)
	y = Mul(nn.Activation("gelu", nn.Dense(scope.At("gate"), y, hidden, false)),
		nn.Dense(scope.At("in"), y, hidden, false))
	y = nn.LayerNormNoGain(scope.At("norm1"), y, epsilon)
	return nn.Dense(scope.At("out"), y, x.Shape().Dim(2), false)
}
