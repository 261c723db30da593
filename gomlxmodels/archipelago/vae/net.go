package vae

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
)

// shape is the shipped autoencoder's.
var shape = func() diffusion.VAEConfig {
	c := diffusion.DefaultVAEConfig()
	c.Widths, c.Layers, c.Groups = []int{8, 16, 32, 64}, 1, 2
	c.DownBlocks, c.UpBlocks = nil, nil
	for range c.Widths {
		c.DownBlocks, c.UpBlocks = append(c.DownBlocks, "DownEncoderBlock2D"), append(c.UpBlocks, "UpDecoderBlock2D")
	}
	return c
}()

// Weights of the loss's parts beside the mean absolute error of pixels, which has weight 1.
const (
	squareWeight = 2.0
	klWeight     = 5e-4 // of the divergence per latent number
)

var losses = []string{"pixels", "squares", "divergence"}

// squarePath is the variable with the mean square of the latents, a moving average over steps.
const squarePath = "latents/square"

// measure follows the mean square of the latents.
func measure(scope *model.Scope, z *Node) {
	v := scope.Store().GetVariable("/" + squarePath)
	old := v.NodeValue(z.Graph())
	v.SetNodeValue(Add(MulScalar(old, 0.98), MulScalar(StopGradient(ReduceAllMean(Square(z))), 0.02)))
}

// lossGraph is the mean absolute error of pixels, which makes edges sharp, the mean square of it, by which places are found first, and the divergence of the
// latents' distribution from the standard normal one. (Errors of differences between neighbours do harm: a blurred edge costs more than none, and none is learned.)
//
// Shapes: pixels [B,H,W,3]; noise [B,h,w,C] → [] and [3].
func lossGraph(scope *model.Scope, pixels, noise *Node) (total, each *Node) {
	code := diffusion.ForwardEncoder(scope, &shape, pixels, diffusion.GraphOptions{})
	z := Add(code.Mean, Mul(Exp(MulScalar(code.LogVariance, 0.5)), noise))
	picture := diffusion.ForwardDecoder(scope, &shape, z, diffusion.GraphOptions{}).Picture
	off := Sub(picture, pixels)
	direct, square := ReduceAllMean(Abs(off)), ReduceAllMean(Square(off))
	divergence := MulScalar(ReduceAllMean(Sub(Add(Square(code.Mean), Exp(code.LogVariance)), AddScalar(code.LogVariance, 1))), 0.5)
	measure(scope, z)
	total = Add(Add(direct, MulScalar(square, squareWeight)), MulScalar(divergence, klWeight))
	return total, Stack([]*Node{direct, square, divergence}, 0)
}
