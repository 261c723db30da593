package textenc

import (
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/pack"
	"antipode/gomlxmodels/weights"
)

// Options says how an [Encoder] works; the zero value is the default.
type Options struct {
	Tokens int          // tokens a full call of the device; 0 = 512. What remains runs in calls of one row
	DType  dtypes.DType // Float32 (default), BFloat16 or Float16
}

// DefaultTokens is the number of tokens in a full call of the device.
const DefaultTokens = 512

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	backend compute.Backend
	m       *Model
	opts    Options
	store   *model.Store        // nil = not loaded yet
	execs   map[int]*model.Exec // by length of rows; the number of texts a row holds depends on it
	ready   map[[2]int]bool     // compiled, by rows and length
	closed  bool
}

// Embedding is what a model makes of one text.
type Embedding struct {
	// Pooled is the vector before dense layers and normalisation; of AltCLIP, and with the pooler, what transformers calls
	// pooler_output.
	Pooled []float32
	Vector []float32 // what the last module gives; of AltCLIP and M-CLIP in the space shared with pictures. [Model.Width] long
}

// NewEncoder makes an encoder on the backend, which stays the caller's. Weights are read when they are first needed.
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer recovered(&err)
	if backend == nil || m == nil {
		return nil, errors.New("textenc: an encoder needs a backend and a model")
	}
	switch o.DType {
	case dtypes.InvalidDType:
		o.DType = dtypes.Float32
	case dtypes.Float32, dtypes.BFloat16, dtypes.Float16:
	default:
		return nil, fmt.Errorf("dtype %s is not one a model runs in (Float32, BFloat16, Float16)", o.DType)
	}
	if o.Tokens == 0 {
		o.Tokens = DefaultTokens
	}
	if o.Tokens < 0 || o.Tokens > 1<<20 {
		return nil, fmt.Errorf("tokens %d is not between 1 and %d", o.Tokens, 1<<20)
	}
	return &Encoder{backend: backend, m: m, opts: o, execs: map[int]*model.Exec{}, ready: map[[2]int]bool{}}, nil
}

// recovered turns a panic of the graph library into an error, so that none crosses a door of this package.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("textenc: %w", r)
	default:
		*err = fmt.Errorf("textenc: %v", r)
	}
}

// Bytes is the memory the loaded weights take.
func (e *Encoder) Bytes() int64 {
	if e == nil || e.store == nil {
		return 0
	}
	return e.store.ByteSize()
}

// Close releases weights and compiled graphs. The encoder cannot be used afterwards; closing twice is fine.
func (e *Encoder) Close() {
	if e == nil || e.closed {
		return
	}
	e.closed = true
	var ignored error
	defer recovered(&ignored)
	for _, exec := range e.execs {
		exec.Finalize()
	}
	if e.store != nil {
		e.store.Finalize()
	}
	e.execs, e.store = nil, nil
}

// load reads the weights.
func (e *Encoder) load() error {
	if e.store != nil {
		return nil
	}
	store := model.NewStore()
	if err := e.m.load(store.RootScope(), e.opts.DType); err != nil {
		store.Finalize()
		return err
	}
	e.store = store
	return nil
}

// load creates the variables of the model below the scope.
func (m *Model) load(scope *model.Scope, dtype dtypes.DType) error {
	if err := weights.Load(scope, m.set, table(m.cfg, m.modules, m.set), dtype); err != nil {
		return err
	}
	for i, set := range m.sets {
		if err := weights.Load(scope, set, moduleTable(m.modules[i], i), dtype); err != nil {
			return err
		}
	}
	return nil
}

// EncodeIDs embeds texts given as token ids, start and end tokens included and without padding, in order; any number of them,
// of any length up to [Model.MaxTokens]. Texts are packed into rows of few lengths, and a token attends to its own text alone:
// a text's embedding depends on the others by no more than rounding. A text without tokens, one that is too long or one with an
// id out of range is an error that names it. ctx is looked at between calls of the device.
func (e *Encoder) EncodeIDs(ctx context.Context, texts [][]int32) (out []Embedding, err error) {
	defer recovered(&err)
	if e.closed {
		return nil, errors.New("textenc: the encoder is closed")
	}
	byLength, longest := map[int][]int{}, 0
	for i, ids := range texts {
		if err := e.m.check(ids); err != nil {
			return nil, fmt.Errorf("text %d: %w", i+1, err)
		}
		l := pack.RowLength(len(ids), e.m.maxTokens)
		byLength[l] = append(byLength[l], i)
		longest = max(longest, l)
	}
	if err := e.load(); err != nil {
		return nil, err
	}
	out = make([]Embedding, len(texts))
	for l := 1; l <= longest; l++ {
		rows := pack.Rows(byLength[l], func(text int) int { return len(texts[text]) }, l)
		full := max(1, e.opts.Tokens/l)
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			size := full
			if 2*len(rows) <= full {
				size = 1
			}
			n := min(size, len(rows))
			if err := e.call(rows[:n], size, l, texts, out); err != nil {
				return nil, err
			}
			rows = rows[n:]
		}
	}
	return out, nil
}

// check says what is wrong with a text.
func (m *Model) check(ids []int32) error {
	if len(ids) == 0 {
		return errors.New("it has no tokens, not even start and end")
	}
	if len(ids) > m.maxTokens {
		return fmt.Errorf("%d tokens, the model takes at most %d: truncate it, keeping the end token", len(ids), m.maxTokens)
	}
	for i, id := range ids {
		if id < 0 || int(id) >= m.cfg.VocabSize {
			return fmt.Errorf("token %d has id %d, the model's ids are 0 to %d", i+1, id, m.cfg.VocabSize-1)
		}
	}
	return nil
}

// exec gives the graph of rows of length l.
func (e *Encoder) exec(l int) (*model.Exec, error) {
	if exec := e.execs[l]; exec != nil {
		return exec, nil
	}
	o := GraphOptions{Texts: pack.Texts(l), DType: e.opts.DType}
	exec, err := model.NewExec(e.backend, e.store, func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := Forward(s, e.m.cfg, e.m.modules, Inputs{IDs: in[0], Positions: in[1], Segments: in[2]}, o)
		return []*graph.Node{out.Modules[e.m.pooled], out.Modules[len(out.Modules)-1]}
	})
	if err != nil {
		return nil, err
	}
	e.execs[l] = exec.WithName(fmt.Sprintf("textenc/%s/%d", e.m.cfg.ModelType, l))
	return e.execs[l], nil
}

// call runs rows of length l, filled up to size of them, and keeps what belongs to their texts.
func (e *Encoder) call(rows [][]pack.Place, size, l int, list [][]int32, out []Embedding) error {
	ids, positions, segments := make([]int32, size*l), make([]int32, size*l), make([]int32, size*l)
	for r, row := range rows {
		for _, p := range row {
			at, n := r*l+p.Start, len(list[p.Text])
			copy(ids[at:], list[p.Text])
			e.m.cfg.positions(list[p.Text], positions[at:at+n])
			for k := range n {
				segments[at+k] = int32(1 + p.Slot())
			}
		}
	}
	exec, err := e.exec(l)
	if err != nil {
		return fmt.Errorf("textenc: %w", err)
	}
	if key := [2]int{size, l}; !e.ready[key] {
		shape := shapes.Make(dtypes.Int32, size, l)
		g, err := exec.Compile(shape, shape, shape)
		if err == nil {
			err = weights.Check(e.store, g)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", exec.Name(), err)
		}
		e.ready[key] = true
	}
	var inputs []any
	for _, flat := range [][]int32{ids, positions, segments} {
		t := tensors.FromFlatDataAndDimensions(flat, size, l)
		defer t.FinalizeAll()
		inputs = append(inputs, t)
	}
	results, err := exec.Call(inputs...)
	if err != nil {
		return fmt.Errorf("%s: %w", exec.Name(), err)
	}
	var flat [2][]float32
	for i, r := range results {
		values, copyErr := tensors.CopyFlatData[float32](r)
		r.FinalizeAll()
		flat[i], err = values, errors.Join(err, copyErr)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", exec.Name(), err)
	}
	for r, row := range rows {
		for _, p := range row {
			vector := func(i int) []float32 {
				d, at := len(flat[i])/(size*pack.Texts(l)), r*pack.Texts(l)+p.Slot()
				return append([]float32(nil), flat[i][at*d:(at+1)*d]...)
			}
			em := Embedding{Pooled: vector(0), Vector: vector(1)}
			for _, v := range [][]float32{em.Pooled, em.Vector} {
				for _, x := range v {
					if x-x != 0 {
						return fmt.Errorf("%s: text %d: the network gave %v: weights are out of range", exec.Name(), p.Text+1, x)
					}
				}
			}
			out[p.Text] = em
		}
	}
	return nil
}
