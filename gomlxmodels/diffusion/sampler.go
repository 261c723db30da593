package diffusion

import (
	"cmp"
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/runner"
)

// Options determine how a [Sampler] works; the zero value is the default.
type Options struct {
	Batch int // images sampled at once, at most; 0 = DefaultBatch
	// DType is what text tower, UNet and decoder compute in: Float32 (default), BFloat16 or Float16. Latents stay
	// float32, and so does the safety checker, so that its decisions do not depend on rounding.
	DType dtypes.DType
}

// DefaultBatch is the default number of images sampled at once. Guidance evaluates the UNet twice for each; on a CPU,
// larger batches are not faster.
const DefaultBatch = 1

// keptTexts is the number of texts whose context a sampler caches.
const keptTexts = 128

// Sampler runs a pipeline on a device. It is for one goroutine at a time.
type Sampler struct {
	m    *Model
	opts Options
	*runner.Runner
	graphs map[part]*runner.Graph
	mixer  *runner.Graph
	texts  map[string][]float32 // by token ids
	sizes  map[group][]int      // of the batches so far, growing
}

// NewSampler makes a sampler on the backend, which stays the caller's. A network's weights are read, and its graphs
// compiled, when it is first needed; see [Sampler.Load].
func NewSampler(backend compute.Backend, m *Model, o Options) (s *Sampler, err error) {
	defer runner.Recovered("diffusion", &err)
	if backend == nil || m == nil {
		return nil, errors.New("diffusion: a sampler needs a backend and a model")
	}
	if err := cmp.Or(runner.DType(&o.DType), runner.Count("batch", &o.Batch, DefaultBatch, 256)); err != nil {
		return nil, err
	}
	s = &Sampler{m: m, opts: o, Runner: runner.New(backend, "diffusion", "sampler"), graphs: map[part]*runner.Graph{},
		texts: map[string][]float32{}, sizes: map[group][]int{}}
	g := GraphOptions{DType: o.DType}
	add := func(p part, name string, dtype dtypes.DType, forward func(*model.Scope, []*graph.Node) *graph.Node) {
		net := s.Net(func(store *model.Store) error { return m.load(backend, store, p, dtype) })
		s.graphs[p] = net.Graph("diffusion/"+name, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{forward(scope, in)}
		})
	}
	add(textPart, "text", o.DType,
		func(scope *model.Scope, in []*graph.Node) *graph.Node { return m.text.context(scope, in, g) })
	add(unetPart, "unet", o.DType,
		func(scope *model.Scope, in []*graph.Node) *graph.Node { return guided(scope, m.unet, in, g) })
	add(decoderPart, "decoder", o.DType, func(scope *model.Scope, in []*graph.Node) *graph.Node {
		return ForwardDecoder(scope, m.vae, graph.DivScalar(in[0], m.vae.ScalingFactor), g).Image
	})
	if m.safety == SafetyOn {
		add(safetyPart, "safety", dtypes.Float32,
			func(scope *model.Scope, in []*graph.Node) *graph.Node { return m.checker.forward(scope, in[0]) })
	}
	none := s.Net(func(*model.Store) error { return nil })
	s.mixer = none.Graph("diffusion/step", func(_ *model.Scope, in []*graph.Node) []*graph.Node { return mix(in) })
	return s, nil
}
