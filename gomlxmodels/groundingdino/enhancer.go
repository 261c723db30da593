package groundingdino

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Enhanced is the result of a layer of the feature enhancer.
type Enhanced struct {
	FusedVision, FusedText *Node // [B,V,D], [B,T,D] after the fusion
	Sampled                *Node // [B,V,D] of deformable attention alone
	Vision, Text           *Node // [B,V,D], [B,T,D] after the layer
}

// scene is what all layers need to know of a batch of images.
type scene struct {
	*frame
	keep    *Node // [B,V] bool, where a position is
	centers *Node // [B,V,2]
}

func newScene(f *frame) scene { return scene{f, f.validLevels(), f.centers()} }

// enhance is a layer of the feature enhancer: image and text attend to each other, the text to itself, the image to
// itself at sampled points.
//
// Shapes: vision, positions [B,V,D]; text [B,T,D] → [Enhanced].
func enhance(scope *model.Scope, s scene, w words, vision, positions, text *Node) (out Enhanced) {
	c := s.cfg
	out.FusedVision, out.FusedText = fuse(scope.At("fusion"), s, w, vision, text)
	out.Text = enhanceText(scope.At("text"), c, w, out.FusedText)
	at, x := scope.At("image"), out.FusedVision
	out.Sampled = deformable(at.At("attention"), s, c.EncoderHeads, c.EncoderPoints, Add(x, positions), x, s.centers)
	x = nn.LayerNorm(at.At("norm1"), Add(x, out.Sampled), c.LayerNormEps)
	x = Add(x, nn.MLP(at.At("mlp"), x, c.EncoderHidden, c.Activation))
	out.Vision = nn.LayerNorm(at.At("norm2"), x, c.LayerNormEps)
	return out
}

// fuse is the bidirectional attention of image and text. What the result is added to is the normalized input. The
// reference bounds scores at ±50000, which is left out.
//
// Shapes: vision [B,V,D]; text [B,T,D] → the same.
func fuse(scope *model.Scope, s scene, w words, vision, text *Node) (*Node, *Node) {
	c := s.cfg
	v := nn.LayerNorm(scope.At("norm_vision"), vision, c.LayerNormEps)
	t := nn.LayerNorm(scope.At("norm_text"), text, c.LayerNormEps)
	project := func(name string, x *Node) *Node {
		return split(nn.Dense(scope.At("%s", name), x, c.EncoderHidden/2, true), c.EncoderHeads/2)
	}
	queries, keys := project("vision", v), project("text", t)
	toVision := nn.Attention(queries, keys, project("values_text", t), nn.AttentionOptions{Keep: w.keep})
	toText := nn.Attention(keys, queries, project("values_vision", v),
		nn.AttentionOptions{Keep: InsertAxes(s.keep, 1, 1)})
	add := func(x, delta *Node, name string) *Node {
		delta = nn.Dense(scope.At("out_%s", name), join(delta), c.Width, true)
		gain := nn.Param(scope, x.Graph(), "gain_"+name, x.DType(), c.Width)
		return Add(x, Mul(delta, Reshape(gain, 1, 1, c.Width)))
	}
	return add(v, toVision, "vision"), add(t, toText, "text")
}

// enhanceText lets tokens attend to their own phrase.
//
// Shapes: text [B,T,D] → [B,T,D].
func enhanceText(scope *model.Scope, c *Config, w words, text *Node) *Node {
	at := Add(text, w.positions)
	y := attend(scope.At("attention"), at, at, text, c.EncoderHeads/2, w.own)
	x := nn.LayerNorm(scope.At("norm1"), Add(text, y), c.LayerNormEps)
	x = Add(x, nn.MLP(scope.At("mlp"), x, c.EncoderHidden/2, c.Activation))
	return nn.LayerNorm(scope.At("norm2"), x, c.LayerNormEps)
}

// attend is multi-head attention; keep is nil where everything may be attended to.
//
// Shapes: queries [B,Q,D]; keys, values [B,S,D]; keep broadcast to [B,heads,Q,S] → [B,Q,D].
func attend(scope *model.Scope, queries, keys, values *Node, heads int, keep *Node) *Node {
	d := queries.Shape().Dim(2)
	project := func(name string, x *Node) *Node { return split(nn.Dense(scope.At("%s", name), x, d, true), heads) }
	y := nn.Attention(project("query", queries), project("key", keys), project("value", values),
		nn.AttentionOptions{Keep: keep})
	return nn.Dense(scope.At("out"), join(y), d, true)
}

// split makes heads of channels.
//
// Shapes: x [B,S,D] → [B,heads,S,D/heads].
func split(x *Node, heads int) *Node {
	b, s, d := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	return TransposeAllAxes(Reshape(x, b, s, heads, d/heads), 0, 2, 1, 3)
}

// join undoes [split].
func join(x *Node) *Node {
	b, h, s, d := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), x.Shape().Dim(3)
	return Reshape(TransposeAllAxes(x, 0, 2, 1, 3), b, s, h*d)
}

// deformable is multi-scale deformable attention: each query attends to a few points of each level around its
// reference, a center or a box (cx,cy,w,h). Points outside of an image's own maps are worth 0.
//
// Shapes: queries [B,Q,D]; source [B,V,D]; references [B,Q,2] or [B,Q,4], from 0 to 1 → [B,Q,D].
func deformable(scope *model.Scope, s scene, heads, points int, queries, source, references *Node) *Node {
	b, q, d, n := queries.Shape().Dim(0), queries.Shape().Dim(1), queries.Shape().Dim(2), s.cfg.Levels
	values := Reshape(nn.Dense(scope.At("value"), source, d, true), b, -1, heads, d/heads)
	offsets := nn.Dense(scope.At("offsets"), queries, heads*n*points*2, true)
	offsets = Reshape(offsets, b, q, heads, n, points, 2)
	weights := Reshape(nn.Dense(scope.At("weights"), queries, heads*n*points, true), b, q, heads, n*points)
	weights = Reshape(Softmax(weights, -1), b, q, heads, n, points)
	maps, sizes := s.maps()
	reference := func(from int) *Node {
		part := Reshape(Slice(references, AxisRange(), AxisRange(), AxisRange(from, from+2)), b, q, 1, 1, 1, 2)
		return BroadcastToShape(part, offsets.Shape())
	}
	if references.Shape().Dim(2) == 2 {
		widthFirst := Reshape(Reverse(sizes, -1), b, 1, 1, n, 1, 2)
		offsets = Div(offsets, BroadcastToShape(widthFirst, offsets.Shape()))
	} else {
		offsets = MulScalar(Mul(DivScalar(offsets, float64(points)), reference(2)), 0.5)
	}
	y := nn.SampleMaps(values, maps, sizes, Add(reference(0), offsets), weights)
	return nn.Dense(scope.At("out"), y, d, true)
}
