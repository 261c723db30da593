package diffusion

import (
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

// Options says how a [Sampler] works; the zero value is the default.
type Options struct {
	Batch int          // pictures sampled at once; 0 = DefaultBatch
	DType dtypes.DType // Float32 (default), BFloat16 or Float16: what the networks compute in. Latents stay float32
}

// DefaultBatch is the number of pictures sampled at once. Guidance asks the UNet twice for each already; on a processor more at
// once gain nothing.
const DefaultBatch = 1

// keptTexts is how many texts a sampler remembers what its text tower gave for.
const keptTexts = 128

// Sampler runs a pipeline on a device. It is for one goroutine at a time.
type Sampler struct {
	backend compute.Backend
	m       *Model
	opts    Options
	nets    [parts]*network
	mixer   *graph.Exec
	texts   map[string][]float32 // by token ids
	closed  bool
}

// network is one network with its weights.
type network struct {
	store *model.Store
	exec  *model.Exec
	ready map[string]bool // compiled, by shapes
}

// NewSampler makes a sampler on the backend, which stays the caller's. A network's weights are read, and its graphs compiled, when
// it is first needed; see [Sampler.Load].
func NewSampler(backend compute.Backend, m *Model, o Options) (s *Sampler, err error) {
	defer recovered(&err)
	if backend == nil || m == nil {
		return nil, errors.New("diffusion: a sampler needs a backend and a model")
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
	if o.Batch < 0 || o.Batch > 256 {
		return nil, fmt.Errorf("batch %d is not between 1 and 256", o.Batch)
	}
	s = &Sampler{backend: backend, m: m, opts: o, texts: map[string][]float32{}}
	s.mixer, err = graph.NewExec(backend, mix)
	if err != nil {
		return nil, fmt.Errorf("diffusion/step: %w", err)
	}
	s.mixer.SetMaxCache(-1)
	return s, nil
}

// Bytes is the memory the loaded weights take.
func (s *Sampler) Bytes() int64 {
	var n int64
	if s != nil {
		for _, l := range s.nets {
			if l != nil {
				n += l.store.ByteSize()
			}
		}
	}
	return n
}

// Load reads all weights now rather than with the first picture, so that [Sampler.Bytes] counts them.
func (s *Sampler) Load() (err error) {
	defer recovered(&err)
	for _, p := range []part{textPart, unetPart, decoderPart} {
		if _, err := s.network(p); err != nil {
			return err
		}
	}
	return nil
}

// Close releases weights and compiled graphs. The sampler cannot be used afterwards; closing twice is fine.
func (s *Sampler) Close() {
	if s == nil || s.closed {
		return
	}
	s.closed = true
	var ignored error
	defer recovered(&ignored)
	s.mixer.Finalize()
	for i, l := range s.nets {
		s.nets[i] = nil
		if l != nil {
			l.exec.Finalize()
			l.store.Finalize()
		}
	}
}

var errClosed = errors.New("diffusion: the sampler is closed")

// forward gives a network's name and graph.
func (s *Sampler) forward(p part) (string, func(*model.Scope, []*graph.Node) []*graph.Node) {
	m, o := s.m, GraphOptions{DType: s.opts.DType}
	switch p {
	case textPart:
		return "diffusion/text", func(scope *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{ForwardText(scope, m.text, in[0], o).Tokens}
		}
	case unetPart:
		return "diffusion/unet", func(scope *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{guided(scope, m.unet, in, o)}
		}
	default:
		return "diffusion/decoder", func(scope *model.Scope, in []*graph.Node) []*graph.Node {
			z := graph.DivScalar(in[0], m.vae.ScalingFactor)
			return []*graph.Node{ForwardDecoder(scope, m.vae, z, o).Picture}
		}
	}
}

// network gives a network, reading its weights the first time.
func (s *Sampler) network(p part) (*network, error) {
	if s.closed {
		return nil, errClosed
	}
	if l := s.nets[p]; l != nil {
		return l, nil
	}
	name, forward := s.forward(p)
	l := &network{store: model.NewStore(), ready: map[string]bool{}}
	err := s.m.load(s.backend, l.store, p, s.opts.DType)
	if err == nil {
		l.exec, err = model.NewExec(s.backend, l.store, forward)
	}
	if err != nil {
		l.store.Finalize()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l.exec = l.exec.WithName(name).SetMaxCache(-1)
	s.nets[p] = l
	return l, nil
}

// call runs a network; inputs and output stay the caller's to finalize.
func (s *Sampler) call(p part, inputs ...*tensors.Tensor) (*tensors.Tensor, error) {
	l, err := s.network(p)
	if err != nil {
		return nil, err
	}
	args := make([]any, len(inputs))
	dims := make([]shapes.Shape, len(inputs))
	for i, in := range inputs {
		args[i], dims[i] = in, in.Shape()
	}
	if key := fmt.Sprint(dims); !l.ready[key] {
		g, err := l.exec.Compile(dims...)
		if err == nil {
			err = weights.Check(l.store, g)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.exec.Name(), err)
		}
		l.ready[key] = true
	}
	out, err := l.exec.Call(args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.exec.Name(), err)
	}
	return out[0], nil
}

// flat runs a network, releases its inputs and brings its answer to the host.
func (s *Sampler) flat(p part, inputs ...*tensors.Tensor) ([]float32, error) {
	defer release(inputs...)
	out, err := s.call(p, inputs...)
	if err != nil {
		return nil, err
	}
	defer release(out)
	return tensors.CopyFlatData[float32](out)
}

func release(list ...*tensors.Tensor) {
	for _, t := range list {
		if t != nil {
			_ = t.FinalizeAll()
		}
	}
}
