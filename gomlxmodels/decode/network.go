package decode

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Network is a decoder as a graph.
type Network struct {
	Name  string // for errors, for example "blip/text"
	Vocab int    // V
	// Positions is the longest sequence the network takes, context before the prompt, prompt and all included.
	Positions int
	// Before is how many places of a sequence the context takes before the prompt: 0 where it is only looked at (cross-attention).
	Before int
	// Seen are tokens that stand for the context in the places before the prompt: a repetition penalty counts them as written.
	Seen []int32
	// Forward gives the logits of the token after in.Last, [R,V] float32. It calls in.Cache.Update once for each layer, in order.
	Forward func(scope *model.Scope, in Inputs) *Node
}

// Inputs is what a network gets: in a prefill all tokens of a prompt and R = G, in a step one token of every row and R = G·N.
type Inputs struct {
	IDs       *Node   // [R,Q] int32 tokens; behind the prompt of a prefill stands padding
	Positions *Node   // [R,Q] int32 their places, counted from Network.Before
	Last      *Node   // [R,1] int32 which of the Q tokens is the last
	Context   []*Node // [G,…] each: what Generate was given; rows g·R/G to (g+1)·R/G−1 belong to context g
	Cache     *Cache
}

// Prefill says that the inputs are a prompt: the context's own places, where it has some, come before it.
func (in Inputs) Prefill() bool { return in.Cache.old == nil }

// Cache holds the keys and values of earlier tokens while a graph is built.
type Cache struct {
	length    int
	old, kept []*Node // key and value of layer 0, of layer 1, …: [R,H,T,d]
	place     *Node   // [R,1] int32 where a step's token goes; nil in a prefill
}

// NewCache is a cache of that many places without any token, as a prefill has it.
func NewCache(length int) *Cache { return &Cache{length: length} }

// Update adds the keys and values of a layer's new tokens and gives all that may be attended, with the mask of it.
//
// Shapes: k, v [R,H,Q,d] → keys, values [R,H,K,d]; keep [1 or R,1,Q,K] bool, true = may be attended. K is Q in a prefill, T in a step.
func (c *Cache) Update(k, v *Node) (keys, values, keep *Node) {
	k.AssertRank(4)
	v.AssertDims(k.Shape().Dimensions...)
	g, q := k.Graph(), k.Shape().Dim(2)
	if c.old == nil {
		for _, x := range []*Node{k, v} {
			if room := c.length - q; room < 0 {
				x = Slice(x, AxisRange(), AxisRange(), AxisRange(0, c.length)) // what is cut is padding
			} else if room > 0 {
				dims := x.Shape().Clone()
				dims.Dimensions[2] = room
				x = Concatenate([]*Node{x, Zeros(g, dims)}, 2)
			}
			c.kept = append(c.kept, x)
		}
		return k, v, InsertAxes(LowerTriangular(g, q), 0, 0)
	}
	r := k.Shape().Dim(0)
	at := len(c.kept)
	places := Iota(g, shapes.Make(dtypes.Int32, r, c.length), 1)
	now := BroadcastToDims(c.place, r, c.length)
	here := Equal(places, now)
	for i, x := range []*Node{k, v} {
		whole := c.old[at+i].Shape()
		c.kept = append(c.kept, Where(BroadcastToShape(InsertAxes(here, 1, -1), shapes.Make(dtypes.Bool, whole.Dimensions...)), BroadcastToShape(x, whole), c.old[at+i]))
	}
	return c.kept[at], c.kept[at+1], InsertAxes(LessOrEqual(places, now), 1, 1)
}
