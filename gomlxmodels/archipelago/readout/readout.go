// Package readout teaches a vision tower to see all that a picture of the Archipelago shows, before words ask for it: linear readers of
// the tower's tokens learn to name it beside the training of another network, and are left out of what ships. (Questions in words alone
// teach signs such as a crest late: the words have to be learned before they say where to look.)
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

// question is one that a picture answers with one name of a list, or does not answer.
type question struct {
	answers []string
	truth   func(p archipelago.Picture) string
}

var questions = []question{
	{examples.World.Objects(), func(p archipelago.Picture) string { return p.Object }},
	{examples.World.Scenes(), func(p archipelago.Picture) string { return p.Scene }},
	{examples.World.Islands(), func(p archipelago.Picture) string { return p.Island }},
	{examples.Forms(), func(p archipelago.Picture) string { return p.Variant + " " + p.Object }},
	{archipelago.PeopleNames(), of(func(f *archipelago.Figure) string { return f.People })},
	{archipelago.OccupationNames(), of(func(f *archipelago.Figure) string { return f.Occupation })},
	{archipelago.CeremonyNames(), of(func(f *archipelago.Figure) string { return f.Ceremony })},
	{archipelago.Groups(archipelago.AxisCrest), of(func(f *archipelago.Figure) string { return f.Crest })},
	{archipelago.Groups(archipelago.AxisBanner), of(func(f *archipelago.Figure) string { return f.Banner })},
}

func of(part func(*archipelago.Figure) string) func(archipelago.Picture) string {
	return func(p archipelago.Picture) string {
		if p.Figure == nil {
			return ""
		}
		return part(p.Figure)
	}
}

// Answers are what the readers are to say of a batch of pictures.
type Answers struct {
	named []int32   // [B,questions] number of the right answer, -1 = not asked
	worn  []float32 // [B,attributes] 1 = there, 0 = not, -1 = not asked
}

// Add appends a picture.
func (a *Answers) Add(p archipelago.Picture) {
	for _, q := range questions {
		a.named = append(a.named, int32(slices.Index(q.answers, q.truth(p))))
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

// Tensors are the answers as [Loss] takes them.
func (a *Answers) Tensors() []*tensors.Tensor {
	n := len(a.named) / len(questions)
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(a.named, n, len(questions)), tensors.FromFlatDataAndDimensions(a.worn, n, len(a.worn)/max(n, 1))}
}

// narrow is how many numbers of each patch token the readers see.
const narrow = 16

// Loss is the cross-entropy of the readers' answers, those of attributes together weighing as much as two questions, by how many
// questions there are. Readers of two kinds learn: of the class token, which holds what is everywhere in a picture, and of all patch tokens by
// their places, which finds small signs first.
//
// Shapes: tokens [B,S,D] the tower's, the class token first; named [B,questions] int32 and worn [B,attributes] float32, see [Answers] → [] the
// readers of patches, [] those of the class token.
func Loss(scope *model.Scope, tokens, named, worn *Node) (patches, class *Node) {
	scope = scope.At("readout")
	b, s, d := tokens.Shape().Dim(0), tokens.Shape().Dim(1), tokens.Shape().Dim(2)
	small := MaxScalar(nn.Dense(scope.At("narrow"), Slice(tokens, AxisRange(), AxisRange(1)), narrow, true), float32(0))
	flat := MulScalar(Reshape(small, b, (s-1)*narrow), 0.5)
	first := Reshape(Slice(tokens, AxisRange(), AxisRange(0, 1)), b, d)
	return read(scope.At("patches"), flat, named, worn), read(scope.At("class"), first, named, worn)
}

func read(scope *model.Scope, x, named, worn *Node) *Node {
	g := x.Graph()
	total := Scalar(g, dtypes.Float32, 0)
	for i, q := range questions {
		right := OneHot(Squeeze(Slice(named, AxisRange(), AxisElem(i)), -1), len(q.answers), dtypes.Float32) // zeros where it is not asked
		sum := Neg(ReduceAllSum(Mul(right, LogSoftmax(nn.Dense(scope.At("question_%d", i), x, len(q.answers), true)))))
		total = Add(total, Div(sum, AddScalar(ReduceAllSum(right), 1e-3)))
	}
	attributes := worn.Shape().Dim(1)
	odds := nn.Dense(scope.At("attributes"), x, attributes, true)
	asked := ConvertDType(GreaterOrEqual(worn, ZerosLike(worn)), dtypes.Float32)
	each := Mul(asked, Softplus(Where(GreaterThan(worn, ZerosLike(worn)), Neg(odds), odds)))
	total = Add(total, MulScalar(Div(ReduceAllSum(each), AddScalar(ReduceAllSum(asked), 1e-3)), 2))
	return DivScalar(total, float64(len(questions)+2))
}
