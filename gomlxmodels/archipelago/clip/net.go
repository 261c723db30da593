package clip

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/examples"
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

// presenceWeight is the share of the third loss in the whole.
const presenceWeight = 0.3

// lossNames are the parts of the loss: finding the text of a picture, the picture of a text, and whether objects are there.
var lossNames = []string{"text", "picture", "presence"}

// presenceTexts are the questions whether each object is there, and the neutral text they are held against.
func presenceTexts() []string {
	var out []string
	for _, o := range examples.World.Objects() {
		out = append(out, Present(o).Text)
	}
	return append(out, gomlxmodels.NeutralPrompt)
}

// logScale is the logarithm of the logits' factor.
func logScale(scope *model.Scope, g *Graph) *Node {
	s := scope.VariableWithValue("logit_scale", float32(firstScale)).NodeValue(g)
	return Min(s, Scalar(g, dtypes.Float32, mostScale))
}

// lossGraph is the mean of the three losses: cross-entropies of each picture's own texts among all texts that are not true of it, and of each
// text's own picture among all pictures it is not true of; and the binary cross-entropy of each object's question against the neutral text.
//
// Shapes: pixels [B,3,H,W] float; ids [B·each,S] int32; truth [B,B·each] bool; present [B,objects] bool; questions [objects+1,S] int32 → [] and [3].
func lossGraph(scope *model.Scope, cfg *clip.Config, pixels, ids, truth, present, questions *Node) (total, parts *Node) {
	scope = scope.At("clip")
	g, b, n := pixels.Graph(), pixels.Shape().Dim(0), ids.Shape().Dim(0)
	images := L2Normalize(clip.ForwardImage(scope, cfg, pixels, clip.GraphOptions{}).Projected, -1)
	texts := L2Normalize(clip.ForwardText(scope, cfg, Concatenate([]*Node{ids, questions}, 0), clip.GraphOptions{}).Projected, -1)
	logits := Mul(DotGeneral(images, []int{1}, nil, texts, []int{1}, nil), Exp(logScale(scope, g)))
	pairs := Slice(logits, AxisRange(), AxisRange(0, n)) // [B,B·each]
	// own [B,each] are the pairs drawn together: the diagonal.
	blocks := Reshape(pairs, b, b, each)
	own := ReduceSum(Where(BroadcastToShape(InsertAxes(Diagonal(g, b), -1), blocks.Shape()), blocks, ZerosLike(blocks)), 1)
	wrong := Where(truth, AddScalar(ZerosLike(pairs), -1e9), pairs)
	text := ReduceAllMean(Softplus(Sub(BroadcastToDims(logSumExp(wrong, 1), b, each), own)))
	picture := ReduceAllMean(Softplus(Sub(Reshape(logSumExp(wrong, 0), b, each), own)))
	asked := Slice(logits, AxisRange(), AxisRange(n, questions.Shape().Dim(0)+n-1))
	neutral := Slice(logits, AxisRange(), AxisRange(questions.Shape().Dim(0)+n-1))
	odds := Sub(asked, BroadcastToShape(neutral, asked.Shape()))
	presence := ReduceAllMean(Softplus(Where(present, Neg(odds), odds)))
	total = Add(MulScalar(Add(text, picture), 0.5), MulScalar(presence, presenceWeight))
	return total, Stack([]*Node{text, picture, presence}, 0)
}

// logSumExp keeps the axis at size 1.
func logSumExp(x *Node, axis int) *Node {
	most := StopGradient(ReduceAndKeep(x, ReduceMax, axis))
	return Add(most, Log(ReduceAndKeep(Exp(Sub(x, BroadcastToShape(most, x.Shape()))), ReduceSum, axis)))
}
