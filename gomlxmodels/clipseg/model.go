package clipseg

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// Vision is what [ForwardVision] gives. All are float32.
type Vision struct {
	Blocks  []*Node // [B,S,D] each: the extracted blocks, in the order of extract_layers
	Reduced []*Node // [B,S,R] each: what the decoder's layers are given, the first layer's first
}

// Decoded is what [ForwardDecoder] gives. All are float32.
type Decoded struct {
	Layers []*Node // [B,S,R] each, after every layer
	Logits *Node   // [B,L,L]
}

// ForwardVision is the image tower up to the last block the decoder sees, and the projections to the decoder's width. Nothing
// here depends on the prompt. It panics on a mistake in shapes.
//
// Shapes: pixels [B,3,Side,Side] float, normalised as the checkpoint wants → [Vision].
func ForwardVision(scope *model.Scope, cfg *Config, pixels *Node, dtype dtypes.DType) Vision {
	v := vit.Forward(scope.At("vision"), cfg.tower(), pixels, vit.GraphOptions{Stages: true, DType: dtype})
	var out Vision
	for _, layer := range cfg.ExtractLayers {
		out.Blocks = append(out.Blocks, v.Blocks[layer])
	}
	for i := range out.Blocks {
		x := ConvertDType(out.Blocks[len(out.Blocks)-1-i], dtype)
		x = nn.Dense(scope.At("reduce_%d", i), x, cfg.ReduceDim, true)
		x.AssertDims(pixels.Shape().Dim(0), 1+cfg.Grid()*cfg.Grid(), cfg.ReduceDim)
		out.Reduced = append(out.Reduced, asFloat32(x))
	}
	return out
}

func asFloat32(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// ForwardDecoder is the decoder: layer by layer it adds an extracted block, and before the conditional layer it scales and
// shifts every token by what the prompt says (FiLM); patches then become pixels. It panics on a mistake in shapes.
//
// Shapes: reduced K × [B,S,R] float; prompt [B,P] float → [Decoded].
func ForwardDecoder(scope *model.Scope, cfg *Config, reduced []*Node, prompt *Node, dtype dtypes.DType) Decoded {
	if len(reduced) != len(cfg.ExtractLayers) {
		panic(fmt.Errorf("clipseg: %d extracted blocks, the decoder takes %d", len(reduced), len(cfg.ExtractLayers)))
	}
	b, grid := prompt.Shape().Dim(0), cfg.Grid()
	prompt.AssertDims(b, cfg.ProjectionDim)
	prompt = ConvertDType(prompt, dtype)
	var out Decoded
	var x *Node
	for i, r := range reduced {
		r.AssertDims(b, 1+grid*grid, cfg.ReduceDim)
		r = ConvertDType(r, dtype)
		if x == nil {
			x = r
		} else {
			x = Add(r, x)
		}
		if i == cfg.ConditionalLayer {
			film := func(name string) *Node {
				return InsertAxes(nn.Dense(scope.At("%s", name), prompt, cfg.ReduceDim, true), 1)
			}
			x = Add(Mul(film("film_mul"), x), film("film_add"))
		}
		x = decoderLayer(scope.At("layer_%d", i), cfg, x)
		out.Layers = append(out.Layers, asFloat32(x))
	}
	x = Slice(x, AxisRange(), AxisRange(1)) // without the class token
	out.Logits = asFloat32(deconvolve(scope, cfg, Reshape(x, b, grid, grid, cfg.ReduceDim)))
	out.Logits.AssertDims(b, cfg.LogitSide(), cfg.LogitSide())
	return out
}

// decoderLayer is a block whose norms come after attention and MLP; package vit's come before.
//
// Shapes: x [B,S,R] → [B,S,R].
func decoderLayer(scope *model.Scope, cfg *Config, x *Node) *Node {
	y := nn.SelfAttention(scope.At("attention"), x, nn.AttentionOptions{Heads: cfg.DecoderHeads, QKVBias: true})
	x = nn.LayerNorm(scope.At("norm1"), Add(x, y), cfg.Vision.LayerNormEps)
	y = nn.MLP(scope.At("mlp"), x, cfg.DecoderIntermediateSize, "relu")
	return nn.LayerNorm(scope.At("norm2"), Add(x, y), cfg.Vision.LayerNormEps)
}

// deconvolve turns patches into pixels. A transposed convolution whose stride is its kernel is one matrix product a pixel
// that gives a k×k square; squares are put in their places once, in the end.
//
// Shapes: x [B,G,G,R] → [B,L,L].
func deconvolve(scope *model.Scope, cfg *Config, x *Node) *Node {
	b, g, r, k := x.Shape().Dim(0), cfg.Grid(), cfg.ReduceDim, cfg.enlarge()
	if !cfg.ComplexDeconvolution {
		x = enlarge(scope.At("deconvolution"), x, 1, k[0]) // [B,G,G,1,k,k]
		x = Reshape(x, b, g, g, k[0], k[0])
		return Reshape(TransposeAllAxes(x, 0, 1, 3, 2, 4), b, g*k[0], g*k[0])
	}
	x = nn.Activation("relu", convolve3(scope.At("convolution"), x, r))
	x = nn.Activation("relu", enlarge(scope.At("deconvolution_0"), x, r/2, k[0])) // [B,G,G,R/2,k,k]
	x = enlarge(scope.At("deconvolution_1"), TransposeAllAxes(x, 0, 1, 2, 4, 5, 3), 1, k[1])
	x = Reshape(x, b, g, g, k[0], k[0], k[1], k[1])
	side := g * k[0] * k[1]
	return Reshape(TransposeAllAxes(x, 0, 1, 3, 5, 2, 4, 6), b, side, side)
}

// enlarge is a transposed convolution of stride k with a k×k kernel, its squares not yet side by side.
//
// Shapes: x [...,in] → [...,out,k,k].
func enlarge(scope *model.Scope, x *Node, out, k int) *Node {
	g, dims := x.Graph(), x.Shape().Dimensions
	in := dims[len(dims)-1]
	w := nn.Param(scope, g, "weights", x.DType(), in, out*k*k)
	bias := nn.Param(scope, g, "bias", x.DType(), out)
	y := ConvertDType(Dot(Reshape(x, -1, in), w).Product(), x.DType())
	y = Add(Reshape(y, -1, out, k, k), Reshape(bias, 1, out, 1, 1))
	return Reshape(y, append(append([]int{}, dims[:len(dims)-1]...), out, k, k)...)
}

// convolve3 is a 3×3 convolution, padded with zeros, as one matrix product of each pixel's surroundings.
//
// Shapes: x [B,G,G,in] → [B,G,G,out].
func convolve3(scope *model.Scope, x *Node, out int) *Node {
	b, g, in := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(3)
	padded := x // by concatenation, which can be trained through
	for _, axis := range []int{1, 2} {
		edge := ZerosLike(SliceAxis(padded, axis, AxisElem(0)))
		padded = Concatenate([]*Node{edge, padded, edge}, axis)
	}
	var around []*Node
	for dy := range 3 {
		for dx := range 3 {
			around = append(around, Slice(padded, AxisRange(), AxisRange(dy, dy+g), AxisRange(dx, dx+g)))
		}
	}
	return nn.Dense(scope, Reshape(Stack(around, -1), b, g, g, in*9), out, true)
}
