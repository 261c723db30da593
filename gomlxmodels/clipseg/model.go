package clipseg

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// Vision is the result of [ForwardVision].
type Vision struct {
	Blocks  []*Node // [B,S,D] each: the extracted blocks, in the order of extract_layers; of dtype
	Reduced []*Node // [B,S,R] each: the inputs of the decoder's layers, the first layer's first; float32
}

// Decoded is the result of [ForwardDecoder].
type Decoded struct {
	Layers []*Node // [B,S,R] each, after every layer; of dtype
	Logits *Node   // [B,L,L] float32
}

// ForwardVision is the image tower up to the last block that the decoder uses, and the projections to the decoder's
// width. It does not depend on the prompt. It panics on wrong shapes.
//
// Shapes: pixels [B,3,Side,Side] float, normalized as the checkpoint requires → [Vision].
func ForwardVision(scope *model.Scope, cfg *Config, pixels *Node, dtype dtypes.DType) Vision {
	v := vit.Forward(scope.At("vision"), cfg.tower(), pixels, vit.GraphOptions{Tokens: true, DType: dtype})
	var out Vision
	for _, layer := range cfg.ExtractLayers {
		out.Blocks = append(out.Blocks, v.Blocks[layer])
	}
	for i := range out.Blocks {
		x := nn.Dense(scope.At("reduce_%d", i), out.Blocks[len(out.Blocks)-1-i], cfg.ReduceDim, true)
		x.AssertDims(pixels.Shape().Dim(0), 1+cfg.Grid()*cfg.Grid(), cfg.ReduceDim)
		out.Reduced = append(out.Reduced, nn.Float32(x))
	}
	return out
}

// ForwardDecoder is the decoder: every layer adds an extracted block, and before the conditional layer every token is
// scaled and shifted by projections of the prompt's embedding (FiLM); a transposed convolution turns patches into
// pixels. It panics on wrong shapes.
//
// Shapes: reduced K × [B,S,R] float; prompt [B,P] float → [Decoded].
func ForwardDecoder(scope *model.Scope, cfg *Config, reduced []*Node, prompt *Node, dtype dtypes.DType) Decoded {
	if len(reduced) != len(cfg.ExtractLayers) {
		panic(fmt.Errorf("clipseg: %d extracted blocks, the decoder takes %d", len(reduced), len(cfg.ExtractLayers)))
	}
	b, grid := prompt.Shape().Dim(0), cfg.Grid()
	prompt.AssertDims(b, cfg.ProjectionDim)
	prompt = ConvertDType(prompt, dtype)
	layer := nn.Block{Hidden: cfg.DecoderIntermediateSize, Activation: "relu", Epsilon: cfg.Vision.LayerNormEps,
		PostNorm: true}
	layer.Heads = cfg.DecoderHeads
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
		x = layer.Forward(scope.At("layer_%d", i), x)
		out.Layers = append(out.Layers, x)
	}
	x = Slice(x, AxisRange(), AxisRange(1)) // without the class token
	out.Logits = nn.Float32(deconvolve(scope, cfg, Reshape(x, b, grid, grid, cfg.ReduceDim)))
	out.Logits.AssertDims(b, cfg.LogitSide(), cfg.LogitSide())
	return out
}

// deconvolve turns patches into pixels. A transposed convolution whose stride equals its kernel is a matrix product
// that returns a k×k square for each pixel; the squares are arranged once, at the end.
//
// Shapes: x [B,G,G,R] → [B,L,L].
func deconvolve(scope *model.Scope, cfg *Config, x *Node) *Node {
	b, g, r, k := x.Shape().Dim(0), cfg.Grid(), cfg.ReduceDim, cfg.enlarge()
	if !cfg.ComplexDeconvolution {
		x = nn.Enlarge(scope.At("deconvolution"), x, 1, k[0]) // [B,G,G,1,k,k]
		x = Reshape(x, b, g, g, k[0], k[0])
		return Reshape(TransposeAllAxes(x, 0, 1, 3, 2, 4), b, g*k[0], g*k[0])
	}
	x = nn.Activation("relu", nn.Convolve3(scope.At("convolution"), x, r, true))
	x = nn.Activation("relu", nn.Enlarge(scope.At("deconvolution_0"), x, r/2, k[0])) // [B,G,G,R/2,k,k]
	x = nn.Enlarge(scope.At("deconvolution_1"), TransposeAllAxes(x, 0, 1, 2, 4, 5, 3), 1, k[1])
	x = Reshape(x, b, g, g, k[0], k[0], k[1], k[1])
	side := g * k[0] * k[1]
	return Reshape(TransposeAllAxes(x, 0, 1, 3, 5, 2, 4, 6), b, side, side)
}
