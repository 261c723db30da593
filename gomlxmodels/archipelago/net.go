package main

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// shape is the shipped ViT's.
var shape = func() vit.Config {
	c := vit.DefaultConfig()
	c.HiddenSize, c.Layers, c.Heads, c.IntermediateSize = 128, 6, 4, 512
	c.ImageSize, c.PatchSize = vit.Pair{imageSize, imageSize}, vit.Pair{patchSize, patchSize}
	return c
}()

// view is a set-up: the patches the network sees.
type view int

const (
	full view = iota
	objectOnly
	backgroundOnly
	views
)

// The heads the network is trained with, from the class token. The first is shipped as the model's classifier.
const (
	headObject = iota
	headScene
	headIsland
	headForm // object and form together
	heads
)

var (
	viewNames = [views]string{"full", "object_only", "background_only"}
	headNames = [heads]string{"object", "scene", "island", "form"}
)

// visible says whether what a head asks for can be seen in a view.
func visible(v view, head int) bool {
	switch v {
	case objectOnly:
		return head == headObject || head == headForm
	case backgroundOnly:
		return head == headScene || head == headIsland
	}
	return true
}

// embeddings are the class tokens of the three set-ups, each [B,D].
//
// Shapes: pixels [B,3,H,W] float; object [B,N] bool.
func embeddings(scope *model.Scope, pixels, object *Node) [views]*Node {
	o := vit.Forward(scope.At("vit"), &shape, pixels, vit.GraphOptions{Object: object})
	return [views]*Node{o.CLS, o.Object, o.Background}
}

// logits are a head's outputs, [B,classes].
func logits(scope *model.Scope, cls *Node, head int) *Node {
	at := scope.At("vit").At("classifier")
	if head != headObject {
		at = scope.At("heads").At("%s", headNames[head])
	}
	return nn.Dense(at, cls, len(labels[head]), true)
}

// lossGraph is the cross-entropy summed over heads, each averaged over the views in which its answer can be seen, and the heads' own losses.
//
// Shapes: pixels [B,3,H,W] float; object [B,N] bool; labels [B,heads] int32 → [] and [heads].
func lossGraph(scope *model.Scope, pixels, object, answers *Node) (total, each *Node) {
	g := pixels.Graph()
	total = Scalar(g, dtypes.Float32, 0)
	var losses []*Node
	cls := embeddings(scope, pixels, object)
	for h := range heads {
		truth := OneHot(Squeeze(Slice(answers, AxisRange(), AxisElem(h)), -1), len(labels[h]), dtypes.Float32)
		sum, n := Scalar(g, dtypes.Float32, 0), 0
		for v := range views {
			if visible(v, h) {
				sum, n = Sub(sum, ReduceAllMean(ReduceSum(Mul(truth, LogSoftmax(logits(scope, cls[v], h))), -1))), n+1
			}
		}
		loss := DivScalar(sum, float64(n))
		losses, total = append(losses, loss), Add(total, loss)
	}
	return total, Stack(losses, 0)
}

// gradientNorm is where the gradient's global norm is cut, weightDecay AdamW's.
const (
	gradientNorm = 1.0
	weightDecay  = 0.02
)

// stepGraph is one step of training: gradients cut at gradientNorm, AdamW at the given rate, and a moving average of the
// weights, which is what gets exported. It returns the heads' losses.
//
// Shapes: in = rate [], then lossGraph's inputs → [heads].
func stepGraph(scope *model.Scope, in []*Node) *Node {
	g := in[0].Graph()
	total, each := lossGraph(scope, in[1], in[2], in[3])
	gradients := scope.BuildTrainableVariablesGradientsGraph(total)
	var trained []*model.Variable // before the optimizer adds its own
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			trained = append(trained, v)
		}
	}
	square := Scalar(g, dtypes.Float32, 0)
	for _, d := range gradients {
		square = Add(square, ReduceAllSum(Square(d)))
	}
	factor := Min(Scalar(g, dtypes.Float32, 1), Div(Scalar(g, dtypes.Float32, gradientNorm), AddScalar(Sqrt(square), 1e-6)))
	for i := range gradients {
		gradients[i] = Mul(gradients[i], factor)
	}
	optimizer.LearningRateVar(scope, dtypes.Float32, 1e-3).SetNodeValue(in[0])
	optimizer.Adam().Epsilon(1e-8).WeightDecay(weightDecay).Done().(interface {
		UpdateGraphWithGradients(*model.Scope, []*Node, dtypes.DType)
	}).UpdateGraphWithGradients(scope, gradients, dtypes.Float32)
	average(scope, g, trained)
	return each
}

// averageScope is where the moving average of the weights lives.
const averageScope = "/average"

// average follows the trained variables with decay 0.998, less at the start so that the zeros it starts from are forgotten.
func average(scope *model.Scope, g *Graph, trained []*model.Variable) {
	step := ConvertDType(optimizer.GetGlobalStepVar(scope).NodeValue(g), dtypes.Float32)
	decay := Min(Scalar(g, dtypes.Float32, 0.998), Div(AddScalar(step, 1), AddScalar(step, 10)))
	for _, v := range trained {
		a := scope.Store().VariableWithShape(averageScope+v.Path(), v.Shape(), initializer.Zero).SetTrainable(false)
		a.SetNodeValue(Add(Mul(decay, a.NodeValue(g)), Mul(OneMinus(decay), v.NodeValue(g))))
	}
}
