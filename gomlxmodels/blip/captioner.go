package blip

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/weights"
)

// DefaultBatch is how many pictures a call takes where [Options] says nothing; maxRows is how many captions of several are written
// at once, at most.
const (
	DefaultBatch = 8
	maxRows      = 128
)

// Options are settings of a captioner; the zero value is float32 and [DefaultBatch].
type Options struct {
	DType dtypes.DType
	Batch int // pictures in a call: fewer where captions or beams of so many would be more than 128 rows
}

// Captioner is a model on a device. It belongs to the goroutine that owns the device.
type Captioner struct {
	backend   compute.Backend
	m         *Model
	opts      Options
	store     *model.Store
	image     *model.Exec
	graphs    map[int]*graph.Graph // of image, by batch
	generator *decode.Generator
	closed    bool
}

// Request is a picture and what is to be written of it.
type Request struct {
	Pixels []float32 // of [Model.Prepare]
	Prompt []int32   // of [Model.Prompt]
	Seeds  []uint64  // of each caption, where tokens are drawn
}

// NewCaptioner reads the weights. Graphs are compiled when they are first needed.
func NewCaptioner(backend compute.Backend, m *Model, o Options) (c *Captioner, err error) {
	defer recovered(&err)
	if backend == nil || m == nil {
		return nil, errors.New("blip: a captioner needs a backend and a model")
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
	if o.Batch < 0 || o.Batch > 1024 {
		return nil, fmt.Errorf("batch %d is not between 1 and 1024", o.Batch)
	}
	c = &Captioner{backend: backend, m: m, opts: o, store: model.NewStore(), graphs: map[int]*graph.Graph{}}
	if err := weights.Load(c.store.RootScope(), m.set, table(m.cfg), o.DType); err != nil {
		c.store.Finalize()
		return nil, err
	}
	g := GraphOptions{DType: o.DType}
	exec, err := model.NewExec(backend, c.store, func(s *model.Scope, in []*graph.Node) []*graph.Node {
		return ForwardImage(s, m.cfg, in[0], g).Context
	})
	if err != nil {
		c.store.Finalize()
		return nil, fmt.Errorf("blip/image: %w", err)
	}
	c.image = exec.WithName("blip/image")
	c.generator = decode.New(backend, c.store, m.network(g))
	return c, nil
}

// network is the decoder as package decode knows it.
func (m *Model) network(o GraphOptions) decode.Network {
	return decode.Network{Name: "blip/text", Vocab: m.cfg.Text.VocabSize, Positions: m.cfg.Text.Positions,
		Forward: func(s *model.Scope, in decode.Inputs) *graph.Node { return ForwardText(s, m.cfg, in, o).Logits }}
}

// recovered turns a panic of the graph library into an error, so that none crosses a door of this package.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("blip: %w", r)
	default:
		*err = fmt.Errorf("blip: %v", r)
	}
}

// Bytes is the memory the loaded weights take.
func (c *Captioner) Bytes() int64 {
	if c == nil || c.closed {
		return 0
	}
	return c.store.ByteSize()
}

// Close releases weights and compiled graphs. The captioner cannot be used afterwards; closing twice is fine.
func (c *Captioner) Close() {
	if c == nil || c.closed {
		return
	}
	c.closed = true
	var ignored error
	defer recovered(&ignored)
	c.generator.Close()
	c.image.Finalize()
	c.store.Finalize()
}

// Batch is how many pictures a call takes with these settings.
func (c *Captioner) Batch(s decode.Settings) int {
	return max(1, min(c.opts.Batch, maxRows/s.Width()))
}

// Caption writes the captions of pictures, in order; any number of pictures. Settings.End is the model's own. A caption depends on its
// picture, prompt, seed and the settings alone: every call is filled up to [Captioner.Batch] pictures. Requests of one call should
// have prompts of one length. ctx is looked at before every token.
func (c *Captioner) Caption(ctx context.Context, requests []Request, s decode.Settings) (out [][]decode.Text, err error) {
	defer recovered(&err)
	if c.closed {
		return nil, errors.New("blip: the captioner is closed")
	}
	s.End = int32(c.m.cfg.Text.EndToken)
	side := c.m.cfg.Vision.ImageSize
	n := 3 * side * side
	for i, r := range requests {
		if len(r.Pixels) != n {
			return nil, fmt.Errorf("picture %d: %d pixel values, the model takes %d", i+1, len(r.Pixels), n)
		}
	}
	for part := range slices.Chunk(requests, c.Batch(s)) {
		texts, err := c.part(ctx, part, s)
		if err != nil {
			return nil, err
		}
		out = append(out, texts...)
	}
	return out, nil
}

// contexts are the shapes of [Image].Context for b pictures.
func (c *Captioner) contexts(b int) []shapes.Shape {
	t, v := &c.m.cfg.Text, c.m.cfg.Vision.vit()
	one := shapes.Make(c.opts.DType, b, t.Heads, v.Prefix()+v.Patches(), t.HiddenSize/t.Heads)
	return slices.Repeat([]shapes.Shape{one}, 2*t.Layers)
}

// part is Caption for at most a batch.
func (c *Captioner) part(ctx context.Context, requests []Request, s decode.Settings) ([][]decode.Text, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	side, b := c.m.cfg.Vision.ImageSize, c.Batch(s)
	n := 3 * side * side
	flat := make([]float32, b*n)
	asked := make([]decode.Request, len(requests))
	for i := range b {
		r := requests[min(i, len(requests)-1)]
		copy(flat[i*n:], r.Pixels)
		if i < len(requests) {
			asked[i] = decode.Request{Prompt: r.Prompt, Seeds: r.Seeds}
		}
	}
	if c.graphs[b] == nil {
		g, err := c.image.Compile(shapes.Make(dtypes.Float32, b, 3, side, side))
		if err != nil {
			return nil, fmt.Errorf("blip/image: %w", err)
		}
		c.graphs[b] = g
	}
	longest := 0
	for _, r := range asked {
		longest = max(longest, len(r.Prompt))
	}
	if err := c.generator.Compile(c.contexts(b), longest, s, c.graphs[b]); err != nil {
		return nil, err
	}
	pixels := tensors.FromFlatDataAndDimensions(flat, b, 3, side, side)
	defer pixels.FinalizeAll()
	look, err := c.image.Call(pixels)
	if err != nil {
		return nil, fmt.Errorf("blip/image: %w", err)
	}
	defer func() {
		for _, t := range look {
			t.FinalizeAll()
		}
	}()
	return c.generator.Generate(ctx, look, asked, s, c.graphs[b])
}
