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

// Masks is the result of [ForwardMasks].
type Masks struct {
	Positions *Node   // [1,G,G,C] float32: of the image's positions
	Corners   *Node   // [N,2,C] float32: the boxes' embeddings
	Tokens    []*Node // [N,T,C] after each layer, and after the final attention; of dtype
	Keys      []*Node // [N,G²,C] after each layer; of dtype
	Upscaled  *Node   // [N,G,G,2,2,C/8,2,2]: rows and columns of L×L in three steps each; of dtype
	Logits    *Node   // [N,L,L] float32
	IoU       *Node   // [N] float32, predicted; it may leave 0 to 1
}

// ForwardMasks is the prompt encoder and the mask decoder, for one image and several boxes. epsilon is that of the
// layers' norms. It panics on wrong shapes.
//
// Shapes: embedding [1,G,G,C] float; boxes [N,4] float, x and y of the first corner and of the second, in pixels of
// the padded image → [Masks].
func ForwardMasks(scope *model.Scope, cfg *Config, embedding, boxes *Node, epsilon float64,
	dtype dtypes.DType) (out Masks) {
	f := &decoder{scope.At("decoder"), &cfg.Decoder, epsilon}
	g, n, side, width := boxes.Graph(), boxes.Shape().Dim(0), cfg.Vision.Grid(), cfg.Decoder.HiddenSize
	embedding.AssertDims(1, side, side, width)
	boxes.AssertDims(n, 4)
	param := func(name string, dtype dtypes.DType, rows int) *Node {
		return nn.Param(scope.At("prompt"), g, name, dtype, rows, width)
	}
	frequencies := nn.Param(scope.At("prompt"), g, "frequencies", dtypes.Float32, 2, width/2) // never of dtype
	size := shapes.Make(dtypes.Float32, side, side)
	grid := Stack([]*Node{Iota(g, size, 1), Iota(g, size, 0)}, -1)
	out.Positions = InsertAxes(encode(DivScalar(AddScalar(grid, 0.5), float64(side)), frequencies), 0)
	corners := DivScalar(AddScalar(Reshape(nn.Float32(boxes), n, 2, 2), 0.5), float64(cfg.Vision.ImageSize))
	out.Corners = Add(encode(corners, frequencies), InsertAxes(nn.Float32(param("corners", dtype, 2)), 0))

	learned := Concatenate([]*Node{param("iou", dtype, 1), param("masks", dtype, 1+cfg.Decoder.Masks)}, 0)
	tokens := Concatenate([]*Node{BroadcastToDims(InsertAxes(learned, 0), n, 2+cfg.Decoder.Masks, width),
		ConvertDType(out.Corners, dtype)}, 1)
	keys := Add(ConvertDType(embedding, dtype), Reshape(param("no_mask", dtype, 1), 1, 1, 1, width))
	keys = BroadcastToDims(Reshape(keys, 1, side*side, width), n, side*side, width)
	positions := Reshape(ConvertDType(out.Positions, dtype), 1, side*side, width)
	out.Tokens, out.Keys = f.transform(tokens, keys, positions)

	last := out.Tokens[len(out.Tokens)-1]
	token := func(i int) *Node { return Squeeze(Slice(last, AxisRange(), AxisElem(i)), 1) }
	out.Upscaled = f.upscale(Reshape(out.Keys[len(out.Keys)-1], n, side, side, width))
	mask := f.perceptron("mask_0", token(1), width, width/8, 3)
	// as products and a sum: XLA compiles the matrix product of these axes for many seconds
	logits := ReduceSum(Mul(out.Upscaled, Reshape(mask, n, 1, 1, 1, 1, width/8, 1, 1)), 5)
	logits = TransposeAllAxes(logits, 0, 1, 3, 5, 2, 4, 6)
	out.Logits = nn.Float32(Reshape(logits, n, 4*side, 4*side))
	iou := f.perceptron("iou", token(0), cfg.Decoder.IoUHidden, 1+cfg.Decoder.Masks, cfg.Decoder.IoUDepth)
	out.IoU = nn.Float32(Squeeze(Slice(iou, AxisRange(), AxisElem(0)), 1))
	return out
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

// decoder is the mask decoder under construction.
type decoder struct {
	scope   *model.Scope
	cfg     *DecoderConfig
	epsilon float64
}

// transform runs the two-way layers: tokens attend to each other and to the image, the image attends to the tokens.
// The tokens' positions are the tokens as they come in.
//
// Shapes: tokens [N,T,C]; keys [N,G²,C]; positions [1,G²,C] → [N,T,C] each, one more than layers; [N,G²,C] each.
func (f *decoder) transform(tokens, keys, positions *Node) (allTokens, allKeys []*Node) {
	first := tokens
	for i := range f.cfg.Layers {
		layer := f.scope.At("layer_%d", i)
		norm := func(k int, x *Node) *Node { return nn.LayerNorm(layer.At("norm%d", k), x, f.epsilon) }
		if i == 0 { // without positions, and in place of the tokens
			tokens = f.attend(layer.At("self"), tokens, tokens, tokens, 1)
		} else {
			q := Add(tokens, first)
			tokens = Add(tokens, f.attend(layer.At("self"), q, q, tokens, 1))
		}
		tokens = norm(1, tokens)
		placed := Add(keys, positions)
		tokens = norm(2, Add(tokens, f.attend(layer.At("to_image"), Add(tokens, first), placed, keys, downsample)))
		tokens = norm(3, Add(tokens, nn.MLP(layer.At("mlp"), tokens, f.cfg.MLPDim, f.cfg.HiddenAct)))
		keys = norm(4, Add(keys, f.attend(layer.At("to_tokens"), placed, Add(tokens, first), tokens, downsample)))
		allTokens, allKeys = append(allTokens, tokens), append(allKeys, keys)
	}
	tokens = Add(tokens, f.attend(f.scope.At("final"), Add(tokens, first), Add(keys, positions), keys, downsample))
	return append(allTokens, nn.LayerNorm(f.scope.At("final_norm"), tokens, 1e-5)), allKeys
}

// attend is attention whose inner width is the decoder's, divided.
//
// Shapes: q [N,Q,C]; k, v [N,S,C] → [N,Q,C].
func (f *decoder) attend(scope *model.Scope, q, k, v *Node, divide int) *Node {
	inner := f.cfg.HiddenSize / divide
	split := func(name string, x *Node) *Node {
		x = nn.Dense(scope.At("%s", name), x, inner, true)
		x = Reshape(x, x.Shape().Dim(0), x.Shape().Dim(1), f.cfg.Heads, inner/f.cfg.Heads)
		return TransposeAllAxes(x, 0, 2, 1, 3)
	}
	y := nn.Attention(split("q", q), split("k", k), split("v", v), nn.AttentionOptions{})
	y = Reshape(TransposeAllAxes(y, 0, 2, 1, 3), q.Shape().Dim(0), q.Shape().Dim(1), inner)
	return nn.Dense(scope.At("out"), y, f.cfg.HiddenSize, true)
}

// upscale makes the map four times as high and wide, by two transposed convolutions whose squares are not arranged.
//
// Shapes: x [N,G,G,C] → [N,G,G,2,2,C/8,2,2].
func (f *decoder) upscale(x *Node) *Node {
	x = nn.Enlarge(f.scope.At("upscale_1"), x, f.cfg.HiddenSize/4, 2)
	x = nn.LayerNorm(f.scope.At("upscale_norm"), TransposeAllAxes(x, 0, 1, 2, 4, 5, 3), neckEpsilon)
	return nn.Activation("gelu", nn.Enlarge(f.scope.At("upscale_2"), nn.Activation("gelu", x), f.cfg.HiddenSize/8, 2))
}

// perceptron is so many dense layers with ReLU between them.
//
// Shapes: x [N,C] → [N,out].
func (f *decoder) perceptron(name string, x *Node, hidden, out, layers int) *Node {
	for i := range layers - 1 {
		x = nn.Activation("relu", nn.Dense(f.scope.At("%s_%d", name, i), x, hidden, true))
	}
	return nn.Dense(f.scope.At("%s_%d", name, layers-1), x, out, true)
}

// perceptronLayer is the name that a layer of a [decoder.perceptron] has in transformers.
func perceptronLayer(i, layers int) string {
	switch i {
	case 0:
		return "proj_in"
	case layers - 1:
		return "proj_out"
	}
	return fmt.Sprintf("layers.%d", i-1)
}
