package trainer

import (
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// gradientNorm is where the gradient's global norm is cut, weightDecay AdamW's.
const (
	gradientNorm = 1.0
	weightDecay  = 0.02
)

// stepGraph is one step: gradients cut at gradientNorm, AdamW at the given rate, and the moving average. It returns the parts of the loss.
//
// Shapes: in = rate [], then the loss's inputs → [len(Losses)].
func (j *Job) stepGraph(scope *model.Scope, in []*Node) *Node {
	g := in[0].Graph()
	total, each := j.Loss(scope, in[1:])
	gradients := scope.BuildTrainableVariablesGradientsGraph(total)
	var trained []*model.Variable // before the optimizer adds its own
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			trained = append(trained, v)
		}
	}
	order := make([]int, len(gradients)) // by name: a store read from a checkpoint holds its variables in another order, and sums of floats hang on theirs
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(trained[a].Path(), trained[b].Path()) })
	square := Scalar(g, dtypes.Float32, 0)
	for _, i := range order {
		square = Add(square, ReduceAllSum(Square(gradients[i])))
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

// AverageScope is where the moving average of the trained weights lives: /average, then a weight's own path. It is what ships.
const AverageScope = "/average"

// average follows the trained variables with decay 0.998, less at the start so that the zeros it starts from are forgotten.
func average(scope *model.Scope, g *Graph, trained []*model.Variable) {
	step := ConvertDType(optimizer.GetGlobalStepVar(scope).NodeValue(g), dtypes.Float32)
	decay := Min(Scalar(g, dtypes.Float32, 0.998), Div(AddScalar(step, 1), AddScalar(step, 10)))
	for _, v := range trained {
		a := scope.Store().VariableWithShape(AverageScope+v.Path(), v.Shape(), initializer.Zero).SetTrainable(false)
		a.SetNodeValue(Add(Mul(decay, a.NodeValue(g)), Mul(OneMinus(decay), v.NodeValue(g))))
	}
}

// UseAverage puts the moving averages in the places of the trained weights.
func UseAverage(store *model.Store) error {
	for v := range store.IterVariables() {
		path, averaged := strings.CutPrefix(v.Path(), AverageScope)
		if !averaged {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return err
		}
		flat, err := tensors.CopyFlatData[float32](value)
		if err != nil {
			return err
		}
		if err := store.GetVariable(path).SetValue(tensors.FromFlatDataAndDimensions(flat, v.Shape().Dimensions...)); err != nil {
			return err
		}
	}
	return nil
}
