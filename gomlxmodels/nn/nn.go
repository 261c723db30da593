package nn

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	gomlxnn "github.com/gomlx/gomlx/ml/nn"
)

// InitialDeviation is the standard deviation weights and tokens start with where none are loaded.
const InitialDeviation = 0.02

// Param is the value of a variable that starts normal with [InitialDeviation]: weights, class tokens, position embeddings.
func Param(scope *model.Scope, g *Graph, name string, dtype dtypes.DType, dims ...int) *Node {
	return variable(scope, g, name, func(g *Graph, shape shapes.Shape) *Node {
		start := scope.RandomNormal(g, shapes.Make(dtypes.Float32, shape.Dimensions...)) // GoMLX's own gives zeros in 16 bits
		return ConvertDType(MulScalar(start, InitialDeviation), shape.DType)
	}, dtype, dims...)
}

func variable(scope *model.Scope, g *Graph, name string, start model.VariableInitializer, dtype dtypes.DType, dims ...int) *Node {
	return scope.WithInitializer(start).VariableWithShape(name, shapes.Make(dtype, dims...)).NodeValue(g)
}

// Dense is y = x·Wᵀ + b with the weights in PyTorch's [out,in] layout.
//
// Shapes: x [...,in] → [...,out].
func Dense(scope *model.Scope, x *Node, out int, bias bool) *Node {
	g, in := x.Graph(), x.Shape().Dim(-1)
	w := Param(scope, g, "weights", x.DType(), out, in)
	var b *Node
	if bias {
		b = variable(scope, g, "bias", initializer.Zero, x.DType(), out)
	}
	return linear(x, w, b)
}

func linear(x, w, b *Node) *Node {
	return gomlxnn.Dense(x, w, b, compute.DenseLayoutOutputsInput)
}

// LayerNorm normalises the last axis to mean 0 and variance 1, then scales and shifts it. Statistics are taken in
// float32 whatever the dtype of x.
//
// Shapes: x [...,D] → [...,D].
func LayerNorm(scope *model.Scope, x *Node, epsilon float64) *Node {
	g, d, dtype := x.Graph(), x.Shape().Dim(-1), x.DType()
	gain := variable(scope, g, "gain", initializer.One, dtype, d)
	offset := variable(scope, g, "offset", initializer.Zero, dtype, d)
	f := func(n *Node) *Node { return ConvertDType(n, dtypes.Float32) }
	return ConvertDType(gomlxnn.LayerNorm(f(x), []int{x.Rank() - 1}, epsilon, f(gain), f(offset), nil), dtype)
}

// activations by the names configurations use.
var activations = map[string]func(*Node) *Node{
	"gelu":              activation.Gelu, // exact: x·Φ(x)
	"gelu_new":          activation.GeluApproximate,
	"gelu_tanh":         activation.GeluApproximate,
	"gelu_pytorch_tanh": activation.GeluApproximate,
	"gelu_fast":         activation.GeluApproximate,
	"quick_gelu":        func(x *Node) *Node { return Mul(x, Sigmoid(MulScalar(x, 1.702))) },
	"relu":              activation.Relu,
	"silu":              func(x *Node) *Node { return Mul(x, Sigmoid(x)) },
	"swish":             func(x *Node) *Node { return Mul(x, Sigmoid(x)) },
	"tanh":              Tanh,
}

// KnownActivation is nil for a name [Activation] knows, and an error otherwise.
func KnownActivation(name string) error {
	if activations[name] == nil {
		return fmt.Errorf("activation %q is not known", name)
	}
	return nil
}

// Activation applies an activation by its Hugging Face name: gelu, gelu_new, gelu_tanh, gelu_pytorch_tanh, gelu_fast,
// quick_gelu, relu, silu, swish, tanh. It panics on another; see [KnownActivation].
//
// Shapes: x [...] → [...].
func Activation(name string, x *Node) *Node {
	f := activations[name]
	if f == nil {
		panic(KnownActivation(name))
	}
	return f(x)
}

// MLP is dense, activation, dense.
//
// Shapes: x [...,D] → [...,D].
func MLP(scope *model.Scope, x *Node, hidden int, act string) *Node {
	y := Dense(scope.In("fc1"), x, hidden, true)
	return Dense(scope.In("fc2"), Activation(act, y), x.Shape().Dim(-1), true)
}

// Unit scales vectors to length 1, as torch.nn.functional.normalize does: one shorter than 1e-12 is divided by that.
//
// Shapes: x [...,D] → [...,D].
func Unit(x *Node) *Node {
	return Div(x, MaxScalar(Sqrt(ReduceAndKeep(Square(x), ReduceSum, -1)), 1e-12))
}
