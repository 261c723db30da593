package clipseg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/weights"
)

// lastDeviation is the approximate standard deviation of the class token after the last block of archipelago-clip, by
// which its final norm divides.
const lastDeviation = 2.8

// start loads both towers of the CLIP in a folder, frozen, and sets the initial weights of the decoder.
func start(store *model.Store, cfg *clipseg.Config, from string, seed uint64) error {
	set, err := weights.Open(from)
	if err != nil {
		return err
	}
	at := store.Scope("/clipseg")
	rules := weights.Table(append(clip.ImageRules(&cfg.Config, ""), clip.TextRules(&cfg.Config, "")...))
	rules.As("logit_scale", "logit_scale", nil)
	if err := weights.Load(at, set, rules, dtypes.Float32); err != nil {
		return err
	}
	for v := range store.IterVariables() {
		v.SetTrainable(false)
	}
	d := decoder{at: at, r: rand.New(rand.NewPCG(seed, 1<<32))}
	if err := d.align(set, cfg); err != nil {
		return err
	}
	d.random(cfg)
	return d.err
}

// decoder creates variables of the decoder; err is the first error.
type decoder struct {
	at  *model.Scope
	r   *rand.Rand
	err error
}

func (d *decoder) put(name string, flat []float32, dims ...int) {
	if d.err == nil {
		scope, last := model.SplitPath(model.JoinPath(d.at.Scope(), name))
		_, d.err = d.at.Store().Scope(scope).CreateVariable(last, tensors.FromFlatDataAndDimensions(flat, dims...))
	}
}

// align initializes the decoder's first layer from CLIP: its input is CLIP's projection of the last block, scaled by
// the prompt's embedding, so that for the class token its sum is proportional to CLIP's cosine similarity. The decoder
// must have the width of the projection, and its first layer must read the last block.
func (d *decoder) align(set *weights.Set, cfg *clipseg.Config) error {
	var list [3][]float32
	var err error
	for i, name := range []string{"visual_projection.weight", "vision_model.post_layernorm.weight",
		"vision_model.post_layernorm.bias"} {
		if list[i], err = set.Float32(name); err != nil {
			return err
		}
	}
	projection, gain, offset := list[0], list[1], list[2]
	r, n := cfg.ReduceDim, cfg.Vision.HiddenSize
	if r != cfg.ProjectionDim || slices.Max(cfg.ExtractLayers) != cfg.ExtractLayers[len(cfg.ExtractLayers)-1] {
		return fmt.Errorf("clipseg: a decoder of width %d on the blocks %v cannot start from a projection to %d",
			r, cfg.ExtractLayers, cfg.ProjectionDim)
	}
	reduce, bias, scale, open := make([]float32, r*n), make([]float32, r), make([]float32, r*r), make([]float32, r)
	for i := range r {
		for k := range n {
			w := projection[i*n+k]
			reduce[i*n+k] = w * gain[k] / lastDeviation
			bias[i] += w * offset[k]
		}
		scale[i*r+i], open[i] = 2, 1
	}
	d.put("reduce_0/weights", reduce, r, n)
	d.put("reduce_0/bias", bias, r)
	d.put("film_mul/weights", scale, r, r)
	d.put("film_mul/bias", open, r)
	return d.err
}

// random initializes the other weights with normal values whose standard deviation preserves that of the input. With
// the initializer of package nn, which is for deep pre-norm networks, the decoder learns to use the prompt much later.
func (d *decoder) random(cfg *clipseg.Config) {
	normal := func(name string, in int, dims ...int) {
		n := 1
		for _, k := range dims {
			n *= k
		}
		flat := make([]float32, n)
		for i := range flat {
			flat[i] = float32(d.r.NormFloat64() / math.Sqrt(float64(in)))
		}
		d.put(name+"/weights", flat, dims...)
	}
	r, f, k := cfg.ReduceDim, cfg.DecoderIntermediateSize, cfg.Vision.PatchSize/4
	for i := range cfg.ExtractLayers {
		if i > 0 {
			normal(fmt.Sprintf("reduce_%d", i), cfg.Vision.HiddenSize, r, cfg.Vision.HiddenSize)
		}
		layer := fmt.Sprintf("layer_%d/", i)
		normal(layer+"attention/qkv", r, 3*r, r)
		normal(layer+"attention/out", r, r, r)
		normal(layer+"mlp/fc1", r, f, r)
		normal(layer+"mlp/fc2", f, r, f)
	}
	normal("convolution", 9*r, r, 9*r)
	normal("deconvolution_0", r, r, r/2*k*k)
	normal("deconvolution_1", r/2, r/2, k*k)
}
