package textenc

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// GraphOptions says what a graph computes; the zero value is the vectors alone, one text a row.
type GraphOptions struct {
	Texts  int          // texts a row may hold; 0 = 1
	Stages bool         // keep what each stage gives: Outputs.Embedded, Outputs.Blocks
	DType  dtypes.DType // what is computed in; zero = Float32
}

// Inputs are rows of texts, each [R,L] int32.
type Inputs struct {
	IDs       *Node // tokens
	Positions *Node // rows of the position embeddings
	Segments  *Node // the text, from 1, a token belongs to; 0 = padding. A text's tokens stand together, in order
}

// Outputs is what a model gives; what was not asked for is nil. All are float32.
type Outputs struct {
	Embedded *Node   // [R,L,D] input of block 1
	Blocks   []*Node // [R,L,D] each, after every block; the last are the tokens that are pooled
	Modules  []*Node // [R,T,·] each: what every module gives; the last are the texts' vectors. A text that is not there has no meaning
}

// Forward is the whole model: transformer and modules. Tokens attend to those of their own text. It panics on a mistake in
// shapes; ids and positions out of range give numbers without meaning.
//
// Shapes: in [R,L] int32 each → [Outputs].
func Forward(scope *model.Scope, c *Config, modules []Module, in Inputs, o GraphOptions) Outputs {
	in.IDs.AssertRank(2)
	r, l := in.IDs.Shape().Dim(0), in.IDs.Shape().Dim(1)
	in.Positions.AssertDims(r, l)
	in.Segments.AssertDims(r, l)
	if o.DType == dtypes.InvalidDType {
		o.DType = dtypes.Float32
	}
	asFloat32 := func(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }
	x := embed(scope.At("embeddings"), c, in, o.DType)
	var out Outputs
	if o.Stages {
		out.Embedded = asFloat32(x)
	}
	own := Equal(InsertAxes(in.Segments, 2), InsertAxes(in.Segments, 1)) // [R,L,L]
	own = LogicalAnd(own, BroadcastToShape(InsertAxes(NotEqual(in.Segments, ZerosLike(in.Segments)), 1), own.Shape()))
	own = InsertAxes(own, 1)
	var bias *Node
	if c.Family() == MPNet {
		bias = distanceBias(scope.At("distance"), c, x.Graph(), l, o.DType)
	}
	for i := range c.Layers {
		x = block(scope.At("block_%d", i), c, x, own, bias)
		if o.Stages {
			out.Blocks = append(out.Blocks, asFloat32(x))
		}
	}
	y := asFloat32(x)
	for i, m := range modules {
		at := scope.At("module_%d", i)
		switch m.Kind {
		case Pooling:
			y = pool(y, in.Segments, max(o.Texts, 1), m.Modes)
		case Dense:
			y = asFloat32(nn.Dense(at, ConvertDType(y, o.DType), m.Out, m.Bias))
			if m.Activation != "" {
				y = nn.Activation(m.Activation, y)
			}
		case LayerNorm:
			y = asFloat32(nn.LayerNorm(at, ConvertDType(y, o.DType), m.Epsilon))
		case Normalize:
			y = nn.Unit(y)
		}
		y.AssertDims(r, max(o.Texts, 1), m.Out)
		out.Modules = append(out.Modules, y)
	}
	return out
}

// embed is the sum of words, positions and token type 0, normalised.
//
// Shapes: in [R,L] each → [R,L,D].
func embed(scope *model.Scope, c *Config, in Inputs, dtype dtypes.DType) *Node {
	g, d := in.IDs.Graph(), c.HiddenSize
	rows := func(name string, n int, of *Node) *Node {
		return Gather(nn.Param(scope, g, name, dtype, n, d), InsertAxes(of, -1))
	}
	x := rows("words", c.VocabSize, in.IDs)
	if c.TypeVocab > 0 {
		types := nn.Param(scope, g, "types", dtype, c.TypeVocab, d)
		x = Add(x, InsertAxes(Slice(types, AxisRange(0, 1)), 0))
	}
	x = Add(x, rows("positions", c.Positions, in.Positions))
	return nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps)
}

// block is attention and MLP, each normalised after it was added.
//
// Shapes: x [R,L,D]; own [R,1,L,L] bool; bias [1,H,L,L] or nil → [R,L,D].
func block(scope *model.Scope, c *Config, x, own, bias *Node) *Node {
	var y *Node
	if bias == nil {
		y = nn.SelfAttention(scope.At("attention"), x, nn.AttentionOptions{Heads: c.Heads, QKVBias: true, Keep: own})
	} else {
		y = biasedAttention(scope.At("attention"), c, x, own, bias)
	}
	x = nn.LayerNorm(scope.At("norm1"), Add(x, y), c.LayerNormEps)
	y = nn.MLP(scope.At("mlp"), x, c.IntermediateSize, c.HiddenAct)
	return nn.LayerNorm(scope.At("norm2"), Add(x, y), c.LayerNormEps)
}

// biasedAttention is nn.SelfAttention with a bias added to the scores, which package nn, whose scores are of queries and
// keys alone, does not take.
//
// Shapes: x [R,L,D]; own [R,1,L,L] bool; bias [1,H,L,L] → [R,L,D].
func biasedAttention(scope *model.Scope, c *Config, x, own, bias *Node) *Node {
	r, l, d := x.Shape().Dim(0), x.Shape().Dim(1), c.HiddenSize
	y := Reshape(nn.Dense(scope.At("qkv"), x, 3*d, true), r, l, 3, c.Heads, d/c.Heads)
	y = TransposeAllAxes(y, 2, 0, 3, 1, 4) // [3,R,H,L,d]
	part := func(i int) *Node { return Squeeze(Slice(y, AxisElem(i)), 0) }
	q := MulScalar(part(0), 1/math.Sqrt(float64(d/c.Heads)))
	scores := ConvertDType(DotGeneral(q, []int{3}, []int{0, 1}, part(1), []int{3}, []int{0, 1}), dtypes.Float32)
	scores = Add(scores, ConvertDType(bias, dtypes.Float32))
	own = BroadcastToShape(own, scores.Shape())
	scores = Where(own, scores, ConstAs(scores, float32(-1e30)))
	e := Where(own, Exp(Sub(scores, ReduceAndKeep(scores, ReduceMax, -1))), ZerosLike(scores))
	sum := MaxScalar(ReduceAndKeep(e, ReduceSum, -1), float32(1e-30))
	z := DotGeneral(ConvertDType(e, x.DType()), []int{3}, []int{0, 1}, part(2), []int{2}, []int{0, 1}) // [R,H,L,d]
	z = ConvertDType(Div(ConvertDType(z, dtypes.Float32), sum), x.DType())
	return nn.Dense(scope.At("out"), Reshape(TransposeAllAxes(z, 0, 2, 1, 3), r, l, d), d, true)
}

// distanceBuckets is how many buckets MPNet sorts distances into: half for each direction.
const distanceBuckets = 32

// distanceBucket is the bucket of the distance from query to key: up to 7 exact, then by logarithm up to 128. It is computed
// in float32, as in transformers, because distances lie on the edges of buckets.
func distanceBucket(query, key int) int {
	const half, exact = distanceBuckets / 2, distanceBuckets / 4
	n, at := query-key, 0
	if n < 0 {
		n, at = -n, half
	}
	if n < exact {
		return at + n
	}
	log := float32(math.Log(float64(float32(n) / exact)))
	return at + min(half-1, exact+int(log/float32(math.Log(128./exact))*(half-exact)))
}

// distanceBias is MPNet's relative position bias, which all blocks share.
//
// Shapes: → [1,H,L,L].
func distanceBias(scope *model.Scope, c *Config, g *Graph, l int, dtype dtypes.DType) *Node {
	buckets := make([][]int32, l)
	for i := range buckets {
		buckets[i] = make([]int32, l)
		for j := range buckets[i] {
			buckets[i][j] = int32(distanceBucket(i, j))
		}
	}
	table := nn.Param(scope, g, "bias", dtype, c.Buckets, c.Heads)
	bias := Gather(table, InsertAxes(Const(g, buckets), -1)) // [L,L,H]
	return InsertAxes(TransposeAllAxes(bias, 2, 0, 1), 0)
}

// pool makes one vector of each text's tokens and joins those of several modes.
//
// Shapes: x [R,L,D] float32; segments [R,L] int32, 1 to texts → [R,texts,D·modes].
func pool(x, segments *Node, texts int, modes []Mode) *Node {
	g, r, l, d := x.Graph(), x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	shape := shapes.Make(dtypes.Int32, r, texts, l)
	numbers := AddScalar(Iota(g, shape, 1), int32(1))
	is := Equal(numbers, BroadcastToShape(InsertAxes(segments, 1), shape)) // [R,T,L]: token is of text
	inside := ConvertDType(is, dtypes.Float32)
	count := MaxScalar(ReduceAndKeep(inside, ReduceSum, -1), float32(1)) // [R,T,1]
	places := Iota(g, shape, 2)
	weigh := func(w *Node) *Node { return DotGeneral(w, []int{2}, []int{0}, x, []int{1}, []int{0}) } // [R,T,D]
	first := ReduceAndKeep(Where(is, places, AddScalar(ZerosLike(places), int32(l))), ReduceMin, -1)
	last := ReduceAndKeep(Where(is, places, AddScalar(ZerosLike(places), int32(-1))), ReduceMax, -1)
	at := func(place *Node) *Node {
		return ConvertDType(Equal(places, BroadcastToShape(place, shape)), dtypes.Float32)
	}
	var list []*Node
	for _, m := range modes {
		switch m {
		case ModeCLS:
			list = append(list, weigh(at(first)))
		case ModeLastToken:
			list = append(list, weigh(at(last)))
		case ModeMean:
			list = append(list, Div(weigh(inside), count))
		case ModeSqrtMean:
			list = append(list, Div(weigh(inside), Sqrt(count)))
		case ModeWeightedMean:
			w := Mul(inside, ConvertDType(AddScalar(Sub(places, first), int32(1)), dtypes.Float32))
			list = append(list, Div(weigh(w), MaxScalar(ReduceAndKeep(w, ReduceSum, -1), float32(1))))
		case ModeMax:
			full := shapes.Make(dtypes.Float32, r, texts, l, d)
			y := Where(BroadcastToShape(InsertAxes(is, -1), full), BroadcastToShape(InsertAxes(x, 1), full), MulScalar(Ones(g, full), -math.MaxFloat32))
			list = append(list, ReduceMax(y, 2))
		}
	}
	return Concatenate(list, -1)
}
