package clip

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/readout"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/clip"
)

// Shape is the shipped CLIP's.
func Shape() clip.Config {
	return clip.Config{
		Text: clip.TextConfig{VocabSize: tokens.Size(), HiddenSize: 96, IntermediateSize: 384, Layers: 3, Heads: 4, Context: tokens.Context,
			HiddenAct: "quick_gelu", LayerNormEps: 1e-5, EndToken: tokens.EndID()},
		Vision: clip.VisionConfig{HiddenSize: 128, IntermediateSize: 512, Layers: 6, Heads: 4, NumChannels: 3, ImageSize: examples.Size, PatchSize: 16,
			HiddenAct: "gelu", LayerNormEps: 1e-5},
		ProjectionDim: 96,
	}
}

// The logarithm of the factor of the logits: what it starts at and what it stays below, as in CLIP (Radford et al. 2021, arXiv 2103.00020).
var (
	firstScale = math.Log(1 / 0.07)
	mostScale  = math.Log(100)
)

// lossNames are the parts of the loss: finding the text of a picture, the picture of a text, right answers to questions, the attributes of figures,
// whether objects are there, and what linear readers of the image tower make of its patches and of its class token.
var lossNames = []string{"text", "picture", "classes", "attributes", "presence", "patches", "class"}

// presenceWeight is the weight of presence in the whole; the first two have a half, the others one.
const presenceWeight = 0.3

// logScale is the logarithm of the logits' factor.
func logScale(scope *model.Scope, g *Graph) *Node {
	s := scope.VariableWithValue("logit_scale", float32(firstScale)).NodeValue(g)
	return Min(s, Scalar(g, dtypes.Float32, mostScale))
}

// inputs are a batch in the graph; see [batch.tensors].
type inputs struct{ pixels, ids, truth, questions, answers, worn, present, figure, named, shown *Node }

// lossGraph is the sum of seven losses: cross-entropies of each picture's own texts among all texts that are not true of it, and of each text's own
// picture among all pictures it is not true of; that of each class's answer among the texts that name its answers; and the binary cross-entropies of
// each attribute's word against plainFigure in figures, and of each object's question against plainPhoto; and those of package readout.
//
// Shapes: → [] and [7].
func lossGraph(scope *model.Scope, cfg *clip.Config, in inputs) (total, parts *Node) {
	readers := scope
	scope = scope.At("clip")
	g, b := in.pixels.Graph(), in.pixels.Shape().Dim(0)
	seen := clip.ForwardImage(scope, cfg, in.pixels, clip.GraphOptions{Stages: true})
	images := L2Normalize(seen.Projected, -1)
	scale := Exp(logScale(scope, g))
	with := func(ids *Node) *Node { // [B,texts]
		texts := L2Normalize(clip.ForwardText(scope, cfg, ids, clip.GraphOptions{}).Projected, -1)
		return Mul(DotGeneral(images, []int{1}, nil, texts, []int{1}, nil), scale)
	}
	pairs := with(in.ids)
	// own [B,each] are the pairs drawn together: the diagonal.
	blocks := Reshape(pairs, b, b, each)
	own := ReduceSum(Where(BroadcastToShape(InsertAxes(Diagonal(g, b), -1), blocks.Shape()), blocks, ZerosLike(blocks)), 1)
	wrong := Where(in.truth, AddScalar(ZerosLike(pairs), -1e9), pairs)
	text := ReduceAllMean(Softplus(Sub(BroadcastToDims(logSumExp(wrong, 1), b, each), own)))
	picture := ReduceAllMean(Softplus(Sub(Reshape(logSumExp(wrong, 0), b, each), own)))

	asked := with(in.questions)
	at := 0
	next := func(n int) *Node {
		at += n
		return Slice(asked, AxisRange(), AxisRange(at-n, at))
	}
	right := Scalar(g, dtypes.Float32, 0)
	for i, c := range classes {
		truth := OneHot(Squeeze(Slice(in.answers, AxisRange(), AxisElem(i)), -1), len(c.answers), dtypes.Float32) // zeros where it is not asked
		sum := Neg(ReduceAllSum(Mul(truth, LogSoftmax(next(len(c.answers))))))
		right = Add(right, Div(sum, AddScalar(ReduceAllSum(truth), 1e-3)))
	}
	right = DivScalar(right, float64(len(classes)))
	worn := Mul(ConvertDType(in.figure, dtypes.Float32), yesOrNo(in.worn, next(in.worn.Shape().Dim(1)), next(1)))
	attributes := Div(ReduceAllSum(worn), AddScalar(ReduceAllSum(ConvertDType(in.figure, dtypes.Float32)), 1e-3))
	attributes = DivScalar(attributes, float64(in.worn.Shape().Dim(1)))
	presence := ReduceAllMean(yesOrNo(in.present, next(in.present.Shape().Dim(1)), next(1)))

	patches, class := readout.Loss(readers, seen.Tokens, in.named, in.shown)
	total = Add(MulScalar(Add(text, picture), 0.5), Add(right, Add(attributes, MulScalar(presence, presenceWeight))))
	return Add(total, Add(patches, class)), Stack([]*Node{text, picture, right, attributes, presence, patches, class}, 0)
}

// yesOrNo is the binary cross-entropy of each question held against a plain text.
//
// Shapes: truth [B,n] bool; asked [B,n]; plain [B,1] → [B,n].
func yesOrNo(truth, asked, plain *Node) *Node {
	odds := Sub(asked, BroadcastToShape(plain, asked.Shape()))
	return Softplus(Where(truth, Neg(odds), odds))
}

// logSumExp keeps the axis at size 1.
func logSumExp(x *Node, axis int) *Node {
	most := StopGradient(ReduceAndKeep(x, ReduceMax, axis))
	return Add(most, Log(ReduceAndKeep(Exp(Sub(x, BroadcastToShape(most, x.Shape()))), ReduceSum, axis)))
}
