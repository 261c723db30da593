package vit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// Masking is a reading of "attention to the excluded patches is zeroed" (spec, section 4.3).
type Masking string

// The readings. Drop and NegInf give the same class token, and here run the same graph.
const (
	Drop     Masking = "drop"     // excluded tokens are removed before block 1, positions kept
	NegInf   Masking = "neginf"   // excluded keys get −∞ before the softmax, in every block and head
	ZeroProb Masking = "zeroprob" // attention to excluded keys is multiplied by 0 after the softmax; the rest does not add up to 1
)

// Options says how an [Encoder] works; the zero value is the default.
type Options struct {
	Masking Masking      // "" = Drop
	Batch   int          // pictures a call of the device; 0 = 8. Smaller batches are padded
	DType   dtypes.DType // Float32 (default) or BFloat16
}

// Embedding is what the network makes of one picture.
type Embedding struct {
	Full           []float32 // [D] Full-image
	ObjectOnly     []float32 // [D] Obj-only; nil without a mask or without an object patch
	BackgroundOnly []float32 // [D] BG-only; nil without a mask or without a background patch

	ObjectPatches, BackgroundPatches int // 0, 0 without a mask
}

// Encoder runs a model on a device. It is for one goroutine at a time.
type Encoder struct {
	backend compute.Backend
	cfg     *Config
	opts    Options
	store   *model.Store
	full    *model.Exec // pixels → CLS
	masked  *model.Exec // pixels, object → CLS, object, background
	filled  *model.Exec // pixels, object, object pixels, background pixels → the same
	ready   map[*model.Exec]bool
	compile time.Duration
}

// DefaultBatch is the number of pictures in a call of the device.
const DefaultBatch = 8

// NewEncoder reads the weights of a model and makes it ready to run on the backend, which stays the caller's. Graphs are
// compiled when first needed; see [Encoder.Compile].
func NewEncoder(backend compute.Backend, m *Model, o Options) (e *Encoder, err error) {
	defer recovered(&err)
	switch o.Masking {
	case "":
		o.Masking = Drop
	case Drop, NegInf, ZeroProb:
	default:
		return nil, fmt.Errorf("masking %q is not one of drop, neginf, zeroprob", o.Masking)
	}
	switch o.DType {
	case dtypes.InvalidDType:
		o.DType = dtypes.Float32
	case dtypes.Float32, dtypes.BFloat16, dtypes.Float16:
	default:
		return nil, fmt.Errorf("dtype %s is not one a model runs in (Float32, BFloat16, Float16)", o.DType)
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	if o.Batch < 0 || o.Batch > 4096 {
		return nil, fmt.Errorf("batch %d is not between 1 and 4096", o.Batch)
	}
	store := model.NewStore()
	if err := weights.Load(store.RootScope(), m.set, table(m.cfg, m.layout, m.prefix, heads{}), o.DType); err != nil {
		store.Finalize()
		return nil, err
	}
	e = &Encoder{backend: backend, cfg: m.cfg, opts: o, store: store, ready: map[*model.Exec]bool{}}
	graphs := []struct {
		exec **model.Exec
		name string
		fn   func(*model.Scope, []*graph.Node) []*graph.Node
	}{
		{&e.full, "vit/full", func(s *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{Forward(s, e.cfg, in[0], GraphOptions{DType: o.DType}).CLS}
		}},
		{&e.masked, "vit/masked", func(s *model.Scope, in []*graph.Node) []*graph.Node {
			out := Forward(s, e.cfg, in[0], GraphOptions{DType: o.DType, Masking: o.Masking, Object: in[1]})
			return []*graph.Node{out.CLS, out.Object, out.Background}
		}},
		{&e.filled, "vit/filled", func(s *model.Scope, in []*graph.Node) []*graph.Node {
			out := Forward(s, e.cfg, in[0], GraphOptions{DType: o.DType, Masking: o.Masking, Object: in[1], Pieces: &[2]*graph.Node{in[2], in[3]}})
			return []*graph.Node{out.CLS, out.Object, out.Background}
		}},
	}
	for _, g := range graphs {
		exec, err := model.NewExec(backend, store, g.fn)
		if err != nil {
			e.Close()
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		*g.exec = exec.WithName(g.name)
	}
	return e, nil
}

// recovered turns a panic of the graph library into an error, so that none crosses a door of this package.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("vit: %w", r)
	default:
		*err = fmt.Errorf("vit: %v", r)
	}
}

// Compile compiles what embedding pictures with or without masks needs, so that its time can be told apart.
func (e *Encoder) Compile(masks bool) (err error) {
	defer recovered(&err)
	if e.store == nil {
		return errClosed
	}
	if masks {
		return e.prepareExec(e.masked, 2)
	}
	return e.prepareExec(e.full, 1)
}

// CompileTime is the time spent compiling so far.
func (e *Encoder) CompileTime() time.Duration { return e.compile }

// Batch is the number of pictures a call of the device takes.
func (e *Encoder) Batch() int { return e.opts.Batch }

// Dim is D, the width of an embedding.
func (e *Encoder) Dim() int { return e.cfg.HiddenSize }

// Bytes is the memory the weights take.
func (e *Encoder) Bytes() int64 {
	if e.store == nil {
		return 0
	}
	return e.store.ByteSize()
}

// Close releases weights and compiled graphs. The encoder cannot be used afterwards; closing twice is fine.
func (e *Encoder) Close() {
	if e == nil || e.store == nil {
		return
	}
	var ignored error
	defer recovered(&ignored)
	for _, exec := range []*model.Exec{e.full, e.masked, e.filled} {
		if exec != nil {
			exec.Finalize()
		}
	}
	e.store.Finalize()
	e.store = nil
}

var errClosed = errors.New("vit: the encoder is closed")

// prepareExec compiles a graph of the first n inputs once and checks its variables against the loaded weights.
func (e *Encoder) prepareExec(exec *model.Exec, n int) error {
	if e.ready[exec] {
		return nil
	}
	start := time.Now()
	b, c := e.opts.Batch, e.cfg
	pixels := shapes.Make(dtypes.Float32, b, c.NumChannels, c.ImageSize[0], c.ImageSize[1])
	inputs := []shapes.Shape{pixels, shapes.Make(dtypes.Bool, b, c.Patches()), pixels, pixels}[:n]
	g, err := exec.Compile(inputs...)
	if err != nil {
		return fmt.Errorf("%s: %w", exec.Name(), err)
	}
	if err := weights.Check(e.store, g); err != nil {
		return fmt.Errorf("%s: %w", exec.Name(), err)
	}
	e.compile += time.Since(start)
	e.ready[exec] = true
	return nil
}

// Encode embeds pictures, in order; any number of them. Those with a mask get the two masked set-ups too. A picture's
// embedding does not depend on the others. ctx is looked at between calls of the device.
func (e *Encoder) Encode(ctx context.Context, pictures []*Prepared) (out []Embedding, err error) {
	defer recovered(&err)
	if e.store == nil {
		return nil, errClosed
	}
	out = make([]Embedding, len(pictures))
	var plain, masked, filled []int
	for i, p := range pictures {
		if err := e.check(p); err != nil {
			return nil, fmt.Errorf("picture %d: %w", i+1, err)
		}
		switch {
		case p.Object == nil:
			plain = append(plain, i)
		case p.Pieces[0] == nil:
			masked = append(masked, i)
		default:
			filled = append(filled, i)
		}
	}
	for _, group := range []struct {
		rows   []int
		exec   *model.Exec
		inputs int
	}{{plain, e.full, 1}, {masked, e.masked, 2}, {filled, e.filled, 4}} {
		for from := 0; from < len(group.rows); from += e.opts.Batch {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rows := group.rows[from:min(from+e.opts.Batch, len(group.rows))]
			if err := e.call(group.exec, group.inputs, pictures, rows, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (e *Encoder) check(p *Prepared) error {
	if p == nil {
		return errors.New("nothing was prepared")
	}
	c := e.cfg
	n := c.NumChannels * c.ImageSize[0] * c.ImageSize[1]
	if len(p.Pixels) != n {
		return fmt.Errorf("%d pixel values, the model takes %d", len(p.Pixels), n)
	}
	if p.Object != nil && len(p.Object) != c.Patches() {
		return fmt.Errorf("%d patches, the model has %d", len(p.Object), c.Patches())
	}
	if (p.Pieces[0] == nil) != (p.Pieces[1] == nil) || p.Pieces[0] != nil && (p.Object == nil || len(p.Pieces[0]) != n || len(p.Pieces[1]) != n) {
		return errors.New("filled pixels must come in pairs of the picture's size, with patches")
	}
	return nil
}

// call runs one batch of rows, padded with the first of them.
func (e *Encoder) call(exec *model.Exec, inputs int, pictures []*Prepared, rows []int, out []Embedding) error {
	if err := e.prepareExec(exec, inputs); err != nil {
		return err
	}
	b, c := e.opts.Batch, e.cfg
	at := func(k int) *Prepared {
		if k < len(rows) {
			return pictures[rows[k]]
		}
		return pictures[rows[0]]
	}
	pixels := func(of func(*Prepared) []float32) *tensors.Tensor {
		n := len(of(at(0)))
		flat := make([]float32, b*n)
		for k := range b {
			copy(flat[k*n:], of(at(k)))
		}
		return tensors.FromFlatDataAndDimensions(flat, b, c.NumChannels, c.ImageSize[0], c.ImageSize[1])
	}
	args := []any{pixels(func(p *Prepared) []float32 { return p.Pixels })}
	if inputs > 1 {
		n := c.Patches()
		flat := make([]bool, b*n)
		for k := range b {
			copy(flat[k*n:], at(k).Object)
		}
		args = append(args, tensors.FromFlatDataAndDimensions(flat, b, n))
	}
	for side := range inputs / 4 * 2 {
		args = append(args, pixels(func(p *Prepared) []float32 { return p.Pieces[side] }))
	}
	results, err := exec.Call(args...)
	for _, a := range args {
		a.(*tensors.Tensor).FinalizeAll()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", exec.Name(), err)
	}
	flat := make([][]float32, len(results))
	for i, r := range results {
		flat[i], err = tensors.CopyFlatData[float32](r)
		r.FinalizeAll()
		if err != nil {
			return fmt.Errorf("%s: %w", exec.Name(), err)
		}
	}
	for k, row := range rows {
		p, d := pictures[row], c.HiddenSize
		vector := func(i int) []float32 { return append([]float32(nil), flat[i][k*d:(k+1)*d]...) }
		em := Embedding{Full: vector(0)}
		for _, object := range p.Object {
			if object {
				em.ObjectPatches++
			} else {
				em.BackgroundPatches++
			}
		}
		if em.ObjectPatches > 0 {
			em.ObjectOnly = vector(1)
		}
		if em.BackgroundPatches > 0 {
			em.BackgroundOnly = vector(2)
		}
		for _, v := range [][]float32{em.Full, em.ObjectOnly, em.BackgroundOnly} {
			for _, x := range v {
				if x-x != 0 {
					return fmt.Errorf("%s: the network gave %v for a picture: weights or pixels are out of range", exec.Name(), x)
				}
			}
		}
		out[row] = em
	}
	return nil
}
