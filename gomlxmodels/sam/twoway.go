package sam

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Positions is the encoding of the positions of a map of side × side.
//
// Shapes: frequencies [2,C/2] float32 → [1,side,side,C].
func Positions(frequencies *Node, side int) *Node {
	size := shapes.Make(dtypes.Float32, side, side)
	grid := Stack([]*Node{Iota(frequencies.Graph(), size, 1), Iota(frequencies.Graph(), size, 0)}, -1)
	return InsertAxes(encode(DivScalar(AddScalar(grid, 0.5), float64(side)), frequencies), 0)
}

// Corners is the embeddings of boxes: of their first and second corners.
//
// Shapes: frequencies [2,C/2] float32; boxes [N,4], x and y of the first corner and of the second, in pixels of an
// image of side × side; learned [2,C] → [N,2,C] float32.
func Corners(frequencies, boxes *Node, side int, learned *Node) *Node {
	at := DivScalar(AddScalar(Reshape(nn.Float32(boxes), -1, 2, 2), 0.5), float64(side))
	return Add(encode(at, frequencies), InsertAxes(nn.Float32(learned), 0))
}

// encode is the encoding of places in the image by sines and cosines of random frequencies.
//
// Shapes: at [...,2] float32, x and y, 0 to 1 in the image; frequencies [2,C/2] → [...,C].
func encode(at, frequencies *Node) *Node {
	at = AddScalar(MulScalar(at, 2), -1)
	one := func(i int) *Node { // as products of single numbers: a matrix product may round its inputs
		x := Slice(at, AxisRange().Spacer(), AxisElem(i))
		f := Slice(frequencies, AxisElem(i))
		return Mul(x, ExpandLeftToRank(f, at.Rank()))
	}
	z := MulScalar(Add(one(0), one(1)), 2*math.Pi)
	return Concatenate([]*Node{Sin(z), Cos(z)}, -1)
}

// TwoWay is the mask decoder under construction, as far as SAM and SAM 2 share it.
type TwoWay struct {
	Scope *model.Scope
	*DecoderConfig
	Epsilon   float64 // of the norms in the layers
	MLPLayers int     // dense layers of the layers' perceptrons
}

// Transform runs the two-way layers: tokens attend to each other and to the image, the image attends to the tokens.
// The tokens' positions are the tokens as they come in.
//
// Shapes: tokens [N,T,C]; keys [N,G²,C]; positions [1,G²,C] → [N,T,C] each, one more than layers; [N,G²,C] each.
func (f *TwoWay) Transform(tokens, keys, positions *Node) (allTokens, allKeys []*Node) {
	first := tokens
	for i := range f.Layers {
		layer := f.Scope.At("layer_%d", i)
		norm := func(k int, x *Node) *Node { return nn.LayerNorm(layer.At("norm%d", k), x, f.Epsilon) }
		if i == 0 { // without positions, and in place of the tokens
			tokens = f.attend(layer.At("self"), tokens, tokens, tokens, 1)
		} else {
			q := Add(tokens, first)
			tokens = Add(tokens, f.attend(layer.At("self"), q, q, tokens, 1))
		}
		tokens = norm(1, tokens)
		placed := Add(keys, positions)
		tokens = norm(2, Add(tokens, f.attend(layer.At("to_image"), Add(tokens, first), placed, keys, downsample)))
		tokens = norm(3, Add(tokens, f.mlp(layer, tokens)))
		keys = norm(4, Add(keys, f.attend(layer.At("to_tokens"), placed, Add(tokens, first), tokens, downsample)))
		allTokens, allKeys = append(allTokens, tokens), append(allKeys, keys)
	}
	tokens = Add(tokens, f.attend(f.Scope.At("final"), Add(tokens, first), Add(keys, positions), keys, downsample))
	return append(allTokens, nn.LayerNorm(f.Scope.At("final_norm"), tokens, 1e-5)), allKeys
}

// attend is attention whose inner width is the decoder's, divided.
//
// Shapes: q [N,Q,C]; k, v [N,S,C] → [N,Q,C].
func (f *TwoWay) attend(scope *model.Scope, q, k, v *Node, divide int) *Node {
	inner := f.HiddenSize / divide
	split := func(name string, x *Node) *Node {
		x = nn.Dense(scope.At("%s", name), x, inner, true)
		x = Reshape(x, x.Shape().Dim(0), x.Shape().Dim(1), f.Heads, inner/f.Heads)
		return TransposeAllAxes(x, 0, 2, 1, 3)
	}
	y := nn.Attention(split("q", q), split("k", k), split("v", v), nn.AttentionOptions{})
	y = Reshape(TransposeAllAxes(y, 0, 2, 1, 3), q.Shape().Dim(0), q.Shape().Dim(1), inner)
	return nn.Dense(scope.At("out"), y, f.HiddenSize, true)
}

// Upscale makes the map four times as high and wide, by two transposed convolutions whose squares are not arranged.
// SAM 2 adds details of finer maps after each; nil = none.
//
// Shapes: x [N,G,G,C]; half [1,G,G,2,2,C/4]; full [1,G,G,2,2,C/8,2,2] → [N,G,G,2,2,C/8,2,2].
func (f *TwoWay) Upscale(x, half, full *Node) *Node {
	add := func(x, detail *Node) *Node {
		if detail == nil {
			return x
		}
		return Add(x, detail)
	}
	x = nn.Enlarge(f.Scope.At("upscale_1"), x, f.HiddenSize/4, 2)
	x = add(TransposeAllAxes(x, 0, 1, 2, 4, 5, 3), half)
	x = nn.Activation("gelu", nn.LayerNorm(f.Scope.At("upscale_norm"), x, neckEpsilon))
	return nn.Activation("gelu", add(nn.Enlarge(f.Scope.At("upscale_2"), x, f.HiddenSize/8, 2), full))
}

// Logits is the logits of the masks whose tokens are given, from the first on. The four places of a square are one
// axis of a matrix product, with zeros for their products with each other: XLA compiles a product over an axis in the
// middle for many seconds.
//
// Shapes: tokens K × [N,C]; upscaled [N,G,G,2,2,C/8,2,2] → [N,K,4·G,4·G] float32.
func (f *TwoWay) Logits(tokens []*Node, upscaled *Node) *Node {
	n, side, width, k := upscaled.Shape().Dim(0), upscaled.Shape().Dim(1), f.HiddenSize/8, len(tokens)
	var masks []*Node
	for i, token := range tokens {
		masks = append(masks, f.perceptron(f.Scope, fmt.Sprintf("mask_%d", i), "relu", token, f.HiddenSize, width, 3))
	}
	same := shapes.Make(dtypes.Int32, 1, 1, 4, 1, 4)
	squares := ConvertDType(Equal(Iota(upscaled.Graph(), same, 2), Iota(upscaled.Graph(), same, 4)), upscaled.DType())
	product := Reshape(Mul(Reshape(Stack(masks, 2), n, width, 1, k, 1), squares), n, 4*width, 4*k)
	y := DotGeneral(Reshape(upscaled, n, side*side*4, 4*width), []int{2}, []int{0}, product, []int{1}, []int{0})
	y = TransposeAllAxes(Reshape(y, n, side, side, 2, 2, k, 2, 2), 0, 5, 1, 3, 6, 2, 4, 7)
	return nn.Float32(Reshape(y, n, k, 4*side, 4*side))
}

// IoU is the prediction of the masks' IoU from their token; SAM 2 takes its logistic function.
//
// Shapes: token [N,C] → [N,1+masks].
func (f *TwoWay) IoU(token *Node) *Node {
	return f.perceptron(f.Scope, "iou", "relu", token, f.IoUHidden, 1+f.Masks, f.IoUDepth)
}

// mlp is the perceptron of a layer.
//
// Shapes: x [N,T,C] → [N,T,C].
func (f *TwoWay) mlp(layer *model.Scope, x *Node) *Node {
	return f.perceptron(layer, "mlp", f.HiddenAct, x, f.MLPDim, f.HiddenSize, f.MLPLayers)
}

// perceptron is so many dense layers with an activation between them.
//
// Shapes: x [...,in] → [...,out].
func (f *TwoWay) perceptron(scope *model.Scope, name, act string, x *Node, hidden, out, layers int) *Node {
	for i := range layers - 1 {
		x = nn.Activation(act, nn.Dense(scope.At("%s_%d", name, i), x, hidden, true))
	}
	return nn.Dense(scope.At("%s_%d", name, layers-1), x, out, true)
}
