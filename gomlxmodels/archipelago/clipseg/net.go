package clipseg

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/loss"

	aclip "antipode/gomlxmodels/archipelago/clip"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/clipseg"
)

// shape returns the configuration of archipelago-clipseg.
func shape() clipseg.Config {
	return clipseg.Config{Config: aclip.Shape(), ExtractLayers: []int{1, 3, 5}, ReduceDim: aclip.Shape().ProjectionDim,
		DecoderHeads: 4, DecoderIntermediateSize: 256,
		ComplexDeconvolution: true, Side: examples.Size}
}

// lossNames are the terms of the loss: of pixels and of whole masks.
var lossNames = []string{"pixels", "overlap"}

// lossGraph returns the binary cross-entropy of the pixels plus 0.3 times the mean of 1 − the Dice coefficient over the
// prompts with a mask.
//
// Shapes: in = pixels [B,3,H,W] float; ids [B·each,S] int32; masks [B·each,H,W] bool → [] and [2].
func lossGraph(scope *model.Scope, cfg *clipseg.Config, in []*Node) (total, terms *Node) {
	pixels, ids, masks := in[0], in[1], in[2]
	scope = scope.At("clipseg")
	b, n := pixels.Shape().Dim(0), ids.Shape().Dim(0)
	prompt := clip.ForwardText(scope, &cfg.Config, ids, clip.GraphOptions{}).Projected
	var reduced []*Node
	for _, r := range clipseg.ForwardVision(scope, cfg, pixels, dtypes.Float32).Reduced {
		s, d := r.Shape().Dim(1), r.Shape().Dim(2)
		reduced = append(reduced, Reshape(BroadcastToDims(InsertAxes(r, 1), b, each, s, d), n, s, d))
	}
	logits := clipseg.ForwardDecoder(scope, cfg, reduced, prompt, dtypes.Float32).Logits
	inside := ConvertDType(masks, dtypes.Float32)
	cross := loss.BinaryCrossentropyLogits([]*Node{inside}, []*Node{logits})
	sure := Sigmoid(logits)
	sum := func(x *Node) *Node { return ReduceSum(x, 1, 2) }
	area := sum(inside)
	dice := Div(AddScalar(MulScalar(sum(Mul(sure, inside)), 2), 1), AddScalar(Add(sum(sure), area), 1))
	some := ConvertDType(GreaterThan(area, ZerosLike(area)), dtypes.Float32)
	overlap := Div(ReduceAllSum(Mul(some, OneMinus(dice))), AddScalar(ReduceAllSum(some), 1e-3))
	return Add(cross, MulScalar(overlap, 0.3)), Stack([]*Node{cross, overlap}, 0)
}
