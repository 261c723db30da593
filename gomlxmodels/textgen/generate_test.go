package textgen

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/runner"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

const toyVocab = 23

// toy is a network whose logits are the sum over the sequence so far of a word's vector and its place's. Its context
// comes before the prompt, as one place of the sequence, or is added to the logits.
type toy struct {
	words, places [][]float32 // [V,V], [·,V]
	contexts      [][]float32 // [G,V]
	before        bool
}

func newToy(t *testing.T, groups int, before bool) *toy {
	rng := near.Rand(t, 9)
	table := func(rows int, scale float64) [][]float32 {
		out := make([][]float32, rows)
		for i := range out {
			out[i] = make([]float32, toyVocab)
			for j := range out[i] {
				out[i][j] = float32(rng.NormFloat64() * scale)
			}
		}
		return out
	}
	return &toy{words: table(toyVocab, 1), places: table(64, 1.5), contexts: table(groups, 1), before: before}
}

func (n *toy) network() Decoder {
	net := Decoder{Name: "toy", Vocab: toyVocab, Positions: 64}
	if n.before {
		net.Before = 1
	}
	net.Forward = func(_ *model.Scope, in Inputs) *Node {
		g := in.IDs.Graph()
		r, q := in.IDs.Shape().Dim(0), in.IDs.Shape().Dim(1)
		x := Add(Gather(Const(g, n.words), InsertAxes(in.IDs, -1)),
			Gather(Const(g, n.places), InsertAxes(in.Positions, -1))) // [R,Q,V]
		last := in.Last
		if n.before && in.Prefill() {
			x, last, q = Concatenate([]*Node{InsertAxes(in.Context[0], 1), x}, 1), AddScalar(last, int32(1)), q+1
		}
		v := InsertAxes(x, 1) // one head of width V
		_, values, keep := in.Cache.Update(v, v)
		k := values.Shape().Dim(2)
		weight := ConvertDType(BroadcastToDims(keep, r, 1, q, k), values.DType())
		sum := Squeeze(DotGeneral(weight, []int{3}, []int{0, 1}, values, []int{2}, []int{0, 1}), 1) // [R,Q,V]
		row := Reshape(Add(MulScalar(Iota(g, last.Shape(), 0), q), last), r, 1)
		out := Gather(Reshape(sum, r*q, toyVocab), row)
		if !n.before {
			c := in.Context[0]
			groups := c.Shape().Dim(0)
			out = Add(out, Reshape(BroadcastToDims(InsertAxes(c, 1), groups, r/groups, toyVocab), r, toyVocab))
		}
		return out
	}
	return net
}

// logits is the network in plain Go.
func (n *toy) logits(group int, ids []int32) []float32 {
	out := slices.Clone(n.contexts[group])
	for i, id := range ids {
		at := i
		if n.before {
			at++
		}
		for j := range out {
			out[j] += n.words[id][j] + n.places[at][j]
		}
	}
	return out
}

// write is the loop in plain Go, without cache, groups and batches.
func (n *toy) write(t *testing.T, group int, prompt []int32, seed uint64, s Options) Text {
	t.Helper()
	r := row{seed: seed, seen: s.markSeen(toyVocab, nil, prompt)}
	for step := 0; !r.done; step++ {
		must.Do(t, s.next(&r, step, n.logits(group, slices.Concat(prompt, r.text.Tokens))))
	}
	return r.text
}

func (n *toy) generator(t *testing.T, backend compute.Backend) (*Generator, []*tensors.Tensor) {
	t.Helper()
	run := runner.New(backend, "toy", "writer")
	t.Cleanup(run.Close)
	g := NewGenerator(run.Net(func(*model.Store) error { return nil }), n.network())
	return g, []*tensors.Tensor{tensors.FromValue(n.contexts)}
}

func same(a, b Text) bool {
	d := a.LogProb - b.LogProb
	return slices.Equal(a.Tokens, b.Tokens) && a.Ended == b.Ended && d < 1e-3 && d > -1e-3
}

// TestGenerate compares texts of many groups and rows, with prompts of several lengths, with those written one by one
// in plain Go.
func TestGenerate(t *testing.T) {
	prompts := [][]int32{{1}, {4, 5, 6, 7, 8}, {2, 2}, {9, 10, 11, 12}}
	for _, before := range []bool{false, true} {
		n := newToy(t, 5, before)
		g, contexts := n.generator(t, testbackend.Go(t))
		ended := map[bool]int{}
		for _, s := range []Options{
			{Ends: []int32{3}, MaxTokens: 12}, {Ends: []int32{3}, MaxTokens: 40, MinTokens: 4, RepetitionPenalty: 1.4},
			{Ends: []int32{3}, MaxTokens: 9, RepetitionPenalty: 0.7},
			{Ends: []int32{3}, MaxTokens: 12, Sample: true, Number: 3, Temperature: 2},
			{Ends: []int32{3}, MaxTokens: 6, Sample: true, Number: 2, TopK: 4, TopP: 0.9, Temperature: 3,
				MinTokens: 2},
		} {
			var requests []Request
			for i, p := range prompts {
				r := Request{Prompt: p}
				for k := range s.Width() {
					r.Seeds = append(r.Seeds, uint64(100*i+k))
				}
				requests = append(requests, r)
			}
			got := must.Get(g.Generate(t.Context(), contexts, requests, s))(t)
			for i, r := range requests {
				for k, text := range got[i] {
					want := n.write(t, i, r.Prompt, r.Seeds[k], s)
					ended[want.Ended]++
					if !same(text, want) {
						t.Errorf("before %v, %+v, prompt %v, text %d: %+v, want %+v", before, s, r.Prompt, k, text,
							want)
					}
				}
			}
		}
		if ended[true] == 0 || ended[false] == 0 {
			t.Errorf("texts that end: %d, that do not: %d", ended[true], ended[false])
		}
	}
}

// TestBeams holds the best texts of a wide search against all texts there are.
func TestBeams(t *testing.T) {
	n := newToy(t, 2, false)
	g, contexts := n.generator(t, testbackend.Go(t))
	s := Options{Ends: []int32{3}, MaxTokens: 2, Beams: 11, Number: 3, Early: Never}
	got := must.Get(g.Generate(t.Context(), contexts, []Request{{Prompt: []int32{1}}, {Prompt: []int32{4, 5}}}, s))(t)
	for i, prompt := range [][]int32{{1}, {4, 5}} {
		first := n.logits(i, prompt)
		total, _ := logSum(first)
		best := []float64{}
		for id, v := range first {
			one := float64(v) - total
			if s.ends(int32(id)) {
				best = append(best, one)
				continue
			}
			second := n.logits(i, append(slices.Clone(prompt), int32(id)))
			sum, _ := logSum(second)
			for _, v := range second {
				best = append(best, one+float64(v)-sum)
			}
		}
		slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
		for k, text := range got[i] {
			if d := text.Score - best[k]; d > 1e-4 || d < -1e-4 || text.Score != text.LogProb &&
				(text.Score-text.LogProb > 1e-4 || text.LogProb-text.Score > 1e-4) {
				t.Errorf("prompt %v, text %d: score %v, log-probability %v, want %v", prompt, k, text.Score,
					text.LogProb, best[k])
			}
		}
	}
}

// TestErrors: what cannot be written is said in one line that names it.
func TestErrors(t *testing.T) {
	n := newToy(t, 2, false)
	g, contexts := n.generator(t, testbackend.Go(t))
	fine := Options{Ends: []int32{3}, MaxTokens: 5}
	one := []Request{{Prompt: []int32{1}}}
	for _, c := range []struct {
		contexts []*tensors.Tensor
		requests []Request
		s        Options
		want     string
	}{
		{contexts, one, Options{Ends: []int32{99}, MaxTokens: 5}, "the end tokens [99]"},
		{contexts, nil, fine, "nothing to write about"},
		{nil, one, fine, "nothing to write about"},
		{contexts, []Request{{}}, fine, "the prompt has no token"},
		{contexts, []Request{{Prompt: []int32{1, 23}}}, fine, "holds the token 23"},
		{contexts, slices.Repeat(one, 3), fine, "3 requests for 2 contexts"},
		{contexts, one, Options{Ends: []int32{3}, MaxTokens: 65}, "request fewer"},
		{contexts, one, Options{Ends: []int32{3}, MaxTokens: 5, Sample: true, Number: 2}, "0 seeds for 2 texts"},
	} {
		must.Fail(g.Generate(t.Context(), c.contexts, c.requests, c.s))(t, c.want)
	}
	stopped, cancel := context.WithCancel(t.Context())
	s := fine
	s.Trace = func(step int, _ [][]float32) {
		if step == 1 {
			cancel()
		}
	}
	s.MinTokens = 5
	if _, err := g.Generate(stopped, contexts, one, s); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped at the second token: %v", err)
	}
	if _, err := g.Generate(t.Context(), contexts, one, Options{Ends: []int32{3}, MaxTokens: 64}); err != nil {
		t.Errorf("all places: %v", err)
	}
}

// TestFailedCheck: graphs that fail their check are not run by a second call either, and none is after Close.
func TestFailedCheck(t *testing.T) {
	n := newToy(t, 2, false)
	run := runner.New(testbackend.Go(t), "toy", "writer")
	defer run.Close()
	net, invents := n.network(), n.network()
	invents.Forward = func(s *model.Scope, in Inputs) *Node {
		return Add(net.Forward(s, in), nn.Param(s, in.IDs.Graph(), "bias", dtypes.Float32, 1, toyVocab))
	}
	none := func(*model.Store) error { return nil }
	fine, wrong := NewGenerator(run.Net(none), net), NewGenerator(run.Net(none), invents)
	generate := func(g *Generator) error {
		_, err := g.Generate(t.Context(), []*tensors.Tensor{tensors.FromValue(n.contexts)},
			[]Request{{Prompt: []int32{1}}}, Options{Ends: []int32{3}, MaxTokens: 5})
		return err
	}
	for range 2 {
		must.Fail(generate(wrong))(t, "toy: 1 variable of the graph without weights: /bias")
		must.Do(t, generate(fine))
	}
	run.Close()
	must.Fail(generate(fine))(t, "toy: the writer is closed")
}
