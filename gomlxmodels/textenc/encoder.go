package textenc

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/pack"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// Options are the options of an [Encoder]; the zero value is the default.
type Options struct {
	Tokens int          // tokens per full call of the device; 0 = 512. What remains runs in calls of one row
	DType  dtypes.DType // Float32 (default), BFloat16 or Float16
}

// DefaultTokens is the number of tokens in a full call of the device.
const DefaultTokens = 512

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	m    *Model
	opts Options
	*runner.Runner
	net    *runner.Net
	graphs map[int]*runner.Graph // by length of rows; the number of texts a row holds depends on it
}

// Embedding holds the vectors of one text.
type Embedding struct {
	// Pooled is the vector before dense layers and normalization; of AltCLIP, and with the pooler, what transformers
	// calls pooler_output.
	Pooled []float32
	// the output of the last module; of AltCLIP and M-CLIP in the space shared with images. [Model.Width] long
	Vector []float32
}

// NewEncoder returns an encoder on the backend, which the caller owns. Weights are read when they are first needed.
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer runner.Recovered("textenc", &err)
	if backend == nil || m == nil {
		return nil, errors.New("textenc: an encoder needs a backend and a model")
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("tokens", &o.Tokens, DefaultTokens, 1<<20)); err != nil {
		return nil, err
	}
	e = &Encoder{m: m, opts: o, Runner: runner.New(backend, "textenc", "encoder"), graphs: map[int]*runner.Graph{}}
	e.net = e.Net(func(s *model.Store) error { return m.load(s.RootScope(), o.DType) })
	return e, nil
}

// load creates the variables of the model below the scope.
func (m *Model) load(scope *model.Scope, dtype dtypes.DType) error {
	if err := weights.Load(scope, m.Weights, table(m.cfg, m.modules, m.Weights), dtype); err != nil {
		return err
	}
	for _, n := range m.dense {
		if err := weights.Load(scope, n.Weights, n.Rules, dtype); err != nil {
			return err
		}
	}
	return nil
}

// EncodeIDs embeds texts given as token ids, start and end tokens included and without padding, in order; any
// number of them, of any length up to [Model.MaxTokens]. Texts are packed into rows of few lengths, and a token
// attends to its own text alone: a text's embedding depends on the others by no more than rounding. A text without
// tokens, one that is too long or one with an id out of range is an error that names it. ctx is checked between
// calls of the device.
func (e *Encoder) EncodeIDs(ctx context.Context, texts [][]int32) (out []Embedding, err error) {
	defer runner.Recovered("textenc", &err)
	if err := e.Closed(); err != nil {
		return nil, err
	}
	for i, ids := range texts {
		if err := pack.Check(ids, e.m.maxTokens, e.m.cfg.VocabSize); err != nil {
			return nil, fmt.Errorf("text %d: %w", i+1, err)
		}
	}
	if err := e.net.Load(); err != nil {
		return nil, err
	}
	out = make([]Embedding, len(texts))
	err = pack.Calls(ctx, texts, e.m.maxTokens, e.opts.Tokens, func(rows [][]pack.Place, size, l int) error {
		return e.call(rows, size, l, texts, out)
	})
	return out, err
}

// graph returns the graph of rows of length l.
func (e *Encoder) graph(l int) *runner.Graph {
	if e.graphs[l] == nil {
		o := GraphOptions{Texts: pack.Texts(l), DType: e.opts.DType}
		e.graphs[l] = e.net.Graph(e.name(l), func(s *model.Scope, in []*graph.Node) []*graph.Node {
			out := Forward(s, e.m.cfg, e.m.modules, Inputs{IDs: in[0], Positions: in[1], Segments: in[2]}, o)
			return []*graph.Node{out.Modules[e.m.pooled], out.Modules[len(out.Modules)-1]}
		})
	}
	return e.graphs[l]
}

func (e *Encoder) name(l int) string { return fmt.Sprintf("textenc/%s/%d", e.m.cfg.ModelType, l) }

// call runs rows of length l, padded to size of them, and stores the vectors of their texts.
func (e *Encoder) call(rows [][]pack.Place, size, l int, list [][]int32, out []Embedding) error {
	ids, positions, segments := pack.Fill(rows, size, l, list)
	for r, p := range pack.Each(rows) {
		e.m.cfg.positions(list[p.Text], positions[r*l+p.Start:])
	}
	rowsOf := func(flat []int32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(flat, size, l) }
	results, err := e.graph(l).Call(rowsOf(ids), rowsOf(positions), rowsOf(segments))
	if err != nil {
		return err
	}
	slots := pack.Texts(l)
	for r, p := range pack.Each(rows) {
		at, em := r*slots+p.Slot(), &out[p.Text]
		if em.Pooled, err = runner.Row(results[0], at, size*slots); err == nil {
			em.Vector, err = runner.Row(results[1], at, size*slots)
		}
		if err != nil {
			return fmt.Errorf("%s: text %d: %w", e.name(l), p.Text+1, err)
		}
	}
	return nil
}
