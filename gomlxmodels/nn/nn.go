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

// InitialDeviation is the standard deviation of the initial values of weights and tokens.
const InitialDeviation = 0.02

// Param returns the value of a variable that is initialized from a normal distribution with standard deviation
// [InitialDeviation]: weights, class tokens, position embeddings.
func Param(scope *model.Scope, g *Graph, name string, dtype dtypes.DType, dims ...int) *Node {
	return variable(scope, g, name, func(g *Graph, shape shapes.Shape) *Node {
		// in float32, because GoMLX's own initializer returns zeros in 16 bits
		start := scope.RandomNormal(g, shapes.Make(dtypes.Float32, shape.Dimensions...))
		return ConvertDType(MulScalar(start, InitialDeviation), shape.DType)
	}, dtype, dims...)
}

func variable(scope *model.Scope, g *Graph, name string, start model.VariableInitializer, dtype dtypes.DType,
	dims ...int) *Node {
	return scope.WithInitializer(start).VariableWithShape(name, shapes.Make(dtype, dims...)).NodeValue(g)
}

// Float32 converts to float32.
func Float32(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// DType is the dtype that a graph computes in: d, or Float32 for the zero value.
func DType(d dtypes.DType) dtypes.DType {
	if d == dtypes.InvalidDType {
		return dtypes.Float32
	}
	return d
}

// Embedding returns the rows of a learned table, the variable called name.
//
// Shapes: ids [...] int → [...,width].
func Embedding(scope *model.Scope, name string, ids *Node, dtype dtypes.DType, rows, width int) *Node {
	return Gather(Param(scope, ids.Graph(), name, dtype, rows, width), InsertAxes(ids, -1))
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

// LayerNorm normalizes the last axis to mean 0 and variance 1, then scales and shifts it. Statistics are taken in
// float32 whatever the dtype of x.
//
// Shapes: x [...,D] → [...,D].
func LayerNorm(scope *model.Scope, x *Node, epsilon float64) *Node {
	gain := variable(scope, x.Graph(), "gain", initializer.One, x.DType(), x.Shape().Dim(-1))
	return layerNorm(scope, x, epsilon, Float32(gain))
}

// LayerNormNoGain is [LayerNorm] that shifts and does not scale.
//
// Shapes: x [...,D] → [...,D].
func LayerNormNoGain(scope *model.Scope, x *Node, epsilon float64) *Node {
	// ones: given no gain, the fused layer norm of the pure Go backend takes the offset for it (compute v0.1.3)
	return layerNorm(scope, x, epsilon, Ones(x.Graph(), shapes.Make(dtypes.Float32, x.Shape().Dim(-1))))
}

func layerNorm(scope *model.Scope, x *Node, epsilon float64, gain *Node) *Node {
	dtype := x.DType()
	offset := variable(scope, x.Graph(), "offset", initializer.Zero, dtype, x.Shape().Dim(-1))
	y := gomlxnn.LayerNorm(Float32(x), []int{x.Rank() - 1}, epsilon, gain, Float32(offset), nil)
	return ConvertDType(y, dtype)
}

// GroupNorm normalizes each of the groups of channels to mean 0 and variance 1 over its channels and the valid
// positions, then scales and shifts each channel. Sums go over the positions first: reducing over positions and group
// at once is much slower. Statistics are taken in float32 whatever the dtype of x.
//
// Shapes: x [B,S,C]; valid [B,S] bool, nil = all → [B,S,C].
func GroupNorm(scope *model.Scope, x *Node, groups int, epsilon float64, valid *Node) *Node {
	g, dtype := x.Graph(), x.DType()
	b, s, c := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	gain := Float32(variable(scope, g, "gain", initializer.One, dtype, c))
	offset := Float32(variable(scope, g, "offset", initializer.Zero, dtype, c))
	mean := func(x *Node) *Node { // → [B,1,C], equal within a group
		if valid != nil {
			x = Where(BroadcastToShape(InsertAxes(valid, -1), x.Shape()), x, ZerosLike(x))
		}
		sums := ReduceAndKeep(Reshape(ReduceSum(x, 1), b, groups, c/groups), ReduceSum, -1)
		if valid == nil {
			sums = MulScalar(sums, 1/float64(s*c/groups))
		} else {
			n := ReduceSum(ConvertDType(valid, dtypes.Float32), 1)
			sums = Div(sums, Reshape(MulScalar(n, float64(c/groups)), b, 1, 1))
		}
		return Reshape(BroadcastToDims(sums, b, groups, c/groups), b, 1, c)
	}
	y := Float32(x)
	y = Sub(y, mean(y))
	scale := Div(Reshape(gain, 1, 1, c), Sqrt(AddScalar(mean(Square(y)), epsilon)))
	return ConvertDType(Add(Mul(y, scale), Reshape(offset, 1, 1, c)), dtype)
}

// activations by their names in configurations.
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

// KnownActivation returns an error for a name that [Activation] does not know.
func KnownActivation(name string) error {
	if activations[name] == nil {
		return fmt.Errorf("activation %q is not known", name)
	}
	return nil
}

// Activation applies an activation by its Hugging Face name: gelu, gelu_new, gelu_tanh, gelu_pytorch_tanh, gelu_fast,
// quick_gelu, relu, silu, swish, tanh. It panics on another; see [KnownActivation]. It is computed in float32 whatever
// the dtype of x, which is faster too: a step in 16 bits is two conversions.
//
// Shapes: x [...] → [...].
func Activation(name string, x *Node) *Node {
	f := activations[name]
	if f == nil {
		panic(KnownActivation(name))
	}
	return ConvertDType(f(Float32(x)), x.DType())
}

// MLP is dense, activation, dense.
//
// Shapes: x [...,D] → [...,D].
func MLP(scope *model.Scope, x *Node, hidden int, act string) *Node {
	y := Dense(scope.In("fc1"), x, hidden, true)
	return Dense(scope.In("fc2"), Activation(act, y), x.Shape().Dim(-1), true)
}

// GatedMLP is [MLP] with twice the hidden width, of which the first half, after the activation, multiplies the second:
// SwiGLU with the activation silu.
//
// Shapes: x [...,D] → [...,D].
func GatedMLP(scope *model.Scope, x *Node, hidden int, act string) *Node {
	y := Dense(scope.In("fc1"), x, 2*hidden, true)
	half := func(from int) *Node { return Slice(y, AxisRange().Spacer(), AxisRange(from*hidden, (from+1)*hidden)) }
	return Dense(scope.In("fc2"), Mul(Activation(act, half(0)), half(1)), x.Shape().Dim(-1), true)
}

// Unit scales vectors to length 1, as torch.nn.functional.normalize does: vectors shorter than 1e-12 are divided by
// 1e-12.
//
// Shapes: x [...,D] → [...,D].
func Unit(x *Node) *Node {
	return Div(x, MaxScalar(Sqrt(ReduceAndKeep(Square(x), ReduceSum, -1)), 1e-12))
}

// Im2Col returns the 3×3 neighborhood of every pixel as nine shifted copies of x, row by row, padded with zeros.
// Stacked or concatenated along the channels, they turn a 3×3 convolution into one matrix product.
//
// Shapes: x [B,H,W,C] → 9 × [B,H,W,C].
func Im2Col(x *Node) []*Node {
	h, w := x.Shape().Dim(1), x.Shape().Dim(2)
	for _, axis := range []int{1, 2} { // by concatenation: Pad has no gradient
		shape := x.Shape().Clone()
		shape.Dimensions[axis] = 1
		edge := Zeros(x.Graph(), shape)
		x = Concatenate([]*Node{edge, x, edge}, axis)
	}
	var shifted []*Node
	for dy := range 3 {
		for dx := range 3 {
			shifted = append(shifted, Slice(x, AxisRange(), AxisRange(dy, dy+h), AxisRange(dx, dx+w)))
		}
	}
	return shifted
}

// Convolve3 is a 3×3 convolution, padded with zeros, as one matrix product: the weights of a channel are those of
// PyTorch's kernel, flat.
//
// Shapes: x [B,H,W,in] → [B,H,W,out].
func Convolve3(scope *model.Scope, x *Node, out int, bias bool) *Node {
	dims := x.Shape().Dimensions
	return Dense(scope, Reshape(Stack(Im2Col(x), -1), dims[0], dims[1], dims[2], dims[3]*9), out, bias)
}

// Enlarge is a transposed convolution of stride k with a k×k kernel, whose squares are not yet arranged.
//
// Shapes: x [...,in] → [...,out,k,k].
func Enlarge(scope *model.Scope, x *Node, out, k int) *Node {
	g, dims := x.Graph(), x.Shape().Dimensions
	in := dims[len(dims)-1]
	w := Param(scope, g, "weights", x.DType(), in, out*k*k)
	bias := Param(scope, g, "bias", x.DType(), out)
	y := ConvertDType(Dot(Reshape(x, -1, in), w).Product(), x.DType())
	y = Add(Reshape(y, -1, out, k, k), Reshape(bias, 1, out, 1, 1))
	return Reshape(y, append(append([]int{}, dims[:len(dims)-1]...), out, k, k)...)
}

// Pick takes tokens at given places of each row.
//
// Shapes: x [B,S,D]; at [B,T] int32 → [B,T,D].
func Pick(x, at *Node) *Node {
	b, s, d, t := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), at.Shape().Dim(1)
	rows := Iota(x.Graph(), shapes.Make(dtypes.Int32, b, t), 0)
	return Gather(Reshape(x, b*s, d), InsertAxes(Add(MulScalar(rows, int32(s)), at), -1))
}
