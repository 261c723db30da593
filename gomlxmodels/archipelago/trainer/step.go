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

// The global norm to which gradients are clipped, and the weight decay of AdamW.
const (
	gradientNorm = 1.0
	weightDecay  = 0.02
)

// stepGraph is one step: gradients with their global norm clipped, AdamW at the given learning rate, and the moving
// average of the weights. It returns the terms of the loss.
//
// Shapes: in = learning rate [], then the inputs of the loss → [len(Losses)].
func (j *Job) stepGraph(scope *model.Scope, in []*Node) *Node {
	g := in[0].Graph()
	total, terms := j.Loss(scope, in[1:])
	gradients := scope.BuildTrainableVariablesGradientsGraph(total)
	var trained []*model.Variable // before the optimizer adds its own
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			trained = append(trained, v)
		}
	}
	// Sum the norms in the order of names: a store restored from a checkpoint has another order, and float addition
	// is not associative.
	order := make([]int, len(gradients))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(trained[a].Path(), trained[b].Path()) })
	square := Scalar(g, dtypes.Float32, 0)
	for _, i := range order {
		square = Add(square, ReduceAllSum(Square(gradients[i])))
	}
	factor := Min(Scalar(g, dtypes.Float32, 1),
		Div(Scalar(g, dtypes.Float32, gradientNorm), AddScalar(Sqrt(square), 1e-6)))
	for i := range gradients {
		gradients[i] = Mul(gradients[i], factor)
	}
	optimizer.LearningRateVar(scope, dtypes.Float32, 1e-3).SetNodeValue(in[0])
	optimizer.Adam().Epsilon(1e-8).WeightDecay(weightDecay).Done().(interface {
		UpdateGraphWithGradients(*model.Scope, []*Node, dtypes.DType)
	}).UpdateGraphWithGradients(scope, gradients, dtypes.Float32)
	average(scope, g, trained)
	return terms
}

// AverageScope is the scope of the moving averages: the average of /path/weights is /average/path/weights.
const AverageScope = "/average"

// average updates the exponential moving averages of the trained variables. Their decay is 0.998, and lower in the
// first steps, in which the initial zeros would bias them.
func average(scope *model.Scope, g *Graph, trained []*model.Variable) {
	step := ConvertDType(optimizer.GetGlobalStepVar(scope).NodeValue(g), dtypes.Float32)
	decay := Min(Scalar(g, dtypes.Float32, 0.998), Div(AddScalar(step, 1), AddScalar(step, 10)))
	for _, v := range trained {
		a := scope.Store().VariableWithShape(AverageScope+v.Path(), v.Shape(), initializer.Zero).SetTrainable(false)
		a.SetNodeValue(Add(Mul(decay, a.NodeValue(g)), Mul(OneMinus(decay), v.NodeValue(g))))
	}
}

// useAverage replaces the trained weights by their moving averages.
func useAverage(store *model.Store) error {
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
		if err := store.GetVariable(path).SetValue(tensors.FromFlatDataAndDimensions(flat,
			v.Shape().Dimensions...)); err != nil {
			return err
		}
	}
	return nil
}
