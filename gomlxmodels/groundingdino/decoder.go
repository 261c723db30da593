package groundingdino

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Decoded is the result of a layer of the decoder, each [B,K,·].
type Decoded struct {
	Positions            *Node // [B,K,D] of the references
	AfterSelf, AfterText *Node // [B,K,D]
	AfterImage, States   *Node // [B,K,D], the last of the layer
	References           *Node // [B,K,4] after the layer
}

// Found is the result of [ForwardDecoder].
type Found struct {
	Layers []Decoded
	Logits *Node // [B,K,T] of each query and token; of padding meaningless
	Boxes  *Node // [B,K,4] (cx,cy,w,h), from 0 to 1 of height and width
}

// Sigmoids says how the inverse of the logistic function is bounded, which two implementations do differently.
type Sigmoids struct {
	Epsilon float64
	Apart   bool // x and 1−x are each at least Epsilon, else x is between Epsilon and 1−Epsilon
}

// inverse is the logarithm of x/(1−x).
//
// Shapes: x [...] → [...].
func (s Sigmoids) inverse(x *Node) *Node {
	if s.Apart {
		return Log(Div(MaxScalar(x, s.Epsilon), MaxScalar(OneMinus(x), s.Epsilon)))
	}
	x = ClipScalar(x, s.Epsilon, 1-s.Epsilon)
	return Log(Div(x, OneMinus(x)))
}

// box is the scope of a decoder layer's box head.
func (c *Config) box(layer int) string {
	if c.BoxShare {
		return "box_0"
	}
	return fmt.Sprintf("box_%d", layer)
}

// decode is a layer of the decoder: queries attend to each other, to the text, and to the image at points around their
// references, which the layer refines.
//
// Shapes: states [B,K,D]; references [B,K,4]; vision [B,V,D]; text [B,T,D] → [Decoded].
func decode(scope *model.Scope, s scene, w words, o Sigmoids, layer int, states, references, vision,
	text *Node) (out Decoded) {
	c, at := s.cfg, scope.At("layer_%d", layer)
	out.Positions = queryPositions(scope.At("positions"), c, references)
	place := func(x *Node) *Node { return Add(x, out.Positions) }
	after := func(name string, x, y *Node) *Node {
		return nn.LayerNorm(at.At("norm_%s", name), Add(x, y), c.LayerNormEps)
	}
	x := states
	x = after("self", x, attend(at.At("self"), place(x), place(x), x, c.DecoderHeads, nil))
	out.AfterSelf = x
	x = after("text", x, attend(at.At("text"), place(x), text, text, c.DecoderHeads, w.keep))
	out.AfterText = x
	x = after("image", x, deformable(at.At("image"), s, c.DecoderHeads, c.DecoderPoints, place(x), vision, references))
	out.AfterImage = x
	x = after("mlp", x, nn.MLP(at.At("mlp"), x, c.DecoderHidden, c.Activation))
	out.States = x
	out.References = c.refine(scope, o, layer, x, references)
	return out
}

// refine moves references by what a layer's box head makes of its states.
//
// Shapes: states [B,K,D]; references [B,K,4] → [B,K,4].
func (c *Config) refine(scope *model.Scope, o Sigmoids, layer int, states, references *Node) *Node {
	delta := perceptron(scope.At("%s", c.box(layer)), states, c.Width, c.Width, 4)
	return Sigmoid(Add(delta, o.inverse(references)))
}

// queryPositions are the position embeddings of boxes: of cy, cx, w and h.
//
// Shapes: references [B,K,4] → [B,K,D].
func queryPositions(scope *model.Scope, c *Config, references *Node) *Node {
	var list []*Node
	for _, i := range []int{1, 0, 2, 3} {
		x := Slice(references, AxisRange(), AxisRange(), AxisElem(i))
		list = append(list, sine(Squeeze(x, 2), c.Width/2, 10000))
	}
	return perceptron(scope, Concatenate(list, -1), c.Width, c.Width)
}

// head returns logits and boxes from the last layer's states and the references that entered it: the references that
// it refined itself are not used.
//
// Shapes: states [B,K,D]; references [B,K,4]; text [B,T,D] → [B,K,T], [B,K,4].
func (c *Config) head(scope *model.Scope, o Sigmoids, states, references, text *Node) (logits, boxes *Node) {
	x := nn.LayerNorm(scope.At("norm"), states, c.LayerNormEps)
	logits = DotGeneral(x, []int{2}, []int{0}, text, []int{2}, []int{0})
	return logits, c.refine(scope, o, c.DecoderLayers-1, x, references)
}
