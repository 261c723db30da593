package textgen

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
)

const dtypeIndex = dtypes.Int32

// prefillGraph reads the prompts.
//
// Shapes: in are ids, places [G,P], last [G,1], then the contexts → logits [G,V], then the cache, [R,H,T,d] each.
func (g *Generator) prefillGraph(p *pair, scope *model.Scope, in []*Node) []*Node {
	cache := NewCache(p.cache)
	logits := g.net.Forward(scope, Inputs{IDs: in[0], Positions: in[1], Last: in[2], Context: in[3:], Cache: cache})
	logits.AssertDims(p.groups, g.net.Vocab)
	out := []*Node{ConvertDType(logits, dtypes.Float32)}
	p.cached = nil
	for _, x := range cache.kept {
		dims := x.Shape().Dimensions
		x = BroadcastToDims(InsertAxes(x, 1), slices.Insert(slices.Clone(dims), 1, p.width)...)
		x = Reshape(x, append([]int{p.groups * p.width}, dims[1:]...)...)
		p.cached = append(p.cached, x.Shape())
		out = append(out, x)
	}
	return out
}

// stepGraph reads one token of every row.
//
// Shapes: in are ids, places [R,1], with beams the rows [R,1] they continue, the cache, the contexts → logits [R,V],
// the new cache.
func (g *Generator) stepGraph(p *pair, scope *model.Scope, in []*Node) []*Node {
	ids, place, in := in[0], in[1], in[2:]
	var parents *Node
	if p.reorder {
		parents, in = in[0], in[1:]
	}
	old := slices.Clone(in[:len(p.cached)])
	if p.reorder {
		for i, x := range old {
			old[i] = Gather(x, parents)
		}
	}
	cache := &Cache{length: p.cache, old: old, place: place}
	logits := g.net.Forward(scope, Inputs{IDs: ids, Positions: place, Last: ZerosLike(place),
		Context: in[len(p.cached):], Cache: cache})
	logits.AssertDims(p.groups*p.width, g.net.Vocab)
	return append([]*Node{ConvertDType(logits, dtypes.Float32)}, cache.kept...)
}

// writer is one call of Generate under way.
type writer struct {
	g        *Generator
	p        *pair
	s        *Options
	requests []Request
	rows     []row     // without beams, G·N
	searches []*search // with beams, G
	tokens   []int32   // of each row, written last
	parents  []int32   // the row each continues
	cache    []*tensors.Tensor
	logits   [][]float32 // of each row
}

func newWriter(g *Generator, p *pair, s *Options, requests []Request) *writer {
	w := &writer{g: g, p: p, s: s, requests: requests, tokens: make([]int32, p.groups*p.width),
		parents: make([]int32, p.groups*p.width)}
	for _, r := range requests {
		if s.Beams > 1 {
			w.searches = append(w.searches, s.newSearch(s.markSeen(g.net.Vocab, g.net.Seen, r.Prompt)))
			continue
		}
		for k := range p.width {
			next := row{seen: s.markSeen(g.net.Vocab, g.net.Seen, r.Prompt)}
			if s.Sample {
				next.seed = r.Seeds[k]
			}
			w.rows = append(w.rows, next)
		}
	}
	return w
}

// release frees the cache.
func (w *writer) release() {
	runner.Release(w.cache...)
	w.cache = nil
}

// prefill reads the prompts.
func (w *writer) prefill(contexts []*tensors.Tensor) error {
	p, n := w.p, w.p.prompt
	ids, places, last := make([]int32, p.groups*n), make([]int32, p.groups*n), make([]int32, p.groups)
	for i, r := range w.requests {
		copy(ids[i*n:], r.Prompt)
		for k := range n {
			places[i*n+k] = int32(min(w.g.net.Before+k, w.g.net.Positions-1)) // beyond: padding
		}
		last[i] = int32(len(r.Prompt) - 1)
	}
	index := func(flat []int32, dims ...int) *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(flat, dims...)
	}
	return w.call(p.prefill, contexts, index(ids, p.groups, n), index(places, p.groups, n), index(last, p.groups, 1))
}

// forward reads the tokens that step (from 0) wrote.
func (w *writer) forward(step int, contexts []*tensors.Tensor) error {
	p := w.p
	rows := p.groups * p.width
	places := make([]int32, rows)
	for i := range places {
		places[i] = int32(w.g.net.Before + len(w.requests[i/p.width].Prompt) + step)
	}
	index := func(flat []int32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(flat, rows, 1) }
	given := []*tensors.Tensor{index(slices.Clone(w.tokens)), index(places)}
	if p.reorder {
		given = append(given, index(slices.Clone(w.parents)))
	}
	return w.call(p.step, contexts, given...)
}

// call runs a graph on the given tensors, which it releases, the cache, which it replaces, and the contexts.
func (w *writer) call(graph *runner.Graph, contexts []*tensors.Tensor, given ...*tensors.Tensor) error {
	defer runner.Release(given...)
	out, err := graph.Run(slices.Concat(given, w.cache, contexts)...)
	if err != nil {
		return err
	}
	w.release()
	w.cache = out[1:]
	flat, err := runner.Numbers(out[0])
	out[0].FinalizeAll()
	if err != nil {
		return fmt.Errorf("%s: %w", w.g.net.Name, err)
	}
	rows, v := w.p.groups*w.p.width, w.g.net.Vocab
	share := rows * v / len(flat) // rows that share logits: in a prefill a group's
	w.logits = w.logits[:0]
	for i := range rows {
		at := i / share * v
		w.logits = append(w.logits, flat[at:at+v])
	}
	return nil
}

// choose takes the next token of every row.
func (w *writer) choose(step int) error {
	if w.s.Trace != nil {
		w.s.Trace(step, w.logits)
	}
	n := w.p.width
	if w.s.Beams > 1 {
		return each(len(w.searches), func(i int) error {
			b := w.searches[i]
			if b.over {
				return nil
			}
			parents, tokens, err := w.s.step(b, step, w.logits[i*n:(i+1)*n])
			for k := range parents {
				w.parents[i*n+k], w.tokens[i*n+k] = int32(i*n+parents[k]), tokens[k]
			}
			return err
		})
	}
	return each(len(w.rows), func(i int) error {
		r := &w.rows[i]
		if r.done {
			return nil
		}
		if err := w.s.next(r, step, w.logits[i]); err != nil {
			return err
		}
		if r.text.Ended {
			w.tokens[i] = w.s.Ends[0]
		} else {
			w.tokens[i] = r.text.Tokens[len(r.text.Tokens)-1]
		}
		return nil
	})
}

// over says that every text is written.
func (w *writer) over() bool {
	return !slices.ContainsFunc(w.searches, func(b *search) bool { return !b.over }) &&
		!slices.ContainsFunc(w.rows, func(r row) bool { return !r.done })
}

// texts are those of request i.
func (w *writer) texts(i int) []Text {
	if w.s.Beams > 1 {
		return w.s.texts(w.searches[i])
	}
	var out []Text
	for _, r := range w.rows[i*w.p.width : (i+1)*w.p.width] {
		out = append(out, r.text)
	}
	return out
}
