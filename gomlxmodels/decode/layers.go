package decode

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Heads is a dense layer whose output is cut into heads.
//
// Shapes: x [R,Q,·] → [R,H,Q,width/H].
func Heads(scope *model.Scope, x *Node, width, heads int) *Node {
	y := Reshape(nn.Dense(scope, x, width, true), x.Shape().Dim(0), x.Shape().Dim(1), heads, width/heads)
	return TransposeAllAxes(y, 0, 2, 1, 3)
}

// Joined puts heads side by side again and mixes them.
//
// Shapes: y [R,H,Q,d] → [R,Q,H·d].
func Joined(scope *model.Scope, y *Node) *Node {
	width := y.Shape().Dim(1) * y.Shape().Dim(3)
	y = Reshape(TransposeAllAxes(y, 0, 2, 1, 3), y.Shape().Dim(0), y.Shape().Dim(2), width)
	return nn.Dense(scope, y, width, true)
}

// Look is attention to what lies beside the text, whose keys and values are made already. Scopes: "query" and "out".
//
// Shapes: x [R,Q,D]; key, value [B,H,S,d], B divides R: rows b·R/B to (b+1)·R/B−1 look at b → [R,Q,D].
func Look(scope *model.Scope, x, key, value *Node) *Node {
	r, q, d, b := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), key.Shape().Dim(0)
	rows := Reshape(x, b, r/b*q, d) // all rows that look at one thing look at one copy of it
	y := nn.Attention(Heads(scope.At("query"), rows, d, key.Shape().Dim(1)), key, value, nil, false)
	return Reshape(Joined(scope.At("out"), y), r, q, d)
}

// Pick takes one token of each row.
//
// Shapes: x [R,Q,D]; at [R,1] int32 → [R,1,D].
func Pick(x, at *Node) *Node {
	r, q, d := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	rows := Iota(x.Graph(), shapes.Make(dtypes.Int32, r, 1), 0)
	return InsertAxes(Gather(Reshape(x, r*q, d), Add(MulScalar(rows, int32(q)), at)), 1)
}
