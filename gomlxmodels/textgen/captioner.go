package textgen

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

	"antipode/gomlxmodels/runner"
)

// Default sizes of a [Captioner].
const (
	DefaultBatch = 8   // requests per call
	MaxRows      = 128 // captions or beams per call, at most
)

// CaptionerOptions are the options of [NewCaptioner].
type CaptionerOptions struct {
	DType dtypes.DType // of the computation: Float32 (default), BFloat16 or Float16

	// Batch is the number of requests per call, default [DefaultBatch]; fewer if their captions or beams would exceed
	// [ImageNetwork.MaxRows].
	Batch int
}

// ImageNetwork is an image captioning model: an image encoder and a text decoder.
type ImageNetwork struct {
	Name string  // of its package, for errors: "blip"
	Side int     // of its images, in pixels
	Ends []int32 // the tokens that end a caption
	Rows int     // captions or beams per call, at most; 0 = MaxRows

	// Load reads the weights into a store, in a dtype, for a backend.
	Load func(compute.Backend, *model.Store, dtypes.DType) error
	// Encode encodes images, [B,3,Side,Side] float32, into the decoder's contexts, [B,…] each.
	Encode  func(*model.Scope, *graph.Node, dtypes.DType) []*graph.Node
	Decoder func(dtypes.DType) Decoder
}

// MaxRows returns the largest number of captions or beams per call.
func (n *ImageNetwork) MaxRows() int { return cmp.Or(n.Rows, MaxRows) }

// Batch returns the number of requests per call, up to a limit, with these options.
func (n *ImageNetwork) Batch(limit int, o *Options) int {
	return max(1, min(limit, n.MaxRows()/o.Width()))
}

// Captioner is an image captioning model on a device. It must be used by the goroutine that owns the device.
type Captioner struct {
	net  ImageNetwork
	opts CaptionerOptions
	*runner.Runner
	image     *runner.Graph  // encodes one image
	contexts  []shapes.Shape // of its results
	compiled  *graph.Graph   // of image
	join      *runner.Graph  // concatenates the contexts of several images
	generator *Generator
	last      *encoded // the image encoded last
}

// encoded holds the contexts of one image, on the device.
type encoded struct {
	key      string
	contexts []*tensors.Tensor
}

// ImageRequest requests captions of an image.
type ImageRequest struct {
	Pixels []float32 // as the model's Prepare returns them, [3·Side·Side]
	// Image identifies the pixels, for example by their digest: consecutive requests of one image are encoded once.
	// "" = different from all others.
	Image  string
	Prompt []int32  // the tokens a caption starts with, the start token included
	Seeds  []uint64 // of each caption, if tokens are sampled
}

// NewCaptioner reads the weights. Graphs are compiled when they are first needed.
func NewCaptioner(backend compute.Backend, n ImageNetwork, o CaptionerOptions) (c *Captioner, err error) {
	defer runner.Recovered(n.Name, &err)
	if backend == nil {
		return nil, fmt.Errorf("%s: a captioner needs a backend", n.Name)
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 1024)); err != nil {
		return nil, err
	}
	c = &Captioner{net: n, opts: o, Runner: runner.New(backend, n.Name, "captioner")}
	net := c.Net(func(s *model.Store) error { return n.Load(backend, s, o.DType) })
	if err := net.Load(); err != nil {
		c.Runner.Close()
		return nil, err
	}
	c.image = net.Graph(n.Name+"/image", func(s *model.Scope, in []*graph.Node) []*graph.Node {
		out := n.Encode(s, in[0], o.DType)
		c.contexts = c.contexts[:0]
		for _, x := range out {
			c.contexts = append(c.contexts, x.Shape())
		}
		return out
	})
	c.generator = NewGenerator(net, n.Decoder(o.DType))
	none := c.Net(func(*model.Store) error { return nil })
	c.join = none.Graph(n.Name+"/join", func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		out := make([]*graph.Node, len(c.contexts))
		for i := range out { // in is ordered by image, then by context
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

// Close releases weights and compiled graphs. The captioner cannot be used afterwards; a second call does nothing.
func (c *Captioner) Close() {
	if c == nil {
		return
	}
	var ignored error
	defer runner.Recovered(c.net.Name, &ignored)
	if c.last != nil {
		runner.Release(c.last.contexts...)
		c.last = nil
	}
	c.Runner.Close()
}

// Caption writes the captions of any number of images, in order. Options.Ends is set to the model's. A caption depends
// on its image, prompt, seed and the options alone: images are encoded one by one, and every call of the decoder is
// padded to [ImageNetwork.Batch] requests. Prompts of one call should have equal lengths. ctx is checked before every
// image and token.
func (c *Captioner) Caption(ctx context.Context, requests []ImageRequest, o Options) (out [][]Text, err error) {
	defer runner.Recovered(c.net.Name, &err)
	if err := c.Closed(); err != nil {
		return nil, err
	}
	o.Ends = c.net.Ends
	n := 3 * c.net.Side * c.net.Side
	for i, r := range requests {
		if err := runner.Pixels(i, r.Pixels, n); err != nil {
			return nil, err
		}
	}
	for part := range slices.Chunk(requests, c.net.Batch(c.opts.Batch, &o)) {
		texts, err := c.captionBatch(ctx, part, o)
		if err != nil {
			return nil, err
		}
		out = append(out, texts...)
	}
	return out, nil
}

func (c *Captioner) captionBatch(ctx context.Context, requests []ImageRequest, o Options) ([][]Text, error) {
	var texts []Request
	longest := 0
	for _, r := range requests {
		texts = append(texts, Request{Prompt: r.Prompt, Seeds: r.Seeds})
		longest = max(longest, len(r.Prompt))
	}
	b := c.net.Batch(c.opts.Batch, &o)
	if err := c.compile(b, longest, o); err != nil {
		return nil, err
	}
	contexts, err := c.encode(ctx, requests, b)
	if err != nil {
		return nil, err
	}
	defer runner.Release(contexts...)
	return c.generator.Generate(ctx, contexts, texts, o, c.compiled)
}

// compile compiles the graphs for b requests with prompts of up to a number of tokens, and checks that they use all
// weights, before anything runs.
func (c *Captioner) compile(b, prompt int, o Options) (err error) {
	if c.compiled == nil {
		if c.compiled, err = c.image.Compile(shapes.Make(dtypes.Float32, 1, 3, c.net.Side, c.net.Side)); err != nil {
			return err
		}
	}
	var contexts []shapes.Shape
	for _, one := range c.contexts {
		one = one.Clone()
		one.Dimensions[0] = b
		contexts = append(contexts, one)
	}
	return c.generator.Compile(contexts, prompt, o, c.compiled)
}

// encode returns the contexts of b requests; the last one is repeated if there are fewer.
func (c *Captioner) encode(ctx context.Context, requests []ImageRequest, b int) ([]*tensors.Tensor, error) {
	var replaced []*encoded
	defer func() {
		for _, e := range replaced {
			runner.Release(e.contexts...)
		}
	}()
	var all []*tensors.Tensor
	for i := range b {
		r := requests[min(i, len(requests)-1)]
		if i < len(requests) && (c.last == nil || r.Image == "" || r.Image != c.last.key) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			e, err := c.encodeImage(r)
			if err != nil {
				return nil, err
			}
			if c.last != nil {
				replaced = append(replaced, c.last)
			}
			c.last = e
		}
		all = append(all, c.last.contexts...)
	}
	return c.join.Run(all...)
}

func (c *Captioner) encodeImage(r ImageRequest) (*encoded, error) {
	pixels := tensors.FromFlatDataAndDimensions(r.Pixels, 1, 3, c.net.Side, c.net.Side)
	defer pixels.FinalizeAll()
	contexts, err := c.image.Run(pixels)
	if err != nil {
		return nil, err
	}
	return &encoded{key: r.Image, contexts: contexts}, nil
}
