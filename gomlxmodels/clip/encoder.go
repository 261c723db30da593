package clip

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

	"antipode/gomlxmodels/weights"
)

// Options says how an [Encoder] works; the zero value is the default.
type Options struct {
	Batch     int          // pictures a call of the device; 0 = 8. Smaller batches are padded
	TextBatch int          // texts a call of the device; 0 = 32
	DType     dtypes.DType // Float32 (default), BFloat16 or Float16
}

// The numbers of pictures and of texts in a call of the device.
const (
	DefaultBatch     = 8
	DefaultTextBatch = 32
)

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	backend compute.Backend
	m       *Model
	opts    Options
	halves  [2]*half // by tower; nil = not loaded yet
	closed  bool
}

// half is one loaded tower.
type half struct {
	store *model.Store
	exec  *model.Exec
	ready map[int]bool // compiled, by tokens of a text (0 for pictures)
}

// NewEncoder makes an encoder on the backend, which stays the caller's. A tower's weights are read, and its graphs compiled,
// when it is first needed: an encoder of pictures holds no text tower.
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer recovered(&err)
	if backend == nil || m == nil {
		return nil, errors.New("clip: an encoder needs a backend and a model")
	}
	switch o.DType {
	case dtypes.InvalidDType:
		o.DType = dtypes.Float32
	case dtypes.Float32, dtypes.BFloat16, dtypes.Float16:
	default:
		return nil, fmt.Errorf("dtype %s is not one a model runs in (Float32, BFloat16, Float16)", o.DType)
	}
	for _, b := range []struct {
		value *int
		start int
	}{{&o.Batch, DefaultBatch}, {&o.TextBatch, DefaultTextBatch}} {
		if *b.value == 0 {
			*b.value = b.start
		}
		if *b.value < 0 || *b.value > 4096 {
			return nil, fmt.Errorf("batch %d is not between 1 and 4096", *b.value)
		}
	}
	return &Encoder{backend: backend, m: m, opts: o}, nil
}

// recovered turns a panic of the graph library into an error, so that none crosses a door of this package.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("clip: %w", r)
	default:
		*err = fmt.Errorf("clip: %v", r)
	}
}

// Bytes is the memory the loaded weights take.
func (e *Encoder) Bytes() int64 {
	var n int64
	if e != nil {
		for _, h := range e.halves {
			if h != nil {
				n += h.store.ByteSize()
			}
		}
	}
	return n
}

// Close releases weights and compiled graphs. The encoder cannot be used afterwards; closing twice is fine.
func (e *Encoder) Close() {
	if e == nil || e.closed {
		return
	}
	e.closed = true
	var ignored error
	defer recovered(&ignored)
	for i, h := range e.halves {
		e.halves[i] = nil
		if h != nil {
			h.exec.Finalize()
			h.store.Finalize()
		}
	}
}

var errClosed = errors.New("clip: the encoder is closed")

// load gives a tower, reading its weights the first time.
func (e *Encoder) load(t tower) (*half, error) {
	if e.closed {
		return nil, errClosed
	}
	if t == textTower && e.m.cfg.PicturesOnly {
		return nil, errors.New("clip: the text tower of this model is package textenc's")
	}
	if h := e.halves[t]; h != nil {
		return h, nil
	}
	o := GraphOptions{DType: e.opts.DType}
	name, forward := "clip/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := ForwardImage(s, e.m.cfg, in[0], o)
		return []*graph.Node{out.Pooled, out.Projected}
	}
	if t == textTower {
		name, forward = "clip/text", func(s *model.Scope, in []*graph.Node) []*graph.Node {
			out := ForwardText(s, e.m.cfg, in[0], o)
			return []*graph.Node{out.Pooled, out.Projected}
		}
	}
	h := &half{store: model.NewStore(), ready: map[int]bool{}}
	if err := weights.Load(h.store.RootScope(), e.m.set, table(e.m.cfg, e.m.set, t), e.opts.DType); err != nil {
		h.store.Finalize()
		return nil, err
	}
	exec, err := model.NewExec(e.backend, h.store, forward)
	if err != nil {
		h.store.Finalize()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	h.exec = exec.WithName(name)
	e.halves[t] = h
	return h, nil
}

// LoadImageTower reads the weights of the tower of pictures now rather than with the first picture, so that [Encoder.Bytes]
// counts them.
func (e *Encoder) LoadImageTower() (err error) {
	defer recovered(&err)
	_, err = e.load(imageTower)
	return err
}

// LoadTextTower is LoadImageTower for texts.
func (e *Encoder) LoadTextTower() (err error) {
	defer recovered(&err)
	_, err = e.load(textTower)
	return err
}

// EncodeImages embeds pictures prepared by [Model.Prepare], in order; any number of them. A picture's embedding does not
// depend on the others. ctx is looked at between calls of the device.
func (e *Encoder) EncodeImages(ctx context.Context, pictures [][]float32) (out []Embedding, err error) {
	defer recovered(&err)
	side := e.m.cfg.Vision.ImageSize
	n := 3 * side * side
	rows := make([]int, len(pictures))
	for i, p := range pictures {
		if len(p) != n {
			return nil, fmt.Errorf("picture %d: %d pixel values, the model takes %d", i+1, len(p), n)
		}
		rows[i] = i
	}
	h, err := e.load(imageTower)
	if err != nil {
		return nil, err
	}
	out = make([]Embedding, len(pictures))
	b := e.opts.Batch
	return out, batches(ctx, rows, b, func(rows []int) error {
		flat := make([]float32, b*n)
		for k := range b {
			copy(flat[k*n:], pictures[rows[min(k, len(rows)-1)]])
		}
		return e.call(h, 0, tensors.FromFlatDataAndDimensions(flat, b, 3, side, side), rows, out)
	})
}

// EncodeTokens embeds texts given as token ids, start and end tokens included, in order; any number of them, of any length
// up to the model's context. What follows the end-of-text token (padding) does not matter. A text's embedding does not depend
// on the others. A text that is too long, without an end or with an id out of range is an error that names it. ctx is looked
// at between calls of the device.
func (e *Encoder) EncodeTokens(ctx context.Context, texts [][]int32) (out []Embedding, err error) {
	defer recovered(&err)
	c := &e.m.cfg.Text
	byLength := map[int][]int{}
	ends := make([]int, len(texts))
	for i, ids := range texts {
		if err := c.check(ids); err != nil {
			return nil, fmt.Errorf("text %d: %w", i+1, err)
		}
		ends[i] = c.End(ids)
		s := c.padded(ends[i] + 1)
		byLength[s] = append(byLength[s], i)
	}
	h, err := e.load(textTower)
	if err != nil {
		return nil, err
	}
	out = make([]Embedding, len(texts))
	b := e.opts.TextBatch
	for s := 1; s <= c.Context; s++ {
		err := batches(ctx, byLength[s], b, func(rows []int) error {
			flat := make([]int32, b*s) // padded with token 0, which comes after the end and is never higher than it
			for k := range b {
				row := rows[min(k, len(rows)-1)]
				copy(flat[k*s:], texts[row][:ends[row]+1])
			}
			return e.call(h, s, tensors.FromFlatDataAndDimensions(flat, b, s), rows, out)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// check says what is wrong with a text.
func (t *TextConfig) check(ids []int32) error {
	if len(ids) == 0 {
		return errors.New("it has no tokens, not even start and end")
	}
	if len(ids) > t.Context {
		return fmt.Errorf("%d tokens, the model takes at most %d: truncate it, keeping the end token", len(ids), t.Context)
	}
	for i, id := range ids {
		if id < 0 || int(id) >= t.VocabSize {
			return fmt.Errorf("token %d has id %d, the model's ids are 0 to %d", i+1, id, t.VocabSize-1)
		}
	}
	if t.End(ids) < 0 {
		return fmt.Errorf("no end-of-text token (id %d)", t.EndToken)
	}
	return nil
}

// padded is the length a text of n tokens is run at: few lengths, so that few graphs are compiled, and one that depends on
// the text alone.
func (t *TextConfig) padded(n int) int {
	for s := 16; s < t.Context; s *= 2 {
		if n <= s {
			return s
		}
	}
	return t.Context
}

// batches calls do for up to size rows at a time.
func batches(ctx context.Context, rows []int, size int, do func([]int) error) error {
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(size, len(rows))
		if err := do(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// call runs one batch, whose first results belong to rows; key tells the compiled graphs of a tower apart. It releases the input.
func (e *Encoder) call(h *half, key int, input *tensors.Tensor, rows []int, out []Embedding) error {
	defer input.FinalizeAll()
	name := h.exec.Name()
	if !h.ready[key] {
		g, err := h.exec.Compile(shapes.Make(input.DType(), input.Shape().Dimensions...))
		if err == nil {
			err = weights.Check(h.store, g)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		h.ready[key] = true
	}
	results, err := h.exec.Call(input)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var flat [2][]float32
	for i, r := range results {
		values, copyErr := tensors.CopyFlatData[float32](r)
		r.FinalizeAll()
		flat[i], err = values, errors.Join(err, copyErr)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for k, row := range rows {
		vector := func(i int) []float32 {
			d := len(flat[i]) / input.Shape().Dim(0)
			return append([]float32(nil), flat[i][k*d:(k+1)*d]...)
		}
		em := Embedding{Pooled: vector(0), Projected: vector(1)}
		for _, v := range [][]float32{em.Pooled, em.Projected} {
			for _, x := range v {
				if x-x != 0 {
					return fmt.Errorf("%s: row %d: the network gave %v: weights or inputs are out of range", name, row+1, x)
				}
			}
		}
		out[row] = em
	}
	return nil
}
