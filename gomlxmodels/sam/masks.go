package sam

import (
	"github.com/gomlx/compute/dtypes"
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
	f := &TwoWay{Scope: scope.At("decoder"), DecoderConfig: &cfg.Decoder, Epsilon: epsilon, MLPLayers: mlpLayers}
	g, n, side, width := boxes.Graph(), boxes.Shape().Dim(0), cfg.Vision.Grid(), cfg.Decoder.HiddenSize
	embedding.AssertDims(1, side, side, width)
	boxes.AssertDims(n, 4)
	param := func(name string, dtype dtypes.DType, rows int) *Node {
		return nn.Param(scope.At("prompt"), g, name, dtype, rows, width)
	}
	frequencies := nn.Param(scope.At("prompt"), g, "frequencies", dtypes.Float32, 2, width/2) // never of dtype
	out.Positions = Positions(frequencies, side)
	out.Corners = Corners(frequencies, boxes, cfg.Vision.ImageSize, param("corners", dtype, 2))

	learned := Concatenate([]*Node{param("iou", dtype, 1), param("masks", dtype, 1+cfg.Decoder.Masks)}, 0)
	tokens := Concatenate([]*Node{BroadcastToDims(InsertAxes(learned, 0), n, 2+cfg.Decoder.Masks, width),
		ConvertDType(out.Corners, dtype)}, 1)
	keys := Add(ConvertDType(embedding, dtype), Reshape(param("no_mask", dtype, 1), 1, 1, 1, width))
	keys = BroadcastToDims(Reshape(keys, 1, side*side, width), n, side*side, width)
	positions := Reshape(ConvertDType(out.Positions, dtype), 1, side*side, width)
	out.Tokens, out.Keys = f.Transform(tokens, keys, positions)

	last := out.Tokens[len(out.Tokens)-1]
	token := func(i int) *Node { return Squeeze(Slice(last, AxisRange(), AxisElem(i)), 1) }
	out.Upscaled = f.Upscale(Reshape(out.Keys[len(out.Keys)-1], n, side, side, width), nil, nil)
	out.Logits = Squeeze(f.Logits([]*Node{token(1)}, out.Upscaled), 1)
	iou := f.IoU(token(0))
	out.IoU = nn.Float32(Squeeze(Slice(iou, AxisRange(), AxisElem(0)), 1))
	return out
}
