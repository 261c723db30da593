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
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/vit"
)

// Shape returns the configuration of archipelago-clip.
func Shape() clip.Config {
	return clip.Config{
		Text: clip.TextConfig{Transformer: hub.Transformer{HiddenSize: 96, IntermediateSize: 384, Layers: 3, Heads: 4,
			HiddenAct: "quick_gelu", LayerNormEps: 1e-5},
			VocabSize: tokens.Size(), Context: tokens.Context, EndToken: tokens.EndID()},
		Vision: vit.SquareConfig{Transformer: hub.Transformer{HiddenSize: 128, IntermediateSize: 512, Layers: 6,
			Heads: 4, HiddenAct: "gelu", LayerNormEps: 1e-5},
			NumChannels: 3, ImageSize: examples.Size, PatchSize: 16},
		ProjectionDim: 96,
	}
}

// Initial and maximum value of the logit scale, as a logarithm: those of CLIP (Radford et al. 2021, arXiv 2103.00020).
var (
	firstScale = math.Log(1 / 0.07)
	mostScale  = math.Log(100)
)

// lossNames are the terms of the loss: text retrieval, image retrieval, classes, attributes of figures, presence of
// objects, and the linear probes of the image tower's patch tokens and class token.
var lossNames = []string{"text", "picture", "classes", "attributes", "presence", "patches", "class"}

// presenceWeight is the weight of presence in the total; that of the first two terms is 0.5, of the others 1.
const presenceWeight = 0.3

// logScale returns the logarithm of the logit scale.
func logScale(scope *model.Scope, g *Graph) *Node {
	s := scope.VariableWithValue("logit_scale", float32(firstScale)).NodeValue(g)
	return Min(s, Scalar(g, dtypes.Float32, mostScale))
}

// lossGraph returns a weighted sum of seven terms: the cross-entropy of each image's own texts against all texts that
// are not true of it, and of each text's own image against all images of which it is not true; that of each class's
// value against the texts that name its other values; the binary cross-entropies of each attribute's word against
// plainFigure, for figures, and of each object's sentence against plainPhoto; and the probes of package readout.
//
// Shapes: in = pixels [B,3,H,W] float; ids [B·each,length] int32 of the texts; truth [B,B·each] bool, whether a text is
// true of an image; asked [Q,askedLength] int32, the ids of [askedTexts]; answers [B,classes] int32; worn
// [B,attributes], present [B,objects] and figure [B,1] bool; the labels of the probes → [] and [7].
func lossGraph(scope *model.Scope, cfg *clip.Config, in []*Node) (total, terms *Node) {
	pixels, ids, truth, asked, answers := in[0], in[1], in[2], in[3], in[4]
	worn, present, figure := in[5], in[6], ConvertDType(in[7], dtypes.Float32)
	probes := scope
	scope = scope.At("clip")
	g, b := pixels.Graph(), pixels.Shape().Dim(0)
	seen := clip.ForwardImage(scope, cfg, pixels, clip.GraphOptions{Tokens: true})
	images := L2Normalize(seen.Projected, -1)
	scale := Exp(logScale(scope, g))
	with := func(ids *Node) *Node { // [B,texts]
		texts := L2Normalize(clip.ForwardText(scope, cfg, ids, clip.GraphOptions{}).Projected, -1)
		return Mul(DotGeneral(images, []int{1}, nil, texts, []int{1}, nil), scale)
	}
	pairs := with(ids)
	// own [B,each] are the logits of the images' own texts: the diagonal.
	blocks := Reshape(pairs, b, b, each)
	own := ReduceSum(Where(BroadcastToShape(InsertAxes(Diagonal(g, b), -1), blocks.Shape()), blocks, ZerosLike(blocks)),
		1)
	wrong := Where(truth, AddScalar(ZerosLike(pairs), -1e9), pairs)
	text := ReduceAllMean(Softplus(Sub(BroadcastToDims(logSumExp(wrong, 1), b, each), own)))
	img := ReduceAllMean(Softplus(Sub(Reshape(logSumExp(wrong, 0), b, each), own)))

	questions := with(asked)
	at := 0
	next := func(n int) *Node {
		at += n
		return Slice(questions, AxisRange(), AxisRange(at-n, at))
	}
	right := Scalar(g, dtypes.Float32, 0)
	for i, c := range classes {
		right = Add(right, readout.CrossEntropy(next(len(c.Values)), answers, i))
	}
	right = DivScalar(right, float64(len(classes)))
	n := worn.Shape().Dim(1)
	attributes := Div(ReduceAllSum(Mul(figure, yesOrNo(worn, next(n), next(1)))), AddScalar(ReduceAllSum(figure), 1e-3))
	attributes = DivScalar(attributes, float64(n))
	presence := ReduceAllMean(yesOrNo(present, next(present.Shape().Dim(1)), next(1)))

	patches, class := readout.Loss(probes, seen.Tokens, in[8], in[9])
	total = Add(MulScalar(Add(text, img), 0.5), Add(right, Add(attributes, MulScalar(presence, presenceWeight))))
	return Add(total, Add(patches, class)), Stack([]*Node{text, img, right, attributes, presence, patches, class},
		0)
}

// yesOrNo returns the binary cross-entropy of each question's logit minus that of a neutral text.
//
// Shapes: truth [B,n] bool; asked [B,n]; plain [B,1] → [B,n].
func yesOrNo(truth, asked, plain *Node) *Node {
	odds := Sub(asked, BroadcastToShape(plain, asked.Shape()))
	return Softplus(Where(truth, Neg(odds), odds))
}

// logSumExp reduces an axis to size 1.
func logSumExp(x *Node, axis int) *Node {
	most := StopGradient(ReduceAndKeep(x, ReduceMax, axis))
	return Add(most, Log(ReduceAndKeep(Exp(Sub(x, BroadcastToShape(most, x.Shape()))), ReduceSum, axis)))
}
