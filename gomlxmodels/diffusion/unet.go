package diffusion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// UNetOutputs holds the outputs of the UNet, in float32; outputs that were not requested are nil.
type UNetOutputs struct {
	Out  *Node   // [B,H,W,C] of out_channels: noise, or velocity, as the scheduler's prediction_type specifies
	Time *Node   // [B,T] the time embedding
	In   *Node   // [B,H,W,C] after the first convolution
	Down []*Node // after each down block
	Mid  *Node   // after the middle block
	Up   []*Node // after each up block
}

// unet describes a UNet as blocks, from which [ForwardUNet] builds the graph and [unetTable] lists the weights.
type unet struct {
	down []block
	mid  block
	up   []block // from the coarsest
}

// block is layers, and then the module that halves the image (down) or doubles it (up).
type block struct {
	layers  []layer
	sampler string // its path; "" = none
}

// layer is a residual block, and then a transformer, nil = none.
type layer struct {
	resnet
	attention *transformer
}

// resnet is the path, with dots as in the checkpoint, and the widths of a residual block.
type resnet struct {
	path    string
	in, out int
}

// transformer is the path, width, depth and heads of the attention after a residual block.
type transformer struct {
	path                 string
	width, layers, heads int
}

func (u unet) all() []block { return slices.Concat(u.down, []block{u.mid}, u.up) }

func (c *UNetConfig) blocks() (u unet) {
	n, in := len(c.Widths), c.Widths[0]
	// A block of a level has one layer per skip, the width that is joined to its input; the first so many attend.
	add := func(path string, level, attend int, skips []int) (b block) {
		out := c.Widths[level]
		for k, skip := range skips {
			l := layer{resnet: resnet{fmt.Sprintf("%s.resnets.%d", path, k), in + skip, out}}
			if k < attend {
				l.attention = &transformer{fmt.Sprintf("%s.attentions.%d", path, k), out, c.TransformerLayers[level],
					c.Heads[level]}
			}
			b.layers, in = append(b.layers, l), out
		}
		return b
	}
	for i, layers := range c.Layers {
		path, attend := fmt.Sprintf("down_blocks.%d", i), 0
		if c.DownBlocks[i] == downCross {
			attend = layers
		}
		b := add(path, i, attend, make([]int, layers))
		if i < n-1 {
			b.sampler = path + ".downsamplers.0"
		}
		u.down = append(u.down, b)
	}
	u.mid = add("mid_block", n-1, 1, []int{0, 0})
	for i := range n {
		path, level, attend := fmt.Sprintf("up_blocks.%d", i), n-1-i, 0
		skips := slices.Repeat([]int{c.Widths[level]}, c.Layers[level]+1)
		skips[len(skips)-1] = c.Widths[max(level-1, 0)]
		if c.UpBlocks[i] == upCross {
			attend = len(skips)
		}
		b := add(path, level, attend, skips)
		if i < n-1 {
			b.sampler = path + ".upsamplers.0"
		}
		u.up = append(u.up, b)
	}
	return u
}

// ForwardUNet is UNet2DConditionModel. It panics on a mistake in shapes. H and W may be any: where a down block
// halved an odd size, the up block gives that size again.
//
// Shapes: sample [B,H,W,C] float of in_channels; t [B] float, timesteps of training, fractions allowed; context
// [B,S,D] float of cross_attention_dim → [UNetOutputs].
func ForwardUNet(scope *model.Scope, c *UNetConfig, sample, t, context *Node, o GraphOptions) UNetOutputs {
	b := sample.Shape().Dim(0)
	sample.AssertDims(b, -1, -1, c.InChannels)
	t.AssertDims(b)
	context.AssertDims(b, -1, c.ContextDim)
	var out UNetOutputs
	keep := func(list *[]*Node, x *Node) {
		if o.Stages {
			*list = append(*list, nn.Float32(x))
		}
	}
	context = ConvertDType(context, o.dtype())
	time := timeEmbedding(scope.At("time_embedding"), c, t, o)
	x := conv(scope.At("conv_in"), ConvertDType(sample, o.dtype()), c.Widths[0])
	if o.Stages {
		out.Time, out.In = nn.Float32(time), nn.Float32(x)
	}
	forward := func(l layer) {
		x = residual(at(scope, l.path), x, time, l.out, c.Groups, c.NormEps)
		if l.attention != nil {
			x = transform(at(scope, l.attention.path), c, x, context, *l.attention)
		}
	}
	net, skips := c.blocks(), []*Node{x}
	for _, b := range net.down {
		for _, l := range b.layers {
			forward(l)
			skips = append(skips, x)
		}
		if b.sampler != "" {
			x = halve(at(scope, b.sampler).At("conv"), x, x.Shape().Dim(3), around)
			skips = append(skips, x)
		}
		keep(&out.Down, x)
	}
	for _, l := range net.mid.layers {
		forward(l)
	}
	if o.Stages {
		out.Mid = nn.Float32(x)
	}
	for _, b := range net.up {
		for _, l := range b.layers {
			last := len(skips) - 1
			x = Concatenate([]*Node{x, skips[last]}, 3)
			skips = skips[:last]
			forward(l)
		}
		if b.sampler != "" {
			size := skips[len(skips)-1].Shape()
			x = upsample(at(scope, b.sampler), x, size.Dim(1), size.Dim(2))
		}
		keep(&out.Up, x)
	}
	x = silu(groupNorm(scope.At("conv_norm_out"), x, c.Groups, c.NormEps))
	out.Out = nn.Float32(conv(scope.At("conv_out"), x, c.OutChannels))
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

// timeEmbedding returns each timestep sines and cosines of it at falling frequencies (Vaswani et al. 2017, section
// 3.5), then an MLP.
//
// Shapes: t [B] → [B,T], T = 4·block_out_channels[0].
func timeEmbedding(scope *model.Scope, c *UNetConfig, t *Node, o GraphOptions) *Node {
	half := c.Widths[0] / 2
	frequencies := make([]float32, half)
	for i := range frequencies {
		exponent := float32(-math.Log(10000)) * float32(i) / float32(float64(half)-c.FreqShift)
		frequencies[i] = float32(math.Exp(float64(exponent)))
	}
	angles := Mul(InsertAxes(nn.Float32(t), 1), InsertAxes(Const(t.Graph(), frequencies), 0))
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

// transform is diffusers' Transformer2DModel: the image's places as a sequence, through layers of attention to
// itself, attention to the text, and a gated MLP (GEGLU, Shazeer 2020, arXiv 2002.05202).
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
		f = Mul(Slice(f, AxisRange(), AxisRange(), AxisRange(0, 4*t.width)),
			nn.Activation("gelu", Slice(f, AxisRange(), AxisRange(), AxisRange(4*t.width))))
		y = Add(y, nn.Dense(layer.At("ff").At("out"), f, t.width, true))
	}
	y = nn.Dense(scope.At("proj_out"), y, t.width, true)
	return Add(x, Reshape(y, b, h, w, t.width))
}
