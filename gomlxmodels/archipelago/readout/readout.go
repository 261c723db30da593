// Package readout adds linear probes to the training of an image tower. The probes classify everything that an image
// of the Archipelago shows, from the tower's tokens; they are trained with the network and not exported. Without them,
// a network that is trained on texts only learns small signs such as a crest late, because it must learn the words
// first.
package readout

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/nn"
)

// Answers are the labels of the probes for a batch of images.
type Answers struct {
	named []int32   // [B,properties] index of the value, -1 = no label
	worn  []float32 // [B,attributes] 1 = shown, 0 = not shown, -1 = no label
}

// Add appends the labels of an image.
func (a *Answers) Add(p archipelago.Image) {
	for _, q := range examples.Properties {
		a.named = append(a.named, q.Label(p))
	}
	for _, name := range archipelago.AttributeNames() {
		switch {
		case p.Figure == nil:
			a.worn = append(a.worn, -1)
		case slices.Contains(p.Figure.Attributes, name):
			a.worn = append(a.worn, 1)
		default:
			a.worn = append(a.worn, 0)
		}
	}
}

// Tensors returns the labels as the arguments named and worn of [Loss].
func (a *Answers) Tensors() []*tensors.Tensor {
	n := len(a.named) / len(examples.Properties)
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(a.named, n, len(examples.Properties)),
		tensors.FromFlatDataAndDimensions(a.worn, n, len(a.worn)/max(n, 1))}
}

// narrow is the number of features per patch token that the probes of patches read.
const narrow = 16

// Loss returns the mean cross-entropy of two sets of probes, in which the attributes together weigh as much as two
// properties. One set reads all patch tokens, by position, and finds small signs early; the other reads the class
// token.
//
// Shapes: tokens [B,S,D] of the tower, the class token first; named [B,properties] int32 and worn [B,attributes]
// float32, see [Answers] → [] of the patch tokens, [] of the class token.
func Loss(scope *model.Scope, tokens, named, worn *Node) (patches, class *Node) {
	scope = scope.At("readout")
	b, s, d := tokens.Shape().Dim(0), tokens.Shape().Dim(1), tokens.Shape().Dim(2)
	small := MaxScalar(nn.Dense(scope.At("narrow"), Slice(tokens, AxisRange(), AxisRange(1)), narrow, true), float32(0))
	flat := MulScalar(Reshape(small, b, (s-1)*narrow), 0.5)
	first := Reshape(Slice(tokens, AxisRange(), AxisRange(0, 1)), b, d)
	return probes(scope.At("patches"), flat, named, worn), probes(scope.At("class"), first, named, worn)
}

func probes(scope *model.Scope, x, named, worn *Node) *Node {
	g := x.Graph()
	total := Scalar(g, dtypes.Float32, 0)
	for i, q := range examples.Properties {
		total = Add(total, CrossEntropy(nn.Dense(scope.At("question_%d", i), x, len(q.Values), true), named, i))
	}
	attributes := worn.Shape().Dim(1)
	odds := nn.Dense(scope.At("attributes"), x, attributes, true)
	labeled := ConvertDType(GreaterOrEqual(worn, ZerosLike(worn)), dtypes.Float32)
	each := Mul(labeled, Softplus(Where(GreaterThan(worn, ZerosLike(worn)), Neg(odds), odds)))
	total = Add(total, MulScalar(Div(ReduceAllSum(each), AddScalar(ReduceAllSum(labeled), 1e-3)), 2))
	return DivScalar(total, float64(len(examples.Properties)+2))
}

// CrossEntropy returns the mean cross-entropy over the rows that have a label, 0 if none has.
//
// Shapes: logits [B,classes]; labels [B,columns] int32, of which a column is used, -1 = no label → [].
func CrossEntropy(logits, labels *Node, column int) *Node {
	// The one-hot vector of -1 is zero.
	truth := OneHot(Squeeze(Slice(labels, AxisRange(), AxisElem(column)), -1), logits.Shape().Dim(1), dtypes.Float32)
	sum := Neg(ReduceAllSum(Mul(truth, LogSoftmax(logits))))
	return Div(sum, AddScalar(ReduceAllSum(truth), 1e-3))
}
