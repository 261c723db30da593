package textgen

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Decoder is a decoder as a graph.
type Decoder struct {
	Name  string // for errors, for example "blip/text"
	Vocab int    // V
	// Positions is the longest sequence the network takes, context before the prompt, prompt and all included.
	Positions int
	// Before is the number of positions of the context before the prompt; 0 if the context is used by cross-attention
	// only.
	Before int
	// Seen are the tokens that represent the context in the positions before the prompt; a repetition penalty counts
	// them as written.
	Seen []int32
	// Forward returns the logits of the token after in.Last, [R,V] float32. It calls in.Cache.Update once for each
	// layer, in order.
	Forward func(scope *model.Scope, in Inputs) *Node
}

// Inputs are the inputs of a network: in a prefill all tokens of a prompt and R = G, in a step one token per row and
// R = G·N.
type Inputs struct {
	IDs       *Node   // [R,Q] int32 tokens; after the prompt of a prefill follows padding
	Positions *Node   // [R,Q] int32 their positions, counted from Decoder.Before
	Last      *Node   // [R,1] int32 index of the last of the Q tokens
	Context   []*Node // [G,…] each, as passed to Generate; rows g·R/G to (g+1)·R/G−1 belong to context g
	Cache     *Cache
}

// Prefill reports whether the inputs are a prompt; the context's positions, if any, come before it.
func (in Inputs) Prefill() bool { return in.Cache.old == nil }

// Cache has the keys and values of earlier tokens while a graph is built.
type Cache struct {
	length    int
	old, kept []*Node // key and value of layer 0, of layer 1, …: [R,H,T,d]
	place     *Node   // [R,1] int32 position of a step's token; nil in a prefill
}

// NewCache returns a cache of so many positions without any token, as in a prefill.
func NewCache(length int) *Cache { return &Cache{length: length} }

// Update adds the keys and values of a layer's new tokens and returns all that may be attended, with their mask.
//
// Shapes: k, v [R,H,Q,d] → keys, values [R,H,K,d]; keep [1 or R,1,Q,K] bool, true = may be attended. K is Q in a
// prefill, T in a step.
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
		c.kept = append(c.kept, Where(BroadcastToShape(InsertAxes(here, 1, -1),
			shapes.Make(dtypes.Bool, whole.Dimensions...)), BroadcastToShape(x, whole), c.old[at+i]))
	}
	return c.kept[at], c.kept[at+1], InsertAxes(LessOrEqual(places, now), 1, 1)
}
