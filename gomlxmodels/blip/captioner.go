package blip

import (
	"cmp"
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
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// DefaultBatch is how many requests are written at once where [Options] says nothing; MaxRows bounds their captions together.
const (
	DefaultBatch = 8
	MaxRows      = 128
)

// Options are settings of a captioner; the zero value is float32 and [DefaultBatch].
type Options struct {
	DType dtypes.DType
	Batch int // requests written at once: fewer where their captions or beams would be more than 128 rows
}

// Captioner is a model on a device. It belongs to the goroutine that owns the device.
type Captioner struct {
	m         *Model
	opts      Options
	run       *runner.Runner
	image     *runner.Graph // one picture
	compiled  *graph.Graph  // of image
	join      *runner.Graph // of several pictures' contexts one
	generator *decode.Generator
	last      *picture // looked at last
}

// picture is what the decoder's blocks look at, on the device: [Image].Context of one picture.
type picture struct {
	key  string
	look []*tensors.Tensor
}

func (p *picture) release() {
	for _, t := range p.look {
		t.FinalizeAll()
	}
}

// Request is a picture and what is to be written of it.
type Request struct {
	Pixels []float32 // of [Model.Prepare]
	// Picture names the pixels, for example by their digest: neighbours of one name are looked at once; "" = a picture of its own.
	Picture string
	Prompt  []int32  // of [Model.Prompt]
	Seeds   []uint64 // of each caption, where tokens are drawn
}

// NewCaptioner reads the weights. Graphs are compiled when they are first needed.
func NewCaptioner(backend compute.Backend, m *Model, o Options) (c *Captioner, err error) {
	defer runner.Recovered("blip", &err)
	if backend == nil || m == nil {
		return nil, errors.New("blip: a captioner needs a backend and a model")
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 1024)); err != nil {
		return nil, err
	}
	c = &Captioner{m: m, opts: o, run: runner.New(backend, "blip", "captioner")}
	net := c.run.Net(func(s *model.Store) error { return weights.Load(s.RootScope(), m.set, table(m.cfg), o.DType) })
	if err := net.Load(); err != nil {
		return nil, err
	}
	g := GraphOptions{DType: o.DType}
	c.image = net.Graph("blip/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		return ForwardImage(s, m.cfg, in[0], g).Context
	})
	c.generator = decode.New(net, m.network(g))
	layers := 2 * m.cfg.Text.Layers
	none := c.run.Net(func(*model.Store) error { return nil })
	c.join = none.Graph("blip/join", func(_ *model.Scope, in []*graph.Node) []*graph.Node { // by picture, then by layer
		out := make([]*graph.Node, layers)
		for i := range out {
			var parts []*graph.Node
			for at := i; at < len(in); at += layers {
				parts = append(parts, in[at])
			}
			out[i] = graph.Concatenate(parts, 0)
		}
		return out
	})
	return c, nil
}

// network is the decoder as package decode knows it.
func (m *Model) network(o GraphOptions) decode.Network {
	return decode.Network{Name: "blip/text", Vocab: m.cfg.Text.VocabSize, Positions: m.cfg.Text.Positions,
		Forward: func(s *model.Scope, in decode.Inputs) *graph.Node { return ForwardText(s, m.cfg, in, o).Logits }}
}

// Bytes is the memory the loaded weights take.
func (c *Captioner) Bytes() int64 {
	if c == nil {
		return 0
	}
	return c.run.Bytes()
}

// Close releases weights and compiled graphs. The captioner cannot be used afterwards; closing twice is fine.
func (c *Captioner) Close() {
	if c == nil {
		return
	}
	var ignored error
	defer runner.Recovered("blip", &ignored)
	c.forget()
	c.run.Close()
}

// Batch is how many requests are written at once with these settings.
func (c *Captioner) Batch(s decode.Settings) int {
	return max(1, min(c.opts.Batch, MaxRows/s.Width()))
}

// Caption writes the captions of pictures, in order; any number of pictures. Settings.End is the model's own. A caption depends on its
// picture, prompt, seed and the settings alone: pictures are looked at one by one, and every call that writes is filled up to
// [Captioner.Batch] requests. Requests of one call should have prompts of one length. ctx is looked at before every picture and token.
func (c *Captioner) Caption(ctx context.Context, requests []Request, s decode.Settings) (out [][]decode.Text, err error) {
	defer runner.Recovered("blip", &err)
	if err := c.run.Closed(); err != nil {
		return nil, err
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

// compile makes the graphs ready and holds all weights against them, before anything runs.
func (c *Captioner) compile(requests []decode.Request, s decode.Settings) (err error) {
	side, longest := c.m.cfg.Vision.ImageSize, 0
	if c.compiled == nil {
		if c.compiled, err = c.image.Compile(shapes.Make(dtypes.Float32, 1, 3, side, side)); err != nil {
			return err
		}
	}
	for _, r := range requests {
		longest = max(longest, len(r.Prompt))
	}
	return c.generator.Compile(c.contexts(c.Batch(s)), longest, s, c.compiled)
}

// part is Caption for at most a batch.
func (c *Captioner) part(ctx context.Context, requests []Request, s decode.Settings) ([][]decode.Text, error) {
	var asked []decode.Request
	for _, r := range requests {
		asked = append(asked, decode.Request{Prompt: r.Prompt, Seeds: r.Seeds})
	}
	if err := c.compile(asked, s); err != nil {
		return nil, err
	}
	look, release, err := c.look(ctx, requests, c.Batch(s))
	if err != nil {
		return nil, err
	}
	defer release()
	return c.generator.Generate(ctx, look, asked, s, c.compiled)
}

// look gives the contexts of b requests, the last one repeated where there are fewer.
func (c *Captioner) look(ctx context.Context, requests []Request, b int) (contexts []*tensors.Tensor, release func(), err error) {
	var passed []*picture // all but the last
	defer func() {
		for _, p := range passed {
			p.release()
		}
	}()
	var all []*tensors.Tensor
	for i := range b {
		r := requests[min(i, len(requests)-1)]
		if i < len(requests) && (c.last == nil || r.Picture == "" || r.Picture != c.last.key) {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			p, err := c.see(r)
			if err != nil {
				return nil, nil, err
			}
			if c.last != nil {
				passed = append(passed, c.last)
			}
			c.last = p
		}
		all = append(all, c.last.look...)
	}
	if contexts, err = c.join.Run(all...); err != nil {
		return nil, nil, err
	}
	return contexts, (&picture{look: contexts}).release, nil
}

// see looks at one picture.
func (c *Captioner) see(r Request) (*picture, error) {
	side := c.m.cfg.Vision.ImageSize
	pixels := tensors.FromFlatDataAndDimensions(r.Pixels, 1, 3, side, side)
	defer pixels.FinalizeAll()
	look, err := c.image.Run(pixels)
	if err != nil {
		return nil, err
	}
	return &picture{key: r.Picture, look: look}, nil
}

// forget frees the picture looked at last.
func (c *Captioner) forget() {
	if c.last != nil {
		c.last.release()
		c.last = nil
	}
}
