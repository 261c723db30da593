package diffusion

import (
	"math"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// UNetOutputs is what the UNet gives, in float32; what was not asked for is nil.
type UNetOutputs struct {
	Out  *Node   // [B,H,W,C] of out_channels: noise, or velocity, as the scheduler's prediction_type says
	Time *Node   // [B,T] the time embedding
	In   *Node   // [B,H,W,C] after the first convolution
	Down []*Node // after each down block
	Mid  *Node   // after the middle block
	Up   []*Node // after each up block
}

// ForwardUNet is UNet2DConditionModel. It panics on a mistake in shapes. H and W may be any: where a down block halved an odd
// size, the up block gives that size again.
//
// Shapes: sample [B,H,W,C] float of in_channels; t [B] float, timesteps of training, fractions allowed; context [B,S,D] float of
// cross_attention_dim → [UNetOutputs].
func ForwardUNet(scope *model.Scope, c *UNetConfig, sample, t, context *Node, o GraphOptions) UNetOutputs {
	b := sample.Shape().Dim(0)
	sample.AssertDims(b, -1, -1, c.InChannels)
	t.AssertDims(b)
	context.AssertDims(b, -1, c.ContextDim)
	var out UNetOutputs
	keep := func(list *[]*Node, x *Node) {
		if o.Stages {
			*list = append(*list, asFloat32(x))
		}
	}
	context = ConvertDType(context, o.dtype())
	time := timeEmbedding(scope.At("time_embedding"), c, t, o)
	x := conv(scope.At("conv_in"), ConvertDType(sample, o.dtype()), c.Widths[0], 1, around)
	if o.Stages {
		out.Time, out.In = asFloat32(time), asFloat32(x)
	}
	resnets, transformers := c.resnets(), c.transformers()
	block := func() { // one residual block, then the transformer that has its place in the transformers' list
		r := resnets[0]
		resnets = resnets[1:]
		x = residual(at(scope, r.path), x, time, r.out, c.Groups, c.NormEps)
		if len(transformers) > 0 && transformers[0].path == strings.Replace(r.path, "resnets", "attentions", 1) {
			x = transform(at(scope, transformers[0].path), c, x, context, transformers[0])
			transformers = transformers[1:]
		}
	}
	skips := []*Node{x}
	for i, layers := range c.Layers {
		for range layers {
			block()
			skips = append(skips, x)
		}
		if i < len(c.Layers)-1 {
			x = conv(scope.At("down_blocks").At("%d", i).At("downsamplers").At("0").At("conv"), x, c.Widths[i], 2, around)
			skips = append(skips, x)
		}
		keep(&out.Down, x)
	}
	block()
	block()
	if o.Stages {
		out.Mid = asFloat32(x)
	}
	for i := range c.Layers {
		for range c.Layers[len(c.Layers)-1-i] + 1 {
			last := len(skips) - 1
			x = Concatenate([]*Node{x, skips[last]}, 3)
			skips = skips[:last]
			block()
		}
		if i < len(c.Layers)-1 {
			size := skips[len(skips)-1].Shape()
			x = upsample(scope.At("up_blocks").At("%d", i).At("upsamplers").At("0"), x, size.Dim(1), size.Dim(2))
		}
		keep(&out.Up, x)
	}
	x = silu(groupNorm(scope.At("conv_norm_out"), x, c.Groups, c.NormEps))
	out.Out = asFloat32(conv(scope.At("conv_out"), x, c.OutChannels, 1, around))
	out.Out.AssertDims(b, sample.Shape().Dim(1), sample.Shape().Dim(2), c.OutChannels)
	return out
}

// at is the scope of a module by its name in the checkpoint.
func at(scope *model.Scope, path string) *model.Scope {
	for name := range strings.SplitSeq(path, ".") {
		scope = scope.At("%s", name)
	}
	return scope
}

// timeEmbedding gives each timestep sines and cosines of it at falling frequencies (Vaswani et al. 2017, section 3.5), then an MLP.
//
// Shapes: t [B] → [B,T], T = 4·block_out_channels[0].
func timeEmbedding(scope *model.Scope, c *UNetConfig, t *Node, o GraphOptions) *Node {
	half := c.Widths[0] / 2
	frequencies := make([]float32, half)
	for i := range frequencies {
		exponent := float32(-math.Log(10000)) * float32(i) / float32(float64(half)-c.FreqShift)
		frequencies[i] = float32(math.Exp(float64(exponent)))
	}
	angles := Mul(InsertAxes(asFloat32(t), 1), InsertAxes(Const(t.Graph(), frequencies), 0))
	parts := []*Node{Sin(angles), Cos(angles)}
	if c.FlipSinToCos {
		parts[0], parts[1] = parts[1], parts[0]
	}
	x := ConvertDType(Concatenate(parts, 1), o.dtype())
	x = nn.Dense(scope.At("linear_1"), x, 4*c.Widths[0], true)
	return nn.Dense(scope.At("linear_2"), silu(x), 4*c.Widths[0], true)
}

// The epsilons of the transformer, which no configuration names.
const (
	transformerNormEps = 1e-6 // of its GroupNorm
	layerNormEps       = 1e-5
)

// transform is diffusers' Transformer2DModel: the picture's places as a sequence, through layers of attention to itself, attention
// to the text, and a gated MLP (GEGLU, Shazeer 2020, arXiv 2002.05202).
//
// Shapes: x [B,H,W,C]; context [B,S,D] → [B,H,W,C].
func transform(scope *model.Scope, c *UNetConfig, x, context *Node, t transformer) *Node {
	b, h, w := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	y := groupNorm(scope.At("norm"), x, c.Groups, transformerNormEps)
	y = nn.Dense(scope.At("proj_in"), Reshape(y, b, h*w, t.width), t.width, true)
	how := attention{upcast: c.UpcastAttention}
	for i := range t.layers {
		layer := scope.At("transformer_blocks").At("%d", i)
		norm := func(name string) *Node { return nn.LayerNorm(layer.At("%s", name), y, layerNormEps) }
		y = Add(y, attend(layer.At("attn1"), norm("norm1"), nil, t.heads, how))
		y = Add(y, attend(layer.At("attn2"), norm("norm2"), context, t.heads, how))
		f := nn.Dense(layer.At("ff").At("in"), norm("norm3"), 8*t.width, true)
		f = Mul(Slice(f, AxisRange(), AxisRange(), AxisRange(0, 4*t.width)), nn.Activation("gelu", Slice(f, AxisRange(), AxisRange(), AxisRange(4*t.width))))
		y = Add(y, nn.Dense(layer.At("ff").At("out"), f, t.width, true))
	}
	y = nn.Dense(scope.At("proj_out"), y, t.width, true)
	return Add(x, Reshape(y, b, h, w, t.width))
}
