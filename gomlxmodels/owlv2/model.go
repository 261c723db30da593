package owlv2

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// Patches is the result of [ForwardImage]. Classes, Shifts, Scales and Boxes are float32, the others of the dtype of
// the computation.
type Patches struct {
	Embedded *Node   // [B,1+N,D] input of block 0
	Blocks   []*Node // [B,1+N,D] after each block of the image tower
	Features *Node   // [B,N,D] of the patches, each multiplied by the class token and normalized
	Classes  *Node   // [B,N,P] what texts are compared with, of length 1
	Shifts   *Node   // [B,N] added to a patch's cosines
	Scales   *Node   // [B,N] what the sums are multiplied by
	Boxes    *Node   // [B,N,4] center x, center y, width, height, of the padded square, from 0 to 1
}

// shortest is added to the length that a vector is divided by.
const shortest = 1e-6

// ForwardImage is the image tower and the heads. It panics on wrong shapes.
//
// Shapes: pixels [B,3,side,side] float, normalized as the checkpoint requires → [Patches].
func ForwardImage(scope *model.Scope, cfg *Config, pixels *Node, dtype dtypes.DType) (out Patches) {
	v := vit.Forward(scope.At("vision"), cfg.tower(), pixels, vit.GraphOptions{Tokens: true, DType: dtype})
	out.Embedded, out.Blocks = v.Embedded, v.Blocks
	tokens := ConvertDType(v.Tokens, nn.DType(dtype))
	x := Mul(Slice(tokens, AxisRange(), AxisRange(1)), Slice(tokens, AxisRange(), AxisRange(0, 1)))
	x = nn.LayerNorm(scope.At("norm"), x, cfg.Vision.LayerNormEps)
	out.Features = x

	class := scope.At("class")
	of := nn.Float32(nn.Dense(class.At("projection"), x, cfg.ProjectionDim, true))
	out.Classes = Div(of, AddScalar(length(of), shortest))
	out.Shifts = Squeeze(nn.Float32(nn.Dense(class.At("shift"), x, 1, true)), -1)
	scales := Squeeze(nn.Float32(nn.Dense(class.At("scale"), x, 1, true)), -1)
	// elu(scales) + 1
	zero := ZerosLike(scales)
	out.Scales = Where(GreaterThan(scales, zero), AddScalar(scales, 1), Exp(Min(scales, zero)))

	box := scope.At("box")
	for _, layer := range []string{"fc1", "fc2"} {
		x = nn.Activation("gelu", nn.Dense(box.At("%s", layer), x, cfg.Vision.HiddenSize, true))
	}
	x = nn.Float32(nn.Dense(box.At("out"), x, 4, true))
	rows, columns := cfg.tower().Grid()
	out.Boxes = Sigmoid(Add(x, InsertAxes(Const(x.Graph(), places(rows, columns)), 0)))
	out.Boxes.AssertDims(pixels.Shape().Dim(0), rows*columns, 4)
	return out
}

// Compare returns the logits of texts for each patch of an image.
//
// Shapes: Classes [1,N,P], Shifts and Scales [1,N] of [Patches]; texts [T,P] of [ForwardText] → [N,T] float32.
func Compare(p Patches, texts *Node) *Node {
	texts = Div(texts, AddScalar(length(texts), shortest))
	cosines := DotGeneral(Squeeze(p.Classes, 0), []int{1}, nil, texts, []int{1}, nil)
	column := func(x *Node) *Node { return InsertAxes(Squeeze(x, 0), -1) }
	return Mul(Add(cosines, column(p.Shifts)), column(p.Scales))
}

// length is the length of vectors.
//
// Shapes: x [...,D] → [...,1].
func length(x *Node) *Node { return Sqrt(ReduceAndKeep(Square(x), ReduceSum, -1)) }

// places are what the box head's results are relative to: the logits of the lower right corner of each patch and of a
// patch's size.
//
// Shapes: → [rows·columns][4].
func places(rows, columns int) [][]float32 {
	logit := func(i, n int) float32 {
		x := float32(i) / float32(n)
		return float32(math.Log(float64(x+1e-4))) - float32(math.Log1p(float64(-x+1e-4)))
	}
	list := make([][]float32, rows*columns)
	for i := range list {
		list[i] = []float32{logit(i%columns+1, columns), logit(i/columns+1, rows), logit(1, columns), logit(1, rows)}
	}
	return list
}

// ForwardText is the text tower, whose embedding is that of the token with the highest id, at length 1. It panics on
// wrong shapes.
//
// Shapes: ids [B,S] int, padded with 0 → [B,P] float32.
func ForwardText(scope *model.Scope, cfg *Config, ids *Node, dtype dtypes.DType) *Node {
	x := clip.ForwardText(scope, &cfg.Config, ids, clip.GraphOptions{DType: dtype}).Projected
	return Div(x, length(x))
}
