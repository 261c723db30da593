package sam2

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/sam"
)

// Features is what the mask decoder takes of an image: three results of [ForwardVision].
type Features struct{ Embedding, Half, Full *Node }

// Masks is the result of [ForwardMasks]. With the fallback K = 1+M masks are computed, without it K = 1.
type Masks struct {
	Prompts  *Node   // [N,3,C] float32: the boxes' embeddings
	Tokens   []*Node // [N,T,C] after each layer, and after the final attention; of dtype
	Keys     []*Node // [N,G²,C] after each layer; of dtype
	Upscaled *Node   // [N,G,G,2,2,C/8,2,2]: rows and columns of L×L in three steps each; of dtype
	Logits   *Node   // [N,K,L,L] float32
	IoU      *Node   // [N,1+M] float32, predicted, 0 to 1
	// the mask of each box: the first where the logits above delta are at least the threshold's share of those above
	// -delta, or no logit is above that; else the one with the highest IoU of the others
	Best    *Node // [N,L,L] float32
	BestIoU *Node // [N] float32
}

// ForwardMasks is the prompt encoder and the mask decoder, for one image and several boxes. It panics on wrong shapes.
//
// Shapes: image of batch 1; boxes [N,4] float, x and y of the first corner and of the second, in pixels of the
// stretched image → [Masks].
func ForwardMasks(scope *model.Scope, cfg *Config, image Features, boxes *Node, fallback bool,
	dtype dtypes.DType) (out Masks) {
	c := &cfg.Decoder
	f := &sam.TwoWay{Scope: scope.At("decoder"), DecoderConfig: &c.DecoderConfig, Epsilon: c.LayerNormEps,
		MLPLayers: c.mlpLayers()}
	g, n, side, width := boxes.Graph(), boxes.Shape().Dim(0), cfg.Side(2), c.HiddenSize
	image.Embedding.AssertDims(1, side, side, width)
	boxes.AssertDims(n, 4)
	param := func(name string, dtype dtypes.DType, rows int) *Node {
		return nn.Param(scope.At("prompt"), g, name, dtype, rows, width)
	}
	frequencies := nn.Param(scope.At("prompt"), g, "frequencies", dtypes.Float32, 2, width/2) // never of dtype
	corners := Slice(param("points", dtype, points), AxisRange(2))                            // those before are points
	each := func(x *Node) *Node {
		return BroadcastToDims(InsertAxes(x, 0), n, x.Shape().Dim(0), width)
	}
	out.Prompts = Concatenate([]*Node{sam.Corners(frequencies, boxes, int(cfg.ImageSize), corners),
		each(nn.Float32(param("no_point", dtype, 1)))}, 1)
	learned := Concatenate([]*Node{param("object", dtype, 1), param("iou", dtype, 1),
		param("masks", dtype, 1+c.Masks)}, 0)
	tokens := Concatenate([]*Node{each(learned), ConvertDType(out.Prompts, dtype)}, 1)
	keys := Add(ConvertDType(image.Embedding, dtype), Reshape(param("no_mask", dtype, 1), 1, 1, 1, width))
	keys = BroadcastToDims(Reshape(keys, 1, side*side, width), n, side*side, width)
	positions := Reshape(ConvertDType(sam.Positions(frequencies, side), dtype), 1, side*side, width)
	out.Tokens, out.Keys = f.Transform(tokens, keys, positions)

	last := out.Tokens[len(out.Tokens)-1]
	token := func(i int) *Node { return Squeeze(Slice(last, AxisRange(), AxisElem(i)), 1) }
	out.Upscaled = f.Upscale(Reshape(out.Keys[len(out.Keys)-1], n, side, side, width),
		ConvertDType(image.Half, dtype), ConvertDType(image.Full, dtype))
	masks := []*Node{token(2)}
	for i := 1; fallback && i <= c.Masks; i++ {
		masks = append(masks, token(2+i))
	}
	out.Logits = f.Logits(masks, out.Upscaled)
	out.IoU = Sigmoid(nn.Float32(f.IoU(token(1))))
	out.Best, out.BestIoU = Squeeze(Slice(out.Logits, AxisRange(), AxisElem(0)), 1),
		Squeeze(Slice(out.IoU, AxisRange(), AxisElem(0)), 1)
	if fallback {
		out.Best, out.BestIoU = c.choose(out.Logits, out.IoU)
	}
	return out
}

// choose takes the first mask of each box, or where it is not stable the one of the others with the highest IoU.
//
// Shapes: logits [N,1+M,L,L] float32; iou [N,1+M] float32 → [N,L,L], [N].
func (c *DecoderConfig) choose(logits, iou *Node) (best, bestIoU *Node) {
	n, masks := iou.Shape().Dim(0), iou.Shape().Dim(1)
	first := Slice(logits, AxisRange(), AxisElem(0))
	area := func(above float64) *Node { // [N]
		above32 := ConstAs(first, float32(above))
		return ReduceSum(ConvertDType(GreaterThan(first, above32), dtypes.Float32), 1, 2, 3)
	}
	inner, outer := area(c.Delta), area(-c.Delta)
	share := Where(GreaterThan(outer, ZerosLike(outer)), Div(inner, outer), OnesLike(outer))
	stable := GreaterOrEqual(share, ConstAs(share, float32(c.Threshold)))
	other := AddScalar(ArgMax(Slice(iou, AxisRange(), AxisRange(1)), 1, dtypes.Int32), 1)
	chosen := Where(stable, ZerosLike(other), other)
	chosen = OneHot(chosen, masks, dtypes.Float32) // [N,1+M]
	best = ReduceSum(Mul(logits, Reshape(chosen, n, masks, 1, 1)), 1)
	return best, ReduceSum(Mul(iou, chosen), 1)
}
