package nn

import (
	"math"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// AttentionOptions are the options of [Attention]; the zero value is attention of all queries to all keys.
type AttentionOptions struct {
	Keep *Node // bool, broadcast to [B,H,Q,S], true = may be attended; nil = everything
	Bias *Node // float, broadcast to [B,H,Q,S], added to the scores; nil = none
	// ZeroProb multiplies the probabilities of excluded keys by 0 after the softmax, without normalizing the rest
	// again, instead of excluding those keys from the softmax.
	ZeroProb bool
	// AtOnce is how many scores are held at once where nothing else is set: queries are computed in parts. 0 = all.
	// On a GPU it is 2^28 at least.
	AtOnce int
	long   bool // a part of the queries, which attend many keys
}

// SelfAttentionOptions are the options of [SelfAttention].
type SelfAttentionOptions struct {
	AttentionOptions
	Heads     int
	NoQKVBias bool // no bias in the projections to queries, keys and values
	Queries   int  // only the first Queries rows are computed; 0 = all
}

// SelfAttention is multi-head self-attention with one fused projection to queries, keys and values. Scopes: "qkv"
// (weights [3D,D]: the rows of q, then k, then v) and "out".
//
// Shapes: x [B,S,D] → [B,Q,D].
func SelfAttention(scope *model.Scope, x *Node, o SelfAttentionOptions) *Node {
	x.AssertRank(3)
	b, s, d := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	q := s
	if o.Queries > 0 {
		q = o.Queries
	}
	query, key, value := projectQKV(scope.In("qkv"), x, o, q)
	y := Attention(query, key, value, o.AttentionOptions) // [B,H,Q,d]
	y = Reshape(TransposeAllAxes(y, 0, 2, 1, 3), b, q, d) // concatenates the heads
	y = Dense(scope.In("out"), y, d, true)
	y.AssertDims(b, q, d)
	return y
}

// projectQKV computes queries (of the first q rows), keys and values, each [B,H,rows,d].
func projectQKV(scope *model.Scope, x *Node, o SelfAttentionOptions, q int) (query, key, value *Node) {
	g, b, s, d := x.Graph(), x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	w := Param(scope, g, "weights", x.DType(), 3*d, d)
	var bias *Node
	if !o.NoQKVBias {
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

// Attention is softmax(q·kᵀ/√d + bias)·v for each head. The softmax is computed in float32; its division is applied
// to the product with v, which is smaller than the matrix of probabilities, but on a GPU, where XLA has one kernel for
// a softmax. A query that may attend nothing gives 0.
//
// Shapes: q [B,H,Q,d]; k, v [B,H,S,d] → [B,H,Q,d].
func Attention(q, k, v *Node, o AttentionOptions) *Node {
	q.AssertRank(4)
	v.AssertDims(k.Shape().Dimensions...)
	dtype, n := q.DType(), q.Shape().Dim(2)
	if y := flash(q, k, v, o); y != nil {
		return y
	}
	gpu := OnGPU(q.Graph().Backend())
	if gpu && o.AtOnce > 0 {
		o.AtOnce = max(o.AtOnce, 1<<28) // parts keep a processor's cache; OWLv2 in parts of 2^26: 43 ms, in one 36
	}
	scores := q.Shape().Dim(0) * q.Shape().Dim(1) * k.Shape().Dim(2) // of a query
	if rows := max(1, o.AtOnce/scores); o.AtOnce > 0 && rows < n && o.Keep == nil && o.Bias == nil {
		var parts []*Node
		for from := 0; from < n; from += rows {
			part := Slice(q, AxisRange(), AxisRange(), AxisRange(from, min(from+rows, n)))
			parts = append(parts, Attention(part, k, v, AttentionOptions{long: true}))
		}
		return Concatenate(parts, 2)
	}
	q = MulScalar(q, 1/math.Sqrt(float64(q.Shape().Dim(-1))))
	logits := Float32(DotGeneral(q, []int{3}, []int{0, 1}, k, []int{3}, []int{0, 1})) // [B,H,Q,S]
	if o.Bias != nil {
		logits = Add(logits, Float32(o.Bias))
	}
	keep := o.Keep
	if keep != nil {
		keep = BroadcastToShape(keep, logits.Shape())
		if !o.ZeroProb {
			logits = Where(keep, logits, ConstAs(logits, float32(-1e30)))
		}
	}
	e := Exp(Sub(logits, StopGradient(ReduceAndKeep(logits, ReduceMax, -1))))
	if o.long && dtype == dtypes.Float32 && !gpu {
		return withSum(e, v)
	}
	kept := e
	if keep != nil {
		kept = Where(keep, e, ZerosLike(e))
	}
	total := e
	if !o.ZeroProb {
		total = kept
	}
	sum := ReduceAndKeep(total, ReduceSum, -1) // ≥ 1 wherever anything may be attended
	if keep != nil && !o.ZeroProb {
		sum = MaxScalar(sum, float32(1e-30))
	}
	product := func(p *Node) *Node {
		return DotGeneral(ConvertDType(p, dtype), []int{3}, []int{0, 1}, v, []int{2}, []int{0, 1})
	}
	if gpu {
		return product(Div(kept, sum))
	}
	return ConvertDType(Div(Float32(product(kept)), sum), dtype)
}

// withSum is e·v divided by the sums of e, which are the product with one more column of v, of ones: for many keys that
// is faster than sums of their own (16 heads of 40, 4,096 keys, 256 queries at once: 313 against 400 ms).
func withSum(e, v *Node) *Node {
	d := v.Shape().Dim(3)
	ones := OnesLike(Slice(v, AxisRange(), AxisRange(), AxisRange(), AxisRange(0, 1)))
	y := DotGeneral(e, []int{3}, []int{0, 1}, Concatenate([]*Node{v, ones}, 3), []int{2}, []int{0, 1})
	columns := func(from, to int) *Node { return Slice(y, AxisRange(), AxisRange(), AxisRange(), AxisRange(from, to)) }
	return Div(columns(0, d), columns(d, d+1))
}

// flash is self-attention by the kernel of cuDNN, which holds no matrix of scores; nil where it does not serve: in
// float32, for few positions or wide heads, without a GPU that has it. On an H100 a ViT-B/16 takes 0.80 of the time
// with it.
func flash(q, k, v *Node, o AttentionOptions) *Node {
	dims, dtype := q.Shape().Dimensions, q.DType() // [B,H,S,d]
	if dtype != dtypes.BFloat16 && dtype != dtypes.Float16 || dims[2] != k.Shape().Dim(2) || dims[2] < 64 ||
		dims[3]%8 != 0 || dims[3] > 128 || o.Bias != nil || o.ZeroProb || !hasFlash(q.Graph().Backend()) {
		return nil
	}
	config := &compute.ScaledDotProductAttentionConfig{}
	var some *Node // a query that may attend nothing would attend everything
	if o.Keep != nil {
		keep := BroadcastToShape(o.Keep, shapes.Make(dtypes.Bool, dims[0], dims[1], dims[2], dims[2]))
		zero := Zeros(q.Graph(), shapes.Make(dtype, keep.Shape().Dimensions...))
		config.Bias = InternalBackendOutputs(Where(keep, zero, AddScalar(zero, -1e30)))[0]
		some = InsertAxes(LogicalAny(keep, -1), -1)
	}
	y, _ := BackendFusedScaledDotProductAttention(q, k, v, compute.AttentionAxesLayoutBHSD, config)
	if some != nil {
		y = Where(BroadcastToShape(some, y.Shape()), y, ZerosLike(y))
	}
	return y
}

// withFlash is what hasFlash found out about backends.
var withFlash sync.Map

// hasFlash runs cuDNN's kernel for attention once to find out whether a backend has it.
func hasFlash(backend compute.Backend) bool {
	if known, ok := withFlash.Load(backend); ok {
		return known.(bool)
	}
	err := compute.ErrNotImplemented
	if backend.Name() == "xla" { // the pure Go backend has another kernel for the operation
		_, err = CallOnce(backend, func(g *Graph) *Node {
			x := Ones(g, shapes.Make(dtypes.BFloat16, 1, 1, 64, 64))
			y, _ := BackendFusedScaledDotProductAttention(x, x, x, compute.AttentionAxesLayoutBHSD, nil)
			return y
		})
	}
	withFlash.Store(backend, err == nil)
	return err == nil
}
