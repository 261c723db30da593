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

// lastDeviation is about the deviation of the class token after the last block of archipelago-clip, by which its norm divides.
const lastDeviation = 2.8

// start puts both towers of a CLIP into the store, where they stay as they are, and weights to begin with into the decoder.
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
	d.draw(cfg)
	return d.err
}

// decoder makes variables of the decoder, until one fails.
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

// align lets the decoder begin by what the towers know of each other: what it is given of the last block is CLIP's own projection of it, and the
// prompt's vector scales that, so that the sum over the class token is CLIP's cosine but for a factor. It needs a decoder as wide as the projection,
// whose first layer takes the last block.
func (d *decoder) align(set *weights.Set, cfg *clipseg.Config) error {
	var list [3][]float32
	var err error
	for i, name := range []string{"visual_projection.weight", "vision_model.post_layernorm.weight", "vision_model.post_layernorm.bias"} {
		if list[i], err = set.Float32(name); err != nil {
			return err
		}
	}
	projection, gain, offset := list[0], list[1], list[2]
	r, n := cfg.ReduceDim, cfg.Vision.HiddenSize
	if r != cfg.ProjectionDim || slices.Max(cfg.ExtractLayers) != cfg.ExtractLayers[len(cfg.ExtractLayers)-1] {
		return fmt.Errorf("clipseg: a decoder of width %d on the blocks %v cannot begin as a projection to %d", r, cfg.ExtractLayers, cfg.ProjectionDim)
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

// draw gives the other weights normal values with the deviation that keeps that of what comes in (package nn's is for deep networks whose norms come
// first; with it this decoder learns to heed its prompt much later).
func (d *decoder) draw(cfg *clipseg.Config) {
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
