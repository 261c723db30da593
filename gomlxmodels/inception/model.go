package inception

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Side is the height and width of images, in pixels.
const Side = 299

// narrow divides the widths of all layers. Tests make it larger than 1.
var narrow = 1

// layers are the operations that the network is made of. For the graph T is a node, for the table of weights the number
// of its channels.
type layers[T any] struct {
	// conv is a convolution with batch normalization and ReLU: out channels, height and width of the kernel, stride. It
	// is padded to the same size where stride is 1 and valid is false.
	conv func(x T, name string, out, height, width, stride int, valid bool) T
	// average and largest are 3×3 pools; with stride 1 they are padded to the same size.
	average func(x T) T
	largest func(x T, stride int) T
	join    func(list ...T) T // along the channels
}

// walk is the network up to the last map of channels. fid selects the variant of the scores.
func walk[T any](l layers[T], x T, fid bool) T {
	c := func(x T, name string, out, height, width int) T { return l.conv(x, name, out, height, width, 1, false) }
	x = l.conv(x, "Conv2d_1a_3x3", 32, 3, 3, 2, true)
	x = l.conv(x, "Conv2d_2a_3x3", 32, 3, 3, 1, true)
	x = l.largest(c(x, "Conv2d_2b_3x3", 64, 3, 3), 2)
	x = l.conv(c(x, "Conv2d_3b_1x1", 80, 1, 1), "Conv2d_4a_3x3", 192, 3, 3, 1, true)
	x = l.largest(x, 2)
	for i, pool := range []int{32, 64, 64} { // 35×35
		b := fmt.Sprintf("Mixed_5%c.branch", 'b'+i)
		double := c(c(x, b+"3x3dbl_1", 64, 1, 1), b+"3x3dbl_2", 96, 3, 3)
		x = l.join(c(x, b+"1x1", 64, 1, 1), c(c(x, b+"5x5_1", 48, 1, 1), b+"5x5_2", 64, 5, 5),
			c(double, b+"3x3dbl_3", 96, 3, 3), c(l.average(x), b+"_pool", pool, 1, 1))
	}
	b := "Mixed_6a.branch"
	double := c(c(x, b+"3x3dbl_1", 64, 1, 1), b+"3x3dbl_2", 96, 3, 3)
	x = l.join(l.conv(x, b+"3x3", 384, 3, 3, 2, true), l.conv(double, b+"3x3dbl_3", 96, 3, 3, 2, true), l.largest(x, 2))
	for i, w := range []int{128, 160, 160, 192} { // 17×17
		b := fmt.Sprintf("Mixed_6%c.branch", 'b'+i)
		seven := c(c(x, b+"7x7_1", w, 1, 1), b+"7x7_2", w, 1, 7)
		double := c(c(c(x, b+"7x7dbl_1", w, 1, 1), b+"7x7dbl_2", w, 7, 1), b+"7x7dbl_3", w, 1, 7)
		x = l.join(c(x, b+"1x1", 192, 1, 1), c(seven, b+"7x7_3", 192, 7, 1),
			c(c(double, b+"7x7dbl_4", w, 7, 1), b+"7x7dbl_5", 192, 1, 7), c(l.average(x), b+"_pool", 192, 1, 1))
	}
	b = "Mixed_7a.branch"
	seven := c(c(c(x, b+"7x7x3_1", 192, 1, 1), b+"7x7x3_2", 192, 1, 7), b+"7x7x3_3", 192, 7, 1)
	x = l.join(l.conv(c(x, b+"3x3_1", 192, 1, 1), b+"3x3_2", 320, 3, 3, 2, true),
		l.conv(seven, b+"7x7x3_4", 192, 3, 3, 2, true), l.largest(x, 2))
	for i := range 2 { // 8×8
		b := fmt.Sprintf("Mixed_7%c.branch", 'b'+i)
		three, double := c(x, b+"3x3_1", 384, 1, 1), c(c(x, b+"3x3dbl_1", 448, 1, 1), b+"3x3dbl_2", 384, 3, 3)
		pooled := x
		if fid && i == 1 {
			pooled = l.largest(x, 1)
		} else {
			pooled = l.average(x)
		}
		x = l.join(c(x, b+"1x1", 320, 1, 1), c(three, b+"3x3_2a", 384, 1, 3), c(three, b+"3x3_2b", 384, 3, 1),
			c(double, b+"3x3dbl_3a", 384, 1, 3), c(double, b+"3x3dbl_3b", 384, 3, 1), c(pooled, b+"_pool", 192, 1, 1))
	}
	return x
}

// Forward is the network. It panics on wrong shapes.
//
// Shapes: pixels [B,3,H,W] float, normalized as the checkpoint requires, at least 75×75 → pooled [B,D], logits [B,K],
// both float32. The logits of the scores' variant have no bias, as the Inception score requires.
func Forward(scope *model.Scope, cfg *Config, pixels *Node, dtype dtypes.DType) (pooled, logits *Node) {
	g := pixels.Graph()
	dtype = nn.DType(dtype)
	l := layers[*Node]{
		conv: func(x *Node, name string, out, height, width, stride int, valid bool) *Node {
			out /= narrow
			s := scope.At("%s", name)
			kernel := nn.Param(s, g, "weights", dtype, height, width, x.Shape().Dim(3), out)
			y := Convolve(x, kernel).Strides(stride)
			if y = y.NoPadding(); !valid {
				y = y.PadSame()
			}
			bias := nn.Param(s, g, "bias", dtype, out)
			return Max(Add(y.Done(), Reshape(bias, 1, 1, 1, out)), Scalar(g, dtype, 0))
		},
		average: func(x *Node) *Node {
			h, w := x.Shape().Dim(1), x.Shape().Dim(2)
			shares := make([][]float32, h)
			for i := range shares {
				shares[i] = make([]float32, w)
				for j := range shares[i] {
					shares[i][j] = 1 / float32(inside(i, h, cfg.FID)*inside(j, w, cfg.FID))
				}
			}
			sum := SumPool(x).Window(3).Strides(1).PadSame().Done()
			return Mul(sum, ConvertDType(Reshape(Const(g, shares), 1, h, w, 1), dtype))
		},
		largest: func(x *Node, stride int) *Node {
			p := MaxPool(x).Window(3).Strides(stride)
			if stride == 1 {
				return p.PadSame().Done()
			}
			return p.NoPadding().Done()
		},
		join: func(list ...*Node) *Node { return Concatenate(list, 3) },
	}
	x := walk(l, ConvertDType(TransposeAllAxes(pixels, 0, 2, 3, 1), dtype), cfg.FID)
	pooled = ReduceMean(nn.Float32(x), 1, 2)
	logits = nn.Float32(nn.Dense(scope.At("fc"), ConvertDType(pooled, dtype), cfg.Classes, !cfg.FID))
	return pooled, logits
}

// inside is how many of the 3 values of a window around place i of n count in an average: those that are not padding,
// or all.
func inside(i, n int, valid bool) int {
	count := 3
	if valid {
		if i == 0 {
			count--
		}
		if i == n-1 {
			count--
		}
	}
	return count
}
