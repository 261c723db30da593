package groundingdino

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Selected is the result of the language-guided query selection.
type Selected struct {
	Scores     *Node // [B,V] of all positions, −1e30 where no position is
	Queries    *Node // [B,K] int32, the positions with the highest scores, in descending order
	References *Node // [B,K,4] their boxes (cx,cy,w,h), from 0 to 1
}

const excluded = -1e30 // a score below all others

// selectQueries selects the positions that are most alike to any token, each with a box around it. A box at the edge
// of the image, and one that is too large, is replaced by (1,1,1,1), and its score by that of an empty position: as
// the reference does.
//
// Shapes: vision [B,V,D]; text [B,T,D] → [Selected].
func selectQueries(scope *model.Scope, s scene, w words, vision, text *Node) (out Selected) {
	c, b := s.cfg, vision.Shape().Dim(0)
	boxes := Concatenate([]*Node{s.centers, s.overLevels(func(l, i int) *Node {
		x := InsertAxes(OnesLike(s.grid(i, 0)), -1)
		x = MulScalar(x, proposed(l))
		return Concatenate([]*Node{x, x}, -1)
	})}, 2)
	inside := LogicalAnd(s.proposes(), s.keep)
	as := func(x *Node) *Node { return BroadcastToShape(InsertAxes(inside, -1), x.Shape()) }

	x := Where(as(vision), vision, ZerosLike(vision))
	x = nn.LayerNorm(scope.At("norm"), nn.Dense(scope.At("projection"), x, c.Width, true), c.LayerNormEps)
	scores := DotGeneral(x, []int{2}, []int{0}, text, []int{2}, []int{0}) // [B,V,T]
	tokens := BroadcastToShape(Squeeze(w.keep, 1), scores.Shape())
	none := Const(vision.Graph(), float32(excluded))
	scores = ReduceMax(Where(tokens, scores, BroadcastToShape(none, scores.Shape())), 2)
	out.Scores = Where(s.keep, scores, BroadcastToShape(none, scores.Shape()))
	_, at := TopK(out.Scores, c.Queries, 1)
	out.Queries = ConvertDType(at, dtypes.Int32)

	boxes = Where(as(boxes), boxes, MulScalar(OnesLike(boxes), 0.5))
	logits := Add(perceptron(scope.At("box"), x, c.Width, c.Width, 4), Log(Div(boxes, OneMinus(boxes))))
	references := Where(as(boxes), Sigmoid(logits), OnesLike(boxes))
	out.References = nn.Pick(references, out.Queries)
	out.References.AssertDims(b, c.Queries, 4)
	return out
}

// proposed is the height and width of the boxes of a level.
func proposed(level int) float64 { return 0.05 * math.Pow(2, float64(level)) }

// proposes is which positions have a box whose center, width and height are all above 0.01 and below 0.99. Centers are
// exactly there where a side has 50 positions, and a division may be rounded to either side; whole numbers are compared
// instead.
//
// Shapes: → [B,V] bool.
func (f *frame) proposes() *Node {
	valid := f.overLevels(func(l, i int) *Node {
		inside := func(axis int) *Node {
			at := MulScalar(AddScalar(f.grid(i, axis), 0.5), 100)
			side := BroadcastToShape(f.side(i, axis), at.Shape())
			return LogicalAnd(GreaterThan(at, side), LessThan(at, MulScalar(side, 99)))
		}
		both := LogicalAnd(inside(0), inside(1))
		if proposed(l) >= 0.99 {
			both = LogicalAnd(both, LogicalNot(both))
		}
		return InsertAxes(both, -1)
	})
	return Squeeze(valid, 2)
}

// perceptron is dense layers of these widths with ReLU between them.
//
// Shapes: x [...,in] → [...,last of widths].
func perceptron(scope *model.Scope, x *Node, widths ...int) *Node {
	for i, width := range widths {
		if i > 0 {
			x = nn.Activation("relu", x)
		}
		x = nn.Dense(scope.At("layer_%d", i), x, width, true)
	}
	return x
}
