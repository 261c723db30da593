package diffusion

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// vaeEps is the epsilon of the autoencoder's norms, which its configuration does not name.
const vaeEps = 1e-6

// DecoderOutputs holds the outputs of the autoencoder's decoder, in float32; outputs that were not requested are nil.
type DecoderOutputs struct {
	Image   *Node // [B,H,W,3], −1 black to 1 white, not clipped
	In, Mid *Node
	Up      []*Node
}

// ForwardDecoder turns latents into images. The latents are the autoencoder's own: the UNet's divided by
// scaling_factor. It panics on a mistake in shapes.
//
// Shapes: z [B,h,w,C] float of latent_channels → [DecoderOutputs] with H = h·[VAEConfig.Factor], W alike.
func ForwardDecoder(scope *model.Scope, c *VAEConfig, z *Node, o GraphOptions) DecoderOutputs {
	z.AssertDims(-1, -1, -1, c.LatentChannels)
	n := len(c.Widths)
	var out DecoderOutputs
	x := ConvertDType(z, o.dtype())
	if c.UsePostQuantConv {
		x = nn.Dense(scope.At("post_quant_conv"), x, c.LatentChannels, true)
	}
	scope = scope.At("decoder")
	x = conv(scope.At("conv_in"), x, c.Widths[n-1])
	in := x
	x = c.middle(scope.At("mid_block"), x)
	if o.Stages {
		out.In, out.Mid = nn.Float32(in), nn.Float32(x)
	}
	for i := range n {
		block := scope.At("up_blocks").At("%d", i)
		for k := range c.Layers + 1 {
			x = residual(block.At("resnets").At("%d", k), x, nil, c.Widths[n-1-i], c.Groups, vaeEps)
			if c.UpBlocks[i] == UpAttentionBlock {
				x = c.attend(block.At("attentions").At("%d", k), x)
			}
		}
		if i < n-1 {
			x = upsample(block.At("upsamplers").At("0"), x, 2*x.Shape().Dim(1), 2*x.Shape().Dim(2))
		}
		if o.Stages {
			out.Up = append(out.Up, nn.Float32(x))
		}
	}
	x = silu(groupNorm(scope.At("conv_norm_out"), x, c.Groups, vaeEps))
	out.Image = nn.Float32(conv(scope.At("conv_out"), x, c.OutChannels))
	out.Image.AssertDims(z.Shape().Dim(0), z.Shape().Dim(1)*c.Factor(), z.Shape().Dim(2)*c.Factor(), c.OutChannels)
	return out
}

// EncoderOutputs holds the outputs of the autoencoder's encoder, in float32; outputs that were not requested are nil.
type EncoderOutputs struct {
	Mean, LogVariance *Node // [B,h,w,C] of the latents' normal distribution; the logarithm is in [−30, 20]
	In, Mid           *Node
	Down              []*Node
}

// ForwardEncoder turns images into the distribution of their latents. It panics on a mistake in shapes.
//
// Shapes: image [B,H,W,3] float, −1 black to 1 white → [EncoderOutputs] with h = H / [VAEConfig.Factor], w alike.
func ForwardEncoder(scope *model.Scope, c *VAEConfig, image *Node, o GraphOptions) EncoderOutputs {
	image.AssertDims(-1, -1, -1, c.InChannels)
	var out EncoderOutputs
	top, scope := scope, scope.At("encoder")
	x := conv(scope.At("conv_in"), ConvertDType(image, o.dtype()), c.Widths[0])
	if o.Stages {
		out.In = nn.Float32(x)
	}
	for i, width := range c.Widths {
		block := scope.At("down_blocks").At("%d", i)
		for k := range c.Layers {
			x = residual(block.At("resnets").At("%d", k), x, nil, width, c.Groups, vaeEps)
		}
		if i < len(c.Widths)-1 {
			x = halve(block.At("downsamplers").At("0").At("conv"), x, width, after)
		}
		if o.Stages {
			out.Down = append(out.Down, nn.Float32(x))
		}
	}
	x = c.middle(scope.At("mid_block"), x)
	if o.Stages {
		out.Mid = nn.Float32(x)
	}
	x = silu(groupNorm(scope.At("conv_norm_out"), x, c.Groups, vaeEps))
	x = conv(scope.At("conv_out"), x, 2*c.LatentChannels)
	if c.UseQuantConv {
		x = nn.Dense(top.At("quant_conv"), x, 2*c.LatentChannels, true)
	}
	x = nn.Float32(x)
	half := func(from int) *Node {
		return Slice(x, AxisRange(), AxisRange(), AxisRange(), AxisRange(from, from+c.LatentChannels))
	}
	out.Mean, out.LogVariance = half(0), ClipScalar(half(c.LatentChannels), -30, 20)
	return out
}

// middle is two residual blocks with attention between them.
//
// Shapes: x [B,H,W,C] → [B,H,W,C].
func (c *VAEConfig) middle(scope *model.Scope, x *Node) *Node {
	width := x.Shape().Dim(3)
	x = residual(scope.At("resnets").At("0"), x, nil, width, c.Groups, vaeEps)
	if c.MidAttention {
		x = c.attend(scope.At("attentions").At("0"), x)
	}
	return residual(scope.At("resnets").At("1"), x, nil, width, c.Groups, vaeEps)
}

// attend adds to x the attention of all places to all, in one head, after a norm.
//
// Shapes: x [B,H,W,C] → [B,H,W,C].
func (c *VAEConfig) attend(scope *model.Scope, x *Node) *Node {
	b, h, w, width := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), x.Shape().Dim(3)
	y := Reshape(groupNorm(scope.At("group_norm"), x, c.Groups, vaeEps), b, h*w, width)
	return Add(x, Reshape(attend(scope, y, nil, 1, attention{bias: true}), b, h, w, width))
}
