package nn

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// AttentionOptions says how attention is done; the zero value is plain attention of all rows to all rows.
type AttentionOptions struct {
	Heads   int
	QKVBias bool
	Queries int   // only the first Queries rows are computed; 0 = all
	Keep    *Node // [B or 1, 1 or H, Q or 1, S] bool, true = may be attended; nil = everything
	// ZeroProb multiplies the probabilities of excluded keys by 0 after the softmax, without making the rest add up to
	// 1 again, instead of excluding those keys from the softmax.
	ZeroProb bool
}

// SelfAttention is multi-head self-attention with one fused projection to queries, keys and values. Scopes: "qkv"
// (weights [3D,D]: the rows of q, then k, then v) and "out".
//
// Shapes: x [B,S,D]; o.Keep as there → [B,Q,D].
func SelfAttention(scope *model.Scope, x *Node, o AttentionOptions) *Node {
	x.AssertRank(3)
	b, s, d := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	q := s
	if o.Queries > 0 {
		q = o.Queries
	}
	query, key, value := projectQKV(scope.In("qkv"), x, o, q)
	y := Attention(query, key, value, o.Keep, o.ZeroProb) // [B,H,Q,d]
	y = Reshape(TransposeAllAxes(y, 0, 2, 1, 3), b, q, d) // heads side by side again
	y = Dense(scope.In("out"), y, d, true)
	y.AssertDims(b, q, d)
	return y
}

// projectQKV computes queries (of the first q rows), keys and values, each [B,H,rows,d].
func projectQKV(scope *model.Scope, x *Node, o AttentionOptions, q int) (query, key, value *Node) {
	g, b, s, d := x.Graph(), x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	w := Param(scope, g, "weights", x.DType(), 3*d, d)
	var bias *Node
	if o.QKVBias {
		bias = variable(scope, g, "bias", initializer.Zero, x.DType(), 3*d)
	}
	project := func(x *Node, from, to int) []*Node { // blocks from:to of q, k, v for the rows of x
		rows := x.Shape().Dim(1)
		w, bias := w, bias
		if to-from < 3 {
			w = Slice(w, AxisRange(from*d, to*d))
			if bias != nil {
				bias = Slice(bias, AxisRange(from*d, to*d))
			}
		}
		y := Reshape(linear(x, w, bias), b, rows, to-from, o.Heads, d/o.Heads)
		y = TransposeAllAxes(y, 2, 0, 3, 1, 4) // [blocks,B,H,rows,d]
		out := make([]*Node, to-from)
		for i := range out {
			out[i] = Squeeze(Slice(y, AxisElem(i)), 0)
		}
		return out
	}
	if q == s {
		all := project(x, 0, 3)
		return all[0], all[1], all[2]
	}
	kv := project(x, 1, 3)
	return project(Slice(x, AxisRange(), AxisRange(0, q)), 0, 1)[0], kv[0], kv[1]
}

// Attention is softmax(q·kᵀ/√d)·v for each head as two batched matrix products. The softmax is taken in float32 and its
// division is left to the small product. A query row with nothing to attend gives 0.
//
// Shapes: q [B,H,Q,d]; k, v [B,H,S,d]; keep bool, broadcast to [B,H,Q,S], or nil → [B,H,Q,d].
func Attention(q, k, v, keep *Node, zeroProb bool) *Node {
	q.AssertRank(4)
	v.AssertDims(k.Shape().Dimensions...)
	dtype := q.DType()
	q = MulScalar(q, 1/math.Sqrt(float64(q.Shape().Dim(-1))))
	scores := ConvertDType(DotGeneral(q, []int{3}, []int{0, 1}, k, []int{3}, []int{0, 1}), dtypes.Float32) // [B,H,Q,S]
	if keep != nil {
		keep = BroadcastToShape(keep, scores.Shape())
		if !zeroProb {
			scores = Where(keep, scores, ConstAs(scores, float32(-1e30)))
		}
	}
	e := Exp(Sub(scores, StopGradient(ReduceAndKeep(scores, ReduceMax, -1))))
	kept := e
	if keep != nil {
		kept = Where(keep, e, ZerosLike(e))
	}
	total := e
	if !zeroProb {
		total = kept
	}
	sum := ReduceAndKeep(total, ReduceSum, -1) // ≥ 1 wherever anything may be attended
	if keep != nil && !zeroProb {
		sum = MaxScalar(sum, float32(1e-30))
	}
	y := DotGeneral(ConvertDType(kept, dtype), []int{3}, []int{0, 1}, v, []int{2}, []int{0, 1})
	return ConvertDType(Div(ConvertDType(y, dtypes.Float32), sum), dtype)
}
