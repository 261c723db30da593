package vqgan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/textgen"
)

// Network is a network that writes the tokens of images.
type Network struct {
	Name string // for errors
	Load func(s *model.Store, dtype dtypes.DType) error
	// Inputs returns the inputs of Encode for texts, each as its tokens.
	Inputs func(texts [][]int32) []*tensors.Tensor
	// Encode is the graph of the decoder's contexts; nil, with Inputs, where it has none.
	Encode  func(scope *model.Scope, in []*graph.Node, dtype dtypes.DType) []*graph.Node
	Decoder func(dtype dtypes.DType) textgen.Decoder
	// Prompt returns the tokens before the image's.
	Prompt func(text []int32) []int32
	Range  Range
}

// DefaultBatch is the usual number of images that are generated at once.
const DefaultBatch = 4

// SamplerOptions are the options of [NewSampler].
type SamplerOptions struct {
	DType dtypes.DType // of the network that writes tokens; zero = Float32. The VQGAN computes in Float32
	Batch int          // images at once, 1 to 256; zero = DefaultBatch
}

// Request requests an image.
type Request struct {
	Text []int32 // as tokens
	Seed uint64
}

// Result is a generated image.
type Result struct {
	Image  *image.NRGBA
	Tokens []int32 // [N]
}

// Sampler generates images with a network that writes tokens and a VQGAN. It belongs to the goroutine that owns the
// device.
type Sampler struct {
	net    Network
	opts   SamplerOptions
	config *Config
	*runner.Runner
	texts     *runner.Graph // nil without contexts
	contexts  []shapes.Shape
	compiled  *graph.Graph // of texts
	generator *textgen.Generator
	image     *runner.Graph
}

// NewSampler reads the weights of a network and of a VQGAN. Graphs are compiled when they are first needed.
func NewSampler(backend compute.Backend, n Network, m *Model, o SamplerOptions) (s *Sampler, err error) {
	defer runner.Recovered(n.Name, &err)
	if backend == nil || m == nil {
		return nil, fmt.Errorf("%s: a sampler needs a backend and a VQGAN", n.Name)
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 256)); err != nil {
		return nil, err
	}
	s = &Sampler{net: n, opts: o, config: m.Config, Runner: runner.New(backend, n.Name, "sampler")}
	tokens := s.Net(func(store *model.Store) error { return n.Load(store, o.DType) })
	pixels := s.Net(func(store *model.Store) error { return m.Load(store, dtypes.Float32) })
	if err := cmp.Or(tokens.Load(), pixels.Load()); err != nil {
		s.Close()
		return nil, err
	}
	s.generator = textgen.NewGenerator(tokens, n.Decoder(o.DType))
	if n.Encode != nil {
		s.texts = tokens.Graph(n.Name+"/texts", func(scope *model.Scope, in []*graph.Node) []*graph.Node {
			out := n.Encode(scope, in, o.DType)
			s.contexts = nil
			for _, x := range out {
				s.contexts = append(s.contexts, x.Shape())
			}
			return out
		})
	}
	s.image = pixels.Graph(n.Name+"/image", func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{Forward(scope, m.Config, in[0], diffusion.GraphOptions{})}
	})
	return s, nil
}

// Generate makes an image for each request, in order; any number of them. Of the options it uses those of sampling and
// Trace; without Sample the most probable tokens are written. An image depends on its own request and the options
// alone: every call of the network is padded to Batch requests. progress may be nil; it is called after each token of a
// batch. ctx is checked before every token.
func (s *Sampler) Generate(ctx context.Context, requests []Request, o textgen.Options,
	progress func(done, total int)) (out []Result, err error) {
	if s == nil {
		return nil, errors.New("vqgan: the sampler is nil")
	}
	defer runner.Recovered(s.net.Name, &err)
	if err := s.Closed(); err != nil {
		return nil, err
	}
	o.MaxTokens, o.MinTokens, o.Limit, o.Ends = s.config.Length(), s.config.Length(), s.config.Tokens, nil
	trace := o.Trace
	o.Trace = func(step int, logits [][]float32) {
		if trace != nil {
			trace(step, logits)
		}
		if progress != nil {
			progress(step+1, o.MaxTokens)
		}
	}
	for part := range slices.Chunk(requests, s.opts.Batch) {
		results, err := s.batch(ctx, part, o)
		if err != nil {
			return nil, err
		}
		out = append(out, results...)
	}
	return out, nil
}

func (s *Sampler) batch(ctx context.Context, requests []Request, o textgen.Options) ([]Result, error) {
	var texts [][]int32
	var prompts []textgen.Request
	longest := 0
	for i := range s.opts.Batch {
		r := requests[min(i, len(requests)-1)]
		texts = append(texts, r.Text)
		if i < len(requests) {
			prompt := s.net.Prompt(r.Text)
			prompts = append(prompts, textgen.Request{Prompt: prompt, Seeds: []uint64{r.Seed}})
			longest = max(longest, len(prompt))
		}
	}
	contexts, err := s.encode(texts, longest, o)
	if err != nil {
		return nil, err
	}
	defer runner.Release(contexts...)
	var graphs []*graph.Graph
	if s.compiled != nil {
		graphs = append(graphs, s.compiled)
	}
	written, err := s.generator.Generate(ctx, contexts, prompts, o, graphs...)
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, w := range written {
		r, err := s.decode(w[0].Tokens)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// encode returns the decoder's contexts, after the graphs were compiled and their weights checked.
func (s *Sampler) encode(texts [][]int32, prompt int, o textgen.Options) (contexts []*tensors.Tensor, err error) {
	if s.texts == nil { // the generator needs one, of as many rows as there are texts
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(make([]float32, len(texts)), len(texts), 1)}, nil
	}
	inputs := s.net.Inputs(texts)
	defer runner.Release(inputs...)
	if s.compiled == nil {
		var of []shapes.Shape
		for _, t := range inputs {
			of = append(of, t.Shape())
		}
		if s.compiled, err = s.texts.Compile(of...); err != nil {
			return nil, err
		}
	}
	if err := s.generator.Compile(s.contexts, prompt, o, s.compiled); err != nil {
		return nil, err
	}
	return s.texts.Run(inputs...)
}

// decode turns the tokens of an image into pixels.
func (s *Sampler) decode(tokens []int32) (Result, error) {
	flat, err := s.image.Call(tensors.FromFlatDataAndDimensions(slices.Clone(tokens), 1, len(tokens)))
	if err != nil {
		return Result{}, err
	}
	values, err := runner.Row(flat[0], 0, 1)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", s.net.Name, err)
	}
	return Result{Image: s.net.Range.Image(values, s.config.Resolution), Tokens: tokens}, nil
}
