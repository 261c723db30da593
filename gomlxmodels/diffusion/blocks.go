package diffusion

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// GraphOptions selects what a network computes; the zero value is its output alone.
type GraphOptions struct {
	Stages bool         // keep what each stage gives
	DType  dtypes.DType // what is computed in; zero = Float32
}

func (o GraphOptions) dtype() dtypes.DType {
	if o.DType == dtypes.InvalidDType {
		return dtypes.Float32
	}
	return o.DType
}

func silu(x *Node) *Node { return Mul(x, Sigmoid(x)) }

// around is the padding of a 3×3 convolution that halves an image, after that of one whose padding is 0: a row and a
// column of zeros at the end.
var (
	around = [][2]int{{1, 1}, {1, 1}}
	after  = [][2]int{{0, 1}, {0, 1}}
)

// conv is a 3×3 convolution with a bias that preserves the size. Its kernel is held as [3,3,in,out].
//
// Shapes: x [B,H,W,C] → [B,H,W,out].
func conv(scope *model.Scope, x *Node, out int) *Node { return biased(scope, x, out, nn.Convolve3x3) }

// halve is a convolution like conv, of stride 2.
//
// Shapes: x [B,H,W,C] → [B,H/2,W/2,out]: an odd side is rounded up with the padding around, down with after.
func halve(scope *model.Scope, x *Node, out int, padding [][2]int) *Node {
	return biased(scope, x, out, func(x, kernel *Node) *Node {
		return Convolve(x, kernel).Strides(2).PaddingPerDim(padding).Done()
	})
}

// biased is a 3×3 convolution and its bias.
func biased(scope *model.Scope, x *Node, out int, convolve func(x, kernel *Node) *Node) *Node {
	kernel := nn.Param(scope, x.Graph(), "weights", x.DType(), 3, 3, x.Shape().Dim(3), out)
	bias := nn.Param(scope, x.Graph(), "bias", x.DType(), out)
	return Add(convolve(x, kernel), Reshape(bias, 1, 1, 1, out))
}

// groupNorm is [nn.GroupNorm] of an image.
//
// Shapes: x [B,H,W,C] → [B,H,W,C].
func groupNorm(scope *model.Scope, x *Node, groups int, epsilon float64) *Node {
	b, h, w, c := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), x.Shape().Dim(3)
	return Reshape(nn.GroupNorm(scope, Reshape(x, b, h*w, c), groups, epsilon, nil), b, h, w, c)
}

// residual is diffusers' ResnetBlock2D: twice norm, SiLU and convolution, with the time embedding added between, and
// the input added in the end, through a 1×1 convolution where the number of channels changes.
//
// Shapes: x [B,H,W,C]; time [B,T] or nil → [B,H,W,out].
func residual(scope *model.Scope, x, time *Node, out, groups int, epsilon float64) *Node {
	y := conv(scope.At("conv1"), silu(groupNorm(scope.At("norm1"), x, groups, epsilon)), out)
	if time != nil {
		t := nn.Dense(scope.At("time_emb_proj"), silu(time), out, true)
		y = Add(y, Reshape(t, t.Shape().Dim(0), 1, 1, out))
	}
	y = conv(scope.At("conv2"), silu(groupNorm(scope.At("norm2"), y, groups, epsilon)), out)
	if x.Shape().Dim(3) != out {
		x = nn.Dense(scope.At("conv_shortcut"), x, out, true)
	}
	return Add(x, y)
}

// upsample doubles an image by repeating its pixels, cuts it to the size h×w, and convolves it.
//
// Shapes: x [B,H,W,C] → [B,h,w,C], h of 2H and 2H−1, w alike.
func upsample(scope *model.Scope, x *Node, h, w int) *Node {
	b, in, across, c := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), x.Shape().Dim(3)
	y := BroadcastToDims(Reshape(x, b, in, 1, across, 1, c), b, in, 2, across, 2, c)
	y = Reshape(y, b, 2*in, 2*across, c)
	if h != 2*in || w != 2*across {
		y = Slice(y, AxisRange(), AxisRange(0, h), AxisRange(0, w))
	}
	return conv(scope.At("conv"), y, c)
}

// scoresAtOnce bounds the number of attention scores that are held at once: an image of 512×512 has 4096 latents,
// whose scores would be a gigabyte for one layer. A test lowers it.
var scoresAtOnce = 1 << 24

// attention describes what differs between the networks' attention.
type attention struct {
	bias   bool // of the projections to queries, keys and values
	upcast bool
}

// attend is attention of the rows of x to those of context (nil: to x itself, with one fused projection) and the
// projection of what they find. Unlike nn.SelfAttention it takes another sequence, goes through long ones in pieces,
// and may compute in float32.
//
// Shapes: x [B,N,C]; context [B,S,D] → [B,N,C].
func attend(scope *model.Scope, x, context *Node, heads int, o attention) *Node {
	b, n, c, bias := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), o.bias
	split := func(y *Node, blocks int) []*Node { // [B,rows,blocks·C] → blocks of [B,H,rows,C/H]
		y = TransposeAllAxes(Reshape(y, b, y.Shape().Dim(1), blocks, heads, c/heads), 2, 0, 3, 1, 4)
		out := make([]*Node, blocks)
		for i := range out {
			out[i] = Squeeze(Slice(y, AxisElem(i)), 0)
		}
		return out
	}
	var q, k, v *Node
	if context == nil {
		all := split(nn.Dense(scope.At("qkv"), x, 3*c, bias), 3)
		q, k, v = all[0], all[1], all[2]
	} else {
		q = split(nn.Dense(scope.At("q"), x, c, bias), 1)[0]
		kv := split(nn.Dense(scope.At("kv"), context, 2*c, bias), 2)
		k, v = kv[0], kv[1]
	}
	if o.upcast {
		q, k, v = nn.Float32(q), nn.Float32(k), nn.Float32(v)
	}
	y := nn.Attention(q, k, v, nn.AttentionOptions{AtOnce: scoresAtOnce})
	y = ConvertDType(y, x.DType())
	return nn.Dense(scope.At("out"), Reshape(TransposeAllAxes(y, 0, 2, 1, 3), b, n, c), c, true)
}
