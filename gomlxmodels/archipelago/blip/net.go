package blip

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/readout"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/textgen"
)

// shape is the configuration of archipelago-blip. Its image tower is that of archipelago-vit.
var shape = func() blip.Config {
	c := blip.DefaultConfig()
	c.Vision.HiddenSize, c.Vision.Layers, c.Vision.Heads, c.Vision.IntermediateSize = 128, 6, 4, 512
	c.Vision.ImageSize, c.Vision.PatchSize = examples.Size, 16
	c.Text.HiddenSize, c.Text.Layers, c.Text.Heads, c.Text.IntermediateSize = 128, 3, 4, 512
	c.Text.VocabSize, c.Text.Positions = len(vocabulary), positions
	c.Text.StartToken, c.Text.EndToken = tokenID(tokenStart), tokenID(tokenEnd)
	return c
}()

// lossGraph returns the cross-entropy of next-token prediction over all scored tokens plus the losses of linear probes
// of the image tower, see package readout. Its terms are the cross-entropies of captions of objects and scenery, of
// captions of figures, and of the questions about figures' groups, and the two losses of the probes.
//
// Shapes: in = pixels [B,3,H,W] float; ids and next tokens, int32, of objects [B/2,Q], of figures [B/2,Q] and of
// questions [B,Q]; the labels of the probes → [] and [5].
func lossGraph(scope *model.Scope, in []*Node) (total, terms *Node) {
	g := in[0].Graph()
	image := blip.ForwardImage(scope, &shape, in[0], blip.GraphOptions{})
	things, images := in[1].Shape().Dim(0), in[0].Shape().Dim(0)
	sum, n := Scalar(g, dtypes.Float32, 0), Scalar(g, dtypes.Float32, 0)
	var means []*Node
	for kind, rows := range [][2]int{{0, things}, {things, images}, {things, images}} {
		s, k := textLoss(scope, slice(image.Context, rows[0], rows[1]), in[1+2*kind], in[2+2*kind])
		sum, n = Add(sum, s), Add(n, k)
		means = append(means, Div(s, k))
	}
	patches, class := readout.Loss(scope, image.Tokens, in[7], in[8])
	return Add(Div(sum, n), Add(patches, class)), Stack(append(means, patches, class), 0)
}

// slice returns the contexts of images from to to.
func slice(context []*Node, from, to int) []*Node {
	out := make([]*Node, len(context))
	for i, c := range context {
		out[i] = Slice(c, AxisRange(from, to))
	}
	return out
}

// textLoss returns the sum of the cross-entropies of the scored tokens and their number, both [].
//
// Shapes: context of B images, see blip.Image; ids, next [R,Q] int32, R a multiple of B.
func textLoss(scope *model.Scope, context []*Node, ids, next *Node) (sum, n *Node) {
	r, q := ids.Shape().Dim(0), ids.Shape().Dim(1)
	logits := blip.ForwardText(scope, &shape,
		textgen.Inputs{IDs: ids, Positions: Iota(ids.Graph(), shapes.Make(dtypes.Int32, r, q), 1),
			Context: context, Cache: textgen.NewCache(q)}, blip.GraphOptions{AllLogits: true}).Logits
	scored := GreaterOrEqual(next, ZerosLike(next))
	truth := OneHot(MaxScalar(next, int32(0)), shape.Text.VocabSize, dtypes.Float32)
	each := Neg(ReduceSum(Mul(truth, LogSoftmax(logits)), -1)) // [R,Q]
	return ReduceAllSum(Where(scored, each, ZerosLike(each))), ReduceAllSum(ConvertDType(scored, dtypes.Float32))
}
