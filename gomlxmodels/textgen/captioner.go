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

	"antipode/gomlxmodels/nn"
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
	// Images is the number of images that are encoded at once; 0 = 1 on a processor, which is not faster with more, and
	// Batch on a GPU.
	Images int
}

// ImageNetwork is an image captioning model: an image encoder and a text decoder.
type ImageNetwork struct {
	Name string  // of its package, for errors: "blip"
	Side int     // of its images, in pixels
	Ends []int32 // the tokens that end a caption
	Rows int     // captions or beams per call, at most; 0 = MaxRows

	// Load reads the weights into a store, in a dtype, for a backend.
	Load func(compute.Backend, *model.Store, dtypes.DType) error
	// Encode encodes images, [B,3,Side,Side] as [runner.Stack] takes them, into the decoder's contexts, [B,…] each.
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
	image     *runner.Graph  // encodes opts.Images images
	contexts  []shapes.Shape // of its results
	compiled  *graph.Graph   // of image
	join      *runner.Graph  // picks the contexts of requests out of those of images
	generator *Generator
	last      *encoded // the image encoded last
}

// encoded is an image and the call that encoded it.
type encoded struct {
	key      string
	contexts []*tensors.Tensor // of all images of the call, on the device
	row      int               // the image's
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
	encoded := 1
	if nn.OnGPU(backend) {
		encoded = cmp.Or(o.Batch, DefaultBatch)
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 1024),
		runner.Count("number of images", &o.Images, encoded, 1024)); err != nil {
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
		out, of := make([]*graph.Node, len(c.contexts)), graph.InsertAxes(in[0], -1)
		for i := range out { // in is ordered by call, then by context
			var parts []*graph.Node
			for at := 1 + i; at < len(in); at += len(out) {
				parts = append(parts, in[at])
			}
			out[i] = graph.Gather(graph.Concatenate(parts, 0), of)
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
// on its image, prompt, seed and the options alone: every call of the encoder is padded to [CaptionerOptions.Images]
// images, and every call of the decoder to [ImageNetwork.Batch] requests. Prompts of one call should have equal
// lengths. ctx is checked before every call.
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
		if c.compiled, err = c.image.Compile(shapes.Make(runner.Pixel(c.opts.DType), c.opts.Images, 3, c.net.Side,
			c.net.Side)); err != nil {
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
	row := make([]int32, b) // of each request among those of all calls
	var fresh []int         // requests whose images are encoded, in calls after that of the last image
	var calls []*tensors.Tensor
	kept := 0
	for i, r := range requests {
		switch {
		case i == 0 && c.last != nil && r.Image != "" && r.Image == c.last.key:
			calls, kept, row[0] = slices.Clone(c.last.contexts), c.opts.Images, int32(c.last.row)
		case i > 0 && r.Image != "" && r.Image == requests[i-1].Image:
			row[i] = row[i-1]
		default:
			row[i], fresh = int32(kept+len(fresh)), append(fresh, i)
		}
	}
	for i := len(requests); i < b; i++ {
		row[i] = row[len(requests)-1]
	}
	for some := range slices.Chunk(fresh, c.opts.Images) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		contexts, err := c.encodeImages(requests, some)
		if err != nil {
			return nil, err
		}
		if c.last != nil {
			defer runner.Release(c.last.contexts...)
		}
		c.last = &encoded{requests[some[len(some)-1]].Image, contexts, len(some) - 1}
		calls = append(calls, contexts...)
	}
	for len(calls) < b/c.opts.Images*len(c.contexts) { // so that one graph is for all numbers of images
		calls = append(calls, c.last.contexts...)
	}
	of := tensors.FromFlatDataAndDimensions(row, b)
	defer of.FinalizeAll()
	return c.join.Run(append([]*tensors.Tensor{of}, calls...)...)
}

// encodeImages returns the contexts of the images of some requests.
func (c *Captioner) encodeImages(requests []ImageRequest, some []int) ([]*tensors.Tensor, error) {
	list := make([][]float32, len(some))
	for k, i := range some {
		list[k] = requests[i].Pixels
	}
	pixels, err := runner.Stack(c.Runner, runner.Pixel(c.opts.DType), list, c.opts.Images, 3, c.net.Side, c.net.Side)
	if err != nil {
		return nil, err
	}
	defer pixels.FinalizeAll()
	return c.image.Run(pixels)
}
