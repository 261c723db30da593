package vqgan

import (
	"image"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/nn"
)

// Forward turns image tokens into images. It panics on a mistake in shapes; tokens out of range give meaningless
// numbers.
//
// Shapes: tokens [B,N] int32 → [B,H,W,3] in float32, not clipped.
func Forward(scope *model.Scope, c *Config, tokens *Node, o diffusion.GraphOptions) *Node {
	side := c.Side()
	tokens.AssertDims(-1, side*side)
	z := nn.Embedding(scope, "codebook", tokens, nn.DType(o.DType), c.Tokens, c.EmbedDim)
	z = Reshape(z, tokens.Shape().Dim(0), side, side, c.EmbedDim)
	z = nn.Dense(scope.At("post_quant_conv"), z, c.LatentChannels, true)
	return diffusion.ForwardDecoder(scope, c.decoder(), z, o).Image
}

// Range is the range of the values of [Forward] that becomes black to white.
type Range struct{ Low, High float32 }

// The ranges of the two models that use the decoder.
var (
	ZeroToOne     = Range{0, 1}  // DALL·E mini
	MinusOneToOne = Range{-1, 1} // minDALL-E
)

// Image is an image of [Forward] as 8-bit RGB: values are clipped to the range and rounded down, as the originals do.
//
// Shapes: values [side,side,3], flat.
func (r Range) Image(values []float32, side int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		for k := range 3 {
			v := (values[3*i+k] - r.Low) / (r.High - r.Low)
			img.Pix[4*i+k] = uint8(min(max(v, 0), 1) * 255)
		}
		img.Pix[4*i+3] = 255
	}
	return img
}
