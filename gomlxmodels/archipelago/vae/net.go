package vae

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
)

// shape is the configuration of the autoencoder.
var shape = func() diffusion.VAEConfig {
	c := diffusion.DefaultVAEConfig()
	c.Widths, c.Layers, c.Groups = []int{8, 16, 32, 64}, 1, 2
	c.DownBlocks, c.UpBlocks = nil, nil
	for range c.Widths {
		c.DownBlocks, c.UpBlocks = append(c.DownBlocks, "DownEncoderBlock2D"), append(c.UpBlocks, "UpDecoderBlock2D")
	}
	return c
}()

// Weights of the terms of the loss; the mean absolute error of pixels has weight 1.
const (
	squareWeight = 2.0
	klWeight     = 5e-4 // of the KL divergence per latent component
)

var losses = []string{"pixels", "squares", "divergence"}

// squarePath is the path of the moving average of the latents' mean square.
const squarePath = "latents/square"

// measure updates the moving average of the latents' mean square.
func measure(scope *model.Scope, z *Node) {
	v := scope.Store().GetVariable("/" + squarePath)
	old := v.NodeValue(z.Graph())
	v.SetNodeValue(Add(MulScalar(old, 0.98), MulScalar(StopGradient(ReduceAllMean(Square(z))), 0.02)))
}

// lossGraph returns the weighted sum of the mean absolute error of pixels, which makes edges sharp, the mean squared
// error, which teaches positions first, and the KL divergence of the latents from a standard normal distribution. (A
// loss on differences between neighboring pixels does harm: a blurred edge costs more than no edge, and no edges are
// learned.)
//
// Shapes: in = pixels [B,H,W,3]; noise [B,h,w,C] → [] and [3].
func lossGraph(scope *model.Scope, in []*Node) (total, terms *Node) {
	pixels, noise := in[0], in[1]
	code := diffusion.ForwardEncoder(scope, &shape, pixels, diffusion.GraphOptions{})
	z := Add(code.Mean, Mul(Exp(MulScalar(code.LogVariance, 0.5)), noise))
	img := diffusion.ForwardDecoder(scope, &shape, z, diffusion.GraphOptions{}).Image
	off := Sub(img, pixels)
	direct, square := ReduceAllMean(Abs(off)), ReduceAllMean(Square(off))
	divergence := MulScalar(ReduceAllMean(Sub(Add(Square(code.Mean), Exp(code.LogVariance)),
		AddScalar(code.LogVariance, 1))), 0.5)
	measure(scope, z)
	total = Add(Add(direct, MulScalar(square, squareWeight)), MulScalar(divergence, klWeight))
	return total, Stack([]*Node{direct, square, divergence}, 0)
}
