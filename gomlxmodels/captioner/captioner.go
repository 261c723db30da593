package captioner

import (
	"cmp"
	"context"
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
)

// DefaultBatch is how many requests are written at once where [Options] says nothing; MaxRows bounds their captions together.
const (
	DefaultBatch = 8
	MaxRows      = 128
)

// Options are settings of a captioner; the zero value is float32 and [DefaultBatch].
type Options struct {
	DType dtypes.DType // what is computed in: Float32 (default), BFloat16 or Float16
	Batch int          // requests written at once: fewer where their captions or beams would be more than [Network.Rows]
}

// Network is a model as a captioner runs it.
type Network struct {
	Name string  // of its package, for errors: "blip"
	Side int     // of its pictures, in pixels
	Ends []int32 // the tokens that end a caption
	Rows int     // captions or beams written together, at most; 0 = MaxRows
	// Load fills a store with the weights, in a dtype, for a backend.
	Load func(compute.Backend, *model.Store, dtypes.DType) error
	// See looks at pictures, [B,3,Side,Side] float32, and gives what the decoder takes as its contexts, [B,…] each.
	See     func(*model.Scope, *graph.Node, dtypes.DType) []*graph.Node
	Decoder func(dtypes.DType) decode.Network
}

// Most is how many captions or beams are written together, at most.
func (n *Network) Most() int { return cmp.Or(n.Rows, MaxRows) }

// Batch is how many requests are written at once, of up to most, with these settings.
func (n *Network) Batch(most int, s *decode.Settings) int {
	return max(1, min(most, n.Most()/s.Width()))
}

// Captioner is a model on a device. It belongs to the goroutine that owns the device.
type Captioner struct {
	net       Network
	opts      Options
	run       *runner.Runner
	image     *runner.Graph  // one picture
	seen      []shapes.Shape // of what it gives
	compiled  *graph.Graph   // of image
	join      *runner.Graph  // of several pictures' contexts one
	generator *decode.Generator
	last      *picture // looked at last
}

// picture is what a decoder takes of one picture, on the device.
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
	Pixels []float32 // the model's own preparation of it, [3·Side·Side]
	// Picture names the pixels, for example by their digest: neighbours of one name are looked at once; "" = a picture of its own.
	Picture string
	Prompt  []int32  // the tokens a caption begins with, the start token included
	Seeds   []uint64 // of each caption, where tokens are drawn
}

// New reads the weights. Graphs are compiled when they are first needed.
func New(backend compute.Backend, n Network, o Options) (c *Captioner, err error) {
	defer runner.Recovered(n.Name, &err)
	if backend == nil {
		return nil, fmt.Errorf("%s: a captioner needs a backend", n.Name)
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 1024)); err != nil {
		return nil, err
	}
	c = &Captioner{net: n, opts: o, run: runner.New(backend, n.Name, "captioner")}
	net := c.run.Net(func(s *model.Store) error { return n.Load(backend, s, o.DType) })
	if err := net.Load(); err != nil {
		c.run.Close()
		return nil, err
	}
	c.image = net.Graph(n.Name+"/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := n.See(s, in[0], o.DType)
		c.seen = c.seen[:0]
		for _, x := range out {
			c.seen = append(c.seen, x.Shape())
		}
		return out
	})
	c.generator = decode.New(net, n.Decoder(o.DType))
	none := c.run.Net(func(*model.Store) error { return nil })
	c.join = none.Graph(n.Name+"/join", func(_ *model.Scope, in []*graph.Node) []*graph.Node { // by picture, then by context
		out := make([]*graph.Node, len(c.seen))
		for i := range out {
			var parts []*graph.Node
			for at := i; at < len(in); at += len(out) {
				parts = append(parts, in[at])
			}
			out[i] = graph.Concatenate(parts, 0)
		}
		return out
	})
	return c, nil
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
	defer runner.Recovered(c.net.Name, &ignored)
	if c.last != nil {
		c.last.release()
		c.last = nil
	}
	c.run.Close()
}

// Caption writes the captions of pictures, in order; any number of pictures. Settings.Ends are the model's own. A caption depends on its
// picture, prompt, seed and the settings alone: pictures are looked at one by one, and every call that writes is filled up to
// [Network.Batch] requests. Requests of one call should have prompts of one length. ctx is looked at before every picture and token.
func (c *Captioner) Caption(ctx context.Context, requests []Request, s decode.Settings) (out [][]decode.Text, err error) {
	defer runner.Recovered(c.net.Name, &err)
	if err := c.run.Closed(); err != nil {
		return nil, err
	}
	s.Ends = c.net.Ends
	n := 3 * c.net.Side * c.net.Side
	for i, r := range requests {
		if err := runner.Pixels(i, r.Pixels, n); err != nil {
			return nil, err
		}
	}
	for part := range slices.Chunk(requests, c.net.Batch(c.opts.Batch, &s)) {
		texts, err := c.part(ctx, part, s)
		if err != nil {
			return nil, err
		}
		out = append(out, texts...)
	}
	return out, nil
}

// compile makes the graphs ready for b requests at once, and holds all weights against them, before anything runs.
func (c *Captioner) compile(requests []decode.Request, b int, s decode.Settings) (err error) {
	if c.compiled == nil {
		if c.compiled, err = c.image.Compile(shapes.Make(dtypes.Float32, 1, 3, c.net.Side, c.net.Side)); err != nil {
			return err
		}
	}
	longest := 0
	for _, r := range requests {
		longest = max(longest, len(r.Prompt))
	}
	var contexts []shapes.Shape
	for _, one := range c.seen {
		one = one.Clone()
		one.Dimensions[0] = b
		contexts = append(contexts, one)
	}
	return c.generator.Compile(contexts, longest, s, c.compiled)
}

// part is Caption for at most a batch.
func (c *Captioner) part(ctx context.Context, requests []Request, s decode.Settings) ([][]decode.Text, error) {
	var asked []decode.Request
	for _, r := range requests {
		asked = append(asked, decode.Request{Prompt: r.Prompt, Seeds: r.Seeds})
	}
	b := c.net.Batch(c.opts.Batch, &s)
	if err := c.compile(asked, b, s); err != nil {
		return nil, err
	}
	look, release, err := c.look(ctx, requests, b)
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
	pixels := tensors.FromFlatDataAndDimensions(r.Pixels, 1, 3, c.net.Side, c.net.Side)
	defer pixels.FinalizeAll()
	look, err := c.image.Run(pixels)
	if err != nil {
		return nil, err
	}
	return &picture{key: r.Picture, look: look}, nil
}
