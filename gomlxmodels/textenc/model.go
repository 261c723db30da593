package textenc

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// GraphOptions are the options of [Forward]; the zero value is one text per row.
type GraphOptions struct {
	Texts int          // texts that a row may hold; 0 = 1
	DType dtypes.DType // of the computation; zero = Float32
}

// Inputs are rows of texts, each [R,L] int32.
type Inputs struct {
	IDs       *Node // tokens
	Positions *Node // rows of the position embeddings
	Segments  *Node // the text that a token belongs to, from 1; 0 = padding. The tokens of a text are contiguous
}

// Outputs is the result of [Forward]. Embedded and Blocks have the dtype of the computation, Modules are float32.
type Outputs struct {
	Embedded *Node   // [R,L,D] input of block 0
	Blocks   []*Node // [R,L,D] each, after every block; the last are the tokens that are pooled
	// [R,T,·] each: the output of every module; the last are the vectors of the texts. Places without a text are
	// meaningless
	Modules []*Node
}

// Forward is the whole model: embeddings, transformer and modules. Tokens attend to those of their own text. It panics
// on wrong shapes; ids and positions out of range give meaningless numbers.
//
// Shapes: in [R,L] int32 each → [Outputs].
func Forward(scope *model.Scope, c *Config, modules []Module, in Inputs, o GraphOptions) (out Outputs) {
	in.IDs.AssertRank(2)
	r, l := in.IDs.Shape().Dim(0), in.IDs.Shape().Dim(1)
	in.Positions.AssertDims(r, l)
	in.Segments.AssertDims(r, l)
	dtype, texts := nn.DType(o.DType), max(o.Texts, 1)
	x := embed(scope.At("embeddings"), c, in, dtype)
	out.Embedded = x
	own := Equal(InsertAxes(in.Segments, 2), InsertAxes(in.Segments, 1)) // [R,L,L]
	own = LogicalAnd(own, BroadcastToShape(InsertAxes(NotEqual(in.Segments, ZerosLike(in.Segments)), 1), own.Shape()))
	block := nn.Block{Hidden: c.IntermediateSize, Activation: c.HiddenAct, Epsilon: c.LayerNormEps, PostNorm: true}
	block.Heads, block.Keep = c.Heads, InsertAxes(own, 1)
	if c.Family() == MPNet {
		block.Bias = distanceBias(scope.At("distance"), c, x.Graph(), l, dtype)
	}
	for i := range c.Layers {
		x = block.Forward(scope.At("block_%d", i), x)
		out.Blocks = append(out.Blocks, x)
	}
	y := nn.Float32(x)
	for i, m := range modules {
		at := scope.At("module_%d", i)
		switch m.Kind {
		case Pooling:
			y = pool(y, in.Segments, texts, m.Modes)
		case Dense:
			y = nn.Float32(nn.Dense(at, ConvertDType(y, dtype), m.Out, m.Bias))
			if m.Activation != "" {
				y = nn.Activation(m.Activation, y)
			}
		case LayerNorm:
			y = nn.Float32(nn.LayerNorm(at, ConvertDType(y, dtype), m.Epsilon))
		case Normalize:
			y = nn.Unit(y)
		}
		y.AssertDims(r, texts, m.Out)
		out.Modules = append(out.Modules, y)
	}
	return out
}

// embed is the sum of the embeddings of words, positions and token type 0, normalized.
//
// Shapes: in [R,L] each → [R,L,D].
func embed(scope *model.Scope, c *Config, in Inputs, dtype dtypes.DType) *Node {
	x := nn.Embedding(scope, "words", in.IDs, dtype, c.VocabSize, c.HiddenSize)
	if c.TypeVocab > 0 {
		types := nn.Param(scope, x.Graph(), "types", dtype, c.TypeVocab, c.HiddenSize)
		x = Add(x, InsertAxes(Slice(types, AxisRange(0, 1)), 0))
	}
	x = Add(x, nn.Embedding(scope, "positions", in.Positions, dtype, c.Positions, c.HiddenSize))
	return nn.LayerNorm(scope.At("norm"), x, c.LayerNormEps)
}

// distanceBuckets is the number of buckets of MPNet's distances: half for each direction.
const distanceBuckets = 32

// distanceBucket is the bucket of the distance from query to key: up to 7 exact, then logarithmic up to 128. It is
// computed in float32, as in transformers, because some distances are exactly on the edge of a bucket.
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

// pool reduces each text's tokens to one vector and concatenates those of several modes.
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
			y := Where(BroadcastToShape(InsertAxes(is, -1), full), BroadcastToShape(InsertAxes(x, 1), full),
				MulScalar(Ones(g, full), -math.MaxFloat32))
			list = append(list, ReduceMax(y, 2))
		}
	}
	return Concatenate(list, -1)
}
