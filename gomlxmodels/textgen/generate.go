package textgen

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
	"antipode/internal/fault"
)

// Generator writes texts with one network. It belongs to the goroutine that owns the device.
type Generator struct {
	run   *runner.Net
	net   Decoder
	pairs map[sizes]*pair
	steps map[sizes]*step // by sizes without that of the prompt, on which a step does not depend
}

type step struct {
	graph *runner.Graph
	built *Graph
}

// sizes tell compiled pairs of graphs apart.
type sizes struct {
	groups, width, prompt, cache int
	reorder                      bool // a row may continue another row of its group: beams
}

// pair is a network's two graphs.
type pair struct {
	sizes
	prefill, step *runner.Graph
	cached        []shapes.Shape // of the cache's tensors, [R,H,T,d]
	ready         bool           // compiled and checked
}

// New makes a generator of graphs of run, which holds the network's weights. Nothing is compiled yet. What is
// compiled is released when the runner is closed.
func NewGenerator(run *runner.Net, net Decoder) *Generator {
	return &Generator{run: run, net: net, pairs: map[sizes]*pair{}, steps: map[sizes]*step{}}
}

// cacheStep is what the cache's length is a multiple of, so that few graphs are compiled.
const cacheStep = 32

// promptSize is the length that prompts of up to n tokens are filled up to, for the same reason.
func promptSize(n int) int {
	size := 1
	for size < n {
		size *= 2
	}
	return size
}

// sizes are those of the graphs for prompts of up to n tokens.
func (g *Generator) sizes(groups, n int, s *Options) (sizes, error) {
	last := g.net.Before + n + s.MaxTokens - 1 // the last token is not read again
	if last > g.net.Positions {
		return sizes{}, fmt.Errorf("%s: a prompt of %d tokens and %d more take %d places, the network has %d: "+
			"request fewer", g.net.Name, n, s.MaxTokens, last, g.net.Positions)
	}
	return sizes{groups: groups, width: s.Width(), prompt: promptSize(n),
		cache: (last + cacheStep - 1) / cacheStep * cacheStep, reorder: s.Beams > 1}, nil
}

// Compile makes the graphs ready for contexts of the given shapes, [G,…], and prompts of up to a number of tokens,
// and checks that with those that make the contexts they use all weights of the store and invent none.
// [Generator.Generate] would do it; call it before the contexts are computed where the store's weights are to be
// checked first.
func (g *Generator) Compile(contexts []shapes.Shape, prompt int, s Options, graphs ...*Graph) (err error) {
	defer runner.Recovered(g.net.Name, &err)
	if err := s.Validate(g.net.Vocab); err != nil {
		return fmt.Errorf("%s: %w", g.net.Name, err)
	}
	if len(contexts) == 0 {
		return fmt.Errorf("%s: nothing to write about", g.net.Name)
	}
	z, err := g.sizes(contexts[0].Dim(0), prompt, &s)
	if err == nil {
		_, err = g.compiled(z, contexts, graphs)
	}
	return err
}

func (g *Generator) compiled(z sizes, contexts []shapes.Shape, others []*Graph) (*pair, error) {
	p := g.pairs[z]
	if p == nil {
		p = &pair{sizes: z}
		p.prefill = g.run.Graph(g.net.Name+"/prefill",
			func(scope *model.Scope, in []*Node) []*Node { return g.prefillGraph(p, scope, in) })
		g.pairs[z] = p
	}
	if p.ready {
		return p, nil
	}
	ids := shapes.Make(dtypeIndex, z.groups, z.prompt)
	given := append([]shapes.Shape{ids, ids, shapes.Make(dtypeIndex, z.groups, 1)}, contexts...)
	first, err := p.prefill.Compile(given...)
	if err != nil {
		return nil, err
	}
	next, err := g.stepOf(p, contexts)
	if err != nil {
		return nil, err
	}
	if err := weights.Check(g.run.Store(), append(slices.Clone(others), first, next.built)...); err != nil {
		return nil, fmt.Errorf("%s: %w", g.net.Name, err)
	}
	p.step, p.ready = next.graph, true
	return p, nil
}

// stepOf returns the graph of one step after the prefill of a pair; pairs for prompts of several lengths share it.
func (g *Generator) stepOf(p *pair, contexts []shapes.Shape) (*step, error) {
	z := p.sizes
	z.prompt = 0
	if s := g.steps[z]; s != nil {
		return s, nil
	}
	one := shapes.Make(dtypeIndex, z.groups*z.width, 1)
	given := []shapes.Shape{one, one}
	if z.reorder {
		given = append(given, one)
	}
	s := &step{graph: g.run.Graph(g.net.Name+"/step",
		func(scope *model.Scope, in []*Node) []*Node { return g.stepGraph(p, scope, in) })}
	var err error
	if s.built, err = s.graph.Compile(slices.Concat(given, p.cached, contexts)...); err != nil {
		return nil, err
	}
	g.steps[z] = s
	return s, nil
}

// Generate writes the texts of each request, in order. The tensors of contexts are [G,…] each, on the device, and
// stay the caller's; G may be more than there are requests. Prompts may differ in length. graphs are those that made
// the contexts from weights of the same store. ctx is checked before every step. Errors are one line.
func (g *Generator) Generate(ctx context.Context, contexts []*tensors.Tensor, requests []Request, s Options,
	graphs ...*Graph) (out [][]Text, err error) {
	defer runner.Recovered(g.net.Name, &err)
	if err := s.Validate(g.net.Vocab); err != nil {
		return nil, fmt.Errorf("%s: %w", g.net.Name, err)
	}
	if len(contexts) == 0 || len(requests) == 0 {
		return nil, fmt.Errorf("%s: nothing to write about", g.net.Name)
	}
	groups := contexts[0].Shape().Dim(0)
	if len(requests) > groups {
		return nil, fmt.Errorf("%s: %d requests for %d contexts", g.net.Name, len(requests), groups)
	}
	longest := 0
	for i, r := range requests {
		if err := g.check(&r, &s); err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", g.net.Name, i+1, err)
		}
		longest = max(longest, len(r.Prompt))
	}
	z, err := g.sizes(groups, longest, &s)
	if err != nil {
		return nil, err
	}
	var given []shapes.Shape
	for _, c := range contexts {
		given = append(given, c.Shape())
	}
	p, err := g.compiled(z, given, graphs)
	if err != nil {
		return nil, err
	}
	asked := len(requests)
	requests = slices.Clone(requests)
	for len(requests) < groups { // filled up with the last one
		requests = append(requests, requests[len(requests)-1])
	}
	w := newWriter(g, p, &s, requests)
	defer w.release()
	if err := w.prefill(contexts); err != nil {
		return nil, err
	}
	for step := 0; ; step++ {
		if err := w.choose(step); err != nil {
			return nil, fmt.Errorf("%s: %w", g.net.Name, err)
		}
		if w.over() {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.forward(step, contexts); err != nil {
			return nil, err
		}
	}
	for i := range asked {
		out = append(out, w.texts(i))
	}
	return out, nil
}

// check says what is wrong with a request.
func (g *Generator) check(r *Request, s *Options) error {
	if len(r.Prompt) == 0 {
		return errors.New("the prompt has no token, not even the start")
	}
	for _, id := range r.Prompt {
		if id < 0 || int(id) >= g.net.Vocab {
			return fmt.Errorf("the prompt holds the token %d, the network's are 0 to %d", id, g.net.Vocab-1)
		}
	}
	if s.Sample && len(r.Seeds) != s.Width() {
		return fmt.Errorf("%d seeds for %d texts", len(r.Seeds), s.Width())
	}
	return nil
}

// each does the rows' work on the host, on several goroutines.
func each(n int, do func(i int) error) error {
	errs := make([]error, n)
	fault.Each(n, func(i int) {
		defer runner.Recovered("row", &errs[i])
		errs[i] = do(i)
	})
	for _, err := range errs { // one is enough: it is one line
		if err != nil {
			return err
		}
	}
	return nil
}
