package nn

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// Block describes a transformer block: attention, then an MLP, each with a residual connection and a layer norm.
type Block struct {
	SelfAttentionOptions
	// Attend replaces self-attention, for example by one with a key/value cache. Queries must be 0.
	Attend func(scope *model.Scope, x *Node) *Node

	Hidden     int // hidden width of the MLP
	Activation string
	Epsilon    float64
	PostNorm   bool // normalize after each residual connection (BERT), not before attention and MLP (ViT)
	LayerScale bool // a learned factor for each channel of both residual branches
	Gated      bool // the MLP is [GatedMLP]
}

// Forward is the block as a graph. Scopes: "norm1", "attention", "norm2", "mlp", and with LayerScale "scale1",
// "scale2".
//
// Shapes: x [B,S,D] → [B,Q,D], Q = o.Queries or S.
func (o Block) Forward(scope *model.Scope, x *Node) *Node {
	norm := func(name string, x *Node, here bool) *Node {
		if !here {
			return x
		}
		return LayerNorm(scope.At("%s", name), x, o.Epsilon)
	}
	attend := o.Attend
	if attend == nil {
		attend = func(scope *model.Scope, x *Node) *Node { return SelfAttention(scope, x, o.SelfAttentionOptions) }
	}
	y := attend(scope.At("attention"), norm("norm1", x, !o.PostNorm))
	if o.Queries > 0 {
		x = Slice(x, AxisRange(), AxisRange(0, o.Queries))
	}
	x = norm("norm1", Add(x, o.scale(scope.At("scale1"), y)), o.PostNorm)
	mlp := MLP
	if o.Gated {
		mlp = GatedMLP
	}
	y = mlp(scope.At("mlp"), norm("norm2", x, !o.PostNorm), o.Hidden, o.Activation)
	return norm("norm2", Add(x, o.scale(scope.At("scale2"), y)), o.PostNorm)
}

// scale multiplies each channel by its learned factor.
//
// Shapes: x [B,S,D] → [B,S,D].
func (o Block) scale(scope *model.Scope, x *Node) *Node {
	if !o.LayerScale {
		return x
	}
	d := x.Shape().Dim(-1)
	gain := scope.WithInitializer(initializer.One).VariableWithShape("gain", shapes.Make(x.DType(), d))
	return Mul(x, Reshape(gain.NodeValue(x.Graph()), 1, 1, d))
}
