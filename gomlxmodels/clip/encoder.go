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

	"antipode/gomlxmodels/pack"
	"antipode/gomlxmodels/weights"
)

// Options says how an [Encoder] works; the zero value is the default.
type Options struct {
	Batch  int          // pictures a call of the device; 0 = 8. Smaller batches are padded
	Tokens int          // tokens of texts in a full call of the device; 0 = 512. What remains runs in calls of one row
	DType  dtypes.DType // Float32 (default), BFloat16 or Float16
}

// The numbers of pictures and of texts' tokens in a call of the device.
const (
	DefaultBatch  = 8
	DefaultTokens = 512
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
	ready map[[2]int]bool // compiled, by rows and tokens of a row (0 for pictures)
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
		name       string
		value      *int
		start, max int
	}{{"batch", &o.Batch, DefaultBatch, 4096}, {"tokens", &o.Tokens, DefaultTokens, 1 << 20}} {
		if *b.value == 0 {
			*b.value = b.start
		}
		if *b.value < 0 || *b.value > b.max {
			return nil, fmt.Errorf("%s %d is not between 1 and %d", b.name, *b.value, b.max)
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
			out := ForwardTextRows(s, e.m.cfg, TextRows{IDs: in[0], Positions: in[1], Segments: in[2], Ends: in[3]}, o)
			return []*graph.Node{out.Pooled, out.Projected}
		}
	}
	h := &half{store: model.NewStore(), ready: map[[2]int]bool{}}
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
		vectors, err := h.call([2]int{b, 0}, tensors.FromFlatDataAndDimensions(flat, b, 3, side, side))
		if err != nil {
			return err
		}
		for k, row := range rows {
			if out[row], err = vectors.at(k, b); err != nil {
				return fmt.Errorf("%s: picture %d: %w", h.exec.Name(), row+1, err)
			}
		}
		return nil
	})
}

// EncodeTokens embeds texts given as token ids, start and end tokens included, in order; any number of them, of any length up
// to the model's context. What follows the end-of-text token (padding) does not matter. Texts share rows (package pack), and a
// token attends to its own text alone: a text's embedding depends on the others by no more than rounding. A text that is too
// long, without an end or with an id out of range is an error that names it. ctx is looked at between calls of the device.
func (e *Encoder) EncodeTokens(ctx context.Context, texts [][]int32) (out []Embedding, err error) {
	defer recovered(&err)
	c := &e.m.cfg.Text
	byLength, longest := map[int][]int{}, 0
	own := make([][]int32, len(texts)) // up to the end token
	for i, ids := range texts {
		if err := c.check(ids); err != nil {
			return nil, fmt.Errorf("text %d: %w", i+1, err)
		}
		own[i] = ids[:c.End(ids)+1]
		l := pack.RowLength(len(own[i]), c.Context)
		byLength[l] = append(byLength[l], i)
		longest = max(longest, l)
	}
	h, err := e.load(textTower)
	if err != nil {
		return nil, err
	}
	out = make([]Embedding, len(texts))
	for l := 1; l <= longest; l++ {
		rows := pack.Rows(byLength[l], func(text int) int { return len(own[text]) }, l)
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
			if err := h.texts(rows[:n], size, l, own, out); err != nil {
				return nil, err
			}
			rows = rows[n:]
		}
	}
	return out, nil
}

// texts runs rows of length l, filled up to size of them, and keeps what belongs to their texts.
func (h *half) texts(rows [][]pack.Place, size, l int, list [][]int32, out []Embedding) error {
	slots := pack.Texts(l)
	ids, positions, segments, ends := make([]int32, size*l), make([]int32, size*l), make([]int32, size*l), make([]int32, size*slots)
	for r, row := range rows {
		for _, p := range row {
			at, n := r*l+p.Start, len(list[p.Text])
			copy(ids[at:], list[p.Text])
			for k := range n {
				positions[at+k], segments[at+k] = int32(k), int32(1+p.Slot())
			}
			ends[r*slots+p.Slot()] = int32(p.Start + n - 1)
		}
	}
	rowsOf := func(flat []int32, n int) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(flat, size, n) }
	vectors, err := h.call([2]int{size, l}, rowsOf(ids, l), rowsOf(positions, l), rowsOf(segments, l), rowsOf(ends, slots))
	if err != nil {
		return err
	}
	for r, row := range rows {
		for _, p := range row {
			if out[p.Text], err = vectors.at(r*slots+p.Slot(), size*slots); err != nil {
				return fmt.Errorf("%s: text %d: %w", h.exec.Name(), p.Text+1, err)
			}
		}
	}
	return nil
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

// results are what a call gives: pooled and projected vectors, flat.
type results [2][]float32

// at is embedding i of n; numbers that are none are an error.
func (r results) at(i, n int) (Embedding, error) {
	vector := func(flat []float32) []float32 {
		d := len(flat) / n
		return append([]float32(nil), flat[i*d:(i+1)*d]...)
	}
	em := Embedding{Pooled: vector(r[0]), Projected: vector(r[1])}
	for _, v := range [][]float32{em.Pooled, em.Projected} {
		for _, x := range v {
			if x-x != 0 {
				return Embedding{}, fmt.Errorf("the network gave %v: weights or inputs are out of range", x)
			}
		}
	}
	return em, nil
}

// call runs one batch; key tells the compiled graphs of a tower apart. It releases the inputs.
func (h *half) call(key [2]int, inputs ...*tensors.Tensor) (flat results, err error) {
	var given []any
	var of []shapes.Shape
	for _, in := range inputs {
		defer in.FinalizeAll()
		given, of = append(given, in), append(of, shapes.Make(in.DType(), in.Shape().Dimensions...))
	}
	name := h.exec.Name()
	if !h.ready[key] {
		g, err := h.exec.Compile(of...)
		if err == nil {
			err = weights.Check(h.store, g)
		}
		if err != nil {
			return flat, fmt.Errorf("%s: %w", name, err)
		}
		h.ready[key] = true
	}
	out, err := h.exec.Call(given...)
	if err != nil {
		return flat, fmt.Errorf("%s: %w", name, err)
	}
	for i, r := range out {
		values, copyErr := tensors.CopyFlatData[float32](r)
		r.FinalizeAll()
		flat[i], err = values, errors.Join(err, copyErr)
	}
	if err != nil {
		return flat, fmt.Errorf("%s: %w", name, err)
	}
	return flat, nil
}
