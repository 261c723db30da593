package clipseg

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// part is one of the graphs a model is run as.
type part int

const (
	visionPart part = iota
	textPart
	decoderPart
	parts
)

const positions = "clip.vision_model.embeddings.position_embedding.weight"

// table is the whole correspondence between a checkpoint and the variables of the given parts. The tensors of the others, and
// those of the image tower's later blocks, are known and left alone.
func table(cfg *Config, load ...part) []weights.Rule {
	rules := []weights.Rule{
		{Tensor: "clip.logit_scale", Shape: []int{}},
		{Tensor: "clip.visual_projection.weight", Shape: []int{cfg.ProjectionDim, cfg.Vision.HiddenSize}},
	}
	for p, of := range [parts]func(*Config) []weights.Rule{visionTable, textTable, decoderTable} {
		loaded := false
		for _, l := range load {
			loaded = loaded || l == part(p)
		}
		for _, r := range of(cfg) {
			if !loaded {
				r = weights.Rule{Tensor: r.Tensor, Shape: r.Shape}
			}
			rules = append(rules, r)
		}
	}
	return rules
}

func visionTable(cfg *Config) []weights.Rule {
	c := &cfg.Vision
	t := &tableMaker{}
	d, stored := c.HiddenSize, c.ImageSize/c.PatchSize
	const from = "clip.vision_model."
	t.as(from+"embeddings.class_embedding", "vision/tokens/class", []int{1, 1, d}, d)
	// The variable has the pictures' grid; [load] makes it where that is another.
	t.as(positions, "vision/tokens/positions", []int{1, 1 + stored*stored, d}, 1+stored*stored, d)
	if stored != cfg.Grid() {
		t.rules[len(t.rules)-1].Variable = ""
	}
	t.as(from+"embeddings.patch_embedding.weight", "vision/patch/weights", []int{d, c.NumChannels * c.PatchSize * c.PatchSize}, d, c.NumChannels, c.PatchSize, c.PatchSize)
	t.skip(from + "embeddings.position_ids")
	t.norm(from+"pre_layrnorm", "vision/prenorm", d)
	for i := range c.Layers {
		at := len(t.rules)
		t.block(fmt.Sprintf("%sencoder.layers.%d.", from, i), fmt.Sprintf("vision/block_%d/", i), d, c.IntermediateSize)
		if i >= cfg.depth() {
			t.unload(at)
		}
	}
	t.norm(from+"post_layernorm", "vision/norm", d)
	for i := range cfg.ExtractLayers {
		t.dense(fmt.Sprintf("decoder.reduces.%d", i), fmt.Sprintf("reduce_%d", i), cfg.ReduceDim, d)
	}
	return t.rules
}

func textTable(cfg *Config) []weights.Rule {
	c := &cfg.Text
	t := &tableMaker{}
	const from = "clip.text_model."
	t.as(from+"embeddings.token_embedding.weight", "text/tokens/words", nil, c.VocabSize, c.HiddenSize)
	t.as(from+"embeddings.position_embedding.weight", "text/tokens/positions", nil, c.Context, c.HiddenSize)
	t.skip(from + "embeddings.position_ids")
	for i := range c.Layers {
		t.block(fmt.Sprintf("%sencoder.layers.%d.", from, i), fmt.Sprintf("text/block_%d/", i), c.HiddenSize, c.IntermediateSize)
	}
	t.norm(from+"final_layer_norm", "text/norm", c.HiddenSize)
	t.as("clip.text_projection.weight", "text/projection/weights", nil, cfg.ProjectionDim, c.HiddenSize)
	return t.rules
}

func decoderTable(cfg *Config) []weights.Rule {
	t := &tableMaker{}
	r, p := cfg.ReduceDim, cfg.ProjectionDim
	t.dense("decoder.film_mul", "film_mul", r, p)
	t.dense("decoder.film_add", "film_add", r, p)
	for i := range cfg.ExtractLayers {
		t.block(fmt.Sprintf("decoder.layers.%d.", i), fmt.Sprintf("layer_%d/", i), r, cfg.DecoderIntermediateSize)
	}
	k := cfg.enlarge()
	deconvolution := func(from, to string, in, out, k int) {
		t.as(from+".weight", to+"/weights", []int{in, out * k * k}, in, out, k, k)
		t.as(from+".bias", to+"/bias", nil, out)
	}
	const from = "decoder.transposed_convolution"
	if !cfg.ComplexDeconvolution {
		deconvolution(from, "deconvolution", r, 1, k[0])
		return t.rules
	}
	t.as(from+".0.weight", "convolution/weights", []int{r, 9 * r}, r, r, 3, 3)
	t.as(from+".0.bias", "convolution/bias", nil, r)
	deconvolution(from+".2", "deconvolution_0", r, r/2, k[0])
	deconvolution(from+".4", "deconvolution_1", r/2, 1, k[1])
	return t.rules
}

// tableMaker writes rules down.
type tableMaker struct{ rules []weights.Rule }

func (t *tableMaker) as(from, to string, as []int, shape ...int) {
	t.rules = append(t.rules, weights.Rule{Tensor: from, Variable: to, Shape: shape, As: as})
}

func (t *tableMaker) skip(name string) { t.rules = append(t.rules, weights.Rule{Tensor: name}) }

// unload leaves the rules from a place on in the table, but loads nothing by them.
func (t *tableMaker) unload(from int) {
	for i := range t.rules[from:] {
		r := &t.rules[from+i]
		*r = weights.Rule{Tensor: r.Tensor, Shape: r.Shape}
	}
}

func (t *tableMaker) dense(from, to string, out, in int) {
	t.as(from+".weight", to+"/weights", nil, out, in)
	t.as(from+".bias", to+"/bias", nil, out)
}

func (t *tableMaker) norm(from, to string, width int) {
	t.as(from+".weight", to+"/gain", nil, width)
	t.as(from+".bias", to+"/offset", nil, width)
}

// block is a layer of width d and hidden width f, which towers and decoder name alike.
func (t *tableMaker) block(from, to string, d, f int) {
	for part, name := range []string{"q_proj", "k_proj", "v_proj"} {
		t.rules = append(t.rules,
			weights.Rule{Tensor: from + "self_attn." + name + ".weight", Variable: to + "attention/qkv/weights", Shape: []int{d, d}, Part: part, Parts: 3},
			weights.Rule{Tensor: from + "self_attn." + name + ".bias", Variable: to + "attention/qkv/bias", Shape: []int{d}, Part: part, Parts: 3})
	}
	t.dense(from+"self_attn.out_proj", to+"attention/out", d, d)
	t.dense(from+"mlp.fc1", to+"mlp/fc1", f, d)
	t.dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
	t.norm(from+"layer_norm1", to+"norm1", d)
	t.norm(from+"layer_norm2", to+"norm2", d)
}

// load reads a part's weights into an empty store, the position embeddings resized to the pictures' grid.
func load(store *model.Store, set *weights.Set, cfg *Config, p part, dtype dtypes.DType) error {
	if err := weights.Load(store.RootScope(), set, table(cfg, p), dtype); err != nil {
		return err
	}
	stored, grid, d := cfg.Vision.ImageSize/cfg.Vision.PatchSize, cfg.Grid(), cfg.Vision.HiddenSize
	if p != visionPart || stored == grid {
		return nil
	}
	values, err := set.Float32(positions)
	if err != nil {
		return err
	}
	values = resizePositions(values, stored, grid, d)
	shape := []int{1, 1 + grid*grid, d}
	var value *tensors.Tensor
	switch dtype {
	case dtypes.BFloat16:
		value = tensors.FromFlatDataAndDimensions(bfloat16.FromFloat32s(values...), shape...)
	case dtypes.Float16:
		value = tensors.FromFlatDataAndDimensions(float16.FromFloat32s(values...), shape...)
	default:
		value = tensors.FromFlatDataAndDimensions(values, shape...)
	}
	_, err = store.Scope("/vision/tokens").CreateVariable("positions", value)
	return err
}

// resizePositions resizes a square of position embeddings, the class token's before them, as torch's bicubic interpolation
// does (align_corners=False, a = −0.75, no antialiasing, edges repeated).
//
// Shapes: values [1+from²,D] → [1+to²,D].
func resizePositions(values []float32, from, to, d int) []float32 {
	out := make([]float32, (1+to*to)*d)
	copy(out, values[:d])
	taps := make([][4]struct {
		at     int
		weight float64
	}, to)
	for i := range taps {
		x := (float64(i)+0.5)*float64(from)/float64(to) - 0.5
		low := math.Floor(x)
		for k := range taps[i] {
			at := int(low) - 1 + k
			taps[i][k].at = min(max(at, 0), from-1)
			taps[i][k].weight = cubic(math.Abs(x - float64(at)))
		}
	}
	for y := range to {
		for x := range to {
			row := out[(1+y*to+x)*d:][:d]
			for _, v := range taps[y] {
				for _, h := range taps[x] {
					w := float32(v.weight * h.weight)
					for c, value := range values[(1+v.at*from+h.at)*d:][:d] {
						row[c] += w * value
					}
				}
			}
		}
	}
	return out
}

// cubic is Keys' kernel (1981) with a = −0.75, for distances from 0 to 2.
func cubic(x float64) float64 {
	const a = -0.75
	if x <= 1 {
		return ((a+2)*x-(a+3))*x*x + 1
	}
	return a * (((x-5)*x+8)*x - 4)
}
