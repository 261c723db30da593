package textgen

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// SplitHeads is a dense layer whose output is split into heads.
//
// Shapes: x [R,Q,·] → [R,H,Q,width/H].
func SplitHeads(scope *model.Scope, x *Node, width, heads int) *Node {
	return Heads(nn.Dense(scope, x, width, true), heads)
}

// Heads splits the last axis into heads.
//
// Shapes: x [R,Q,D] → [R,H,Q,D/H].
func Heads(x *Node, heads int) *Node {
	r, q, width := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	return TransposeAllAxes(Reshape(x, r, q, heads, width/heads), 0, 2, 1, 3)
}

// JoinHeads concatenates the heads and applies a dense layer.
//
// Shapes: y [R,H,Q,d] → [R,Q,H·d].
func JoinHeads(scope *model.Scope, y *Node) *Node {
	return nn.Dense(scope, Joined(y), y.Shape().Dim(1)*y.Shape().Dim(3), true)
}

// Joined concatenates the heads.
//
// Shapes: y [R,H,Q,d] → [R,Q,H·d].
func Joined(y *Node) *Node {
	r, h, q, d := y.Shape().Dim(0), y.Shape().Dim(1), y.Shape().Dim(2), y.Shape().Dim(3)
	return Reshape(TransposeAllAxes(y, 0, 2, 1, 3), r, q, h*d)
}

// CrossAttention attends to encoder states using precomputed keys and values; keep says to which, nil = to all. Scopes:
// "query" and "out".
//
// Shapes: x [R,Q,D]; key, value [B,H,S,d]; keep [B,1,1,S] bool; B divides R: rows b·R/B to (b+1)·R/B−1 attend to b →
// [R,Q,D].
func CrossAttention(scope *model.Scope, x, key, value, keep *Node) *Node {
	r, q, d, b := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2), key.Shape().Dim(0)
	rows := Reshape(x, b, r/b*q, d) // all rows with one context share one copy of it
	y := nn.Attention(SplitHeads(scope.At("query"), rows, d, key.Shape().Dim(1)), key, value,
		nn.AttentionOptions{Keep: keep})
	return Reshape(JoinHeads(scope.At("out"), y), r, q, d)
}
