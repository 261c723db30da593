package clipseg

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
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

// prefix is what the names of clip's own tensors begin with; positions is one of them.
const (
	prefix    = "clip."
	positions = prefix + "vision_model.embeddings.position_embedding.weight"
)

// table is the whole correspondence between a checkpoint and the variables of the given parts. The tensors of the
// others, and those of the image tower's later blocks, are known and left alone.
func table(cfg *Config, load ...part) []weights.Rule {
	rules := []weights.Rule{{Tensor: prefix + "logit_scale", Shape: []int{}}}
	for p, of := range [parts]func(*Config) []weights.Rule{visionTable, textTable, decoderTable} {
		rest := of(cfg)
		if !slices.Contains(load, part(p)) {
			weights.Unload(rest)
		}
		rules = append(rules, rest...)
	}
	return rules
}

// visionTable is the needed part of clip's image tower, and what makes the decoder's inputs of it.
func visionTable(cfg *Config) []weights.Rule {
	t := weights.Table(clip.ImageRules(&cfg.Config, prefix))
	for i := range t {
		r, block := t[i], 0
		fmt.Sscanf(r.Variable, "vision/block_%d/", &block)
		// [load] makes the variable
		otherGrid := r.Tensor == positions && cfg.Vision.ImageSize/cfg.Vision.PatchSize != cfg.Grid()
		if block >= cfg.depth() || otherGrid || r.Variable == "vision/projection/weights" {
			weights.Unload(t[i : i+1])
		}
	}
	reduceRules(&t, cfg)
	return t
}

// reduceRules adds the projections to the decoder's width.
func reduceRules(t *weights.Table, cfg *Config) {
	for i := range cfg.ExtractLayers {
		t.Dense(fmt.Sprintf("decoder.reduces.%d", i), fmt.Sprintf("reduce_%d", i), cfg.ReduceDim, cfg.Vision.HiddenSize)
	}
}

func textTable(cfg *Config) []weights.Rule { return clip.TextRules(&cfg.Config, prefix) }

func decoderTable(cfg *Config) []weights.Rule {
	var t weights.Table
	r, p := cfg.ReduceDim, cfg.ProjectionDim
	t.Dense("decoder.film_mul", "film_mul", r, p)
	t.Dense("decoder.film_add", "film_add", r, p)
	for i := range cfg.ExtractLayers {
		vit.BlockRules(&t, fmt.Sprintf("decoder.layers.%d.", i), fmt.Sprintf("layer_%d/", i), r,
			cfg.DecoderIntermediateSize)
	}
	k := cfg.enlarge()
	deconvolution := func(from, to string, in, out, k int) {
		t.As(from+".weight", to+"/weights", []int{in, out * k * k}, in, out, k, k)
		t.As(from+".bias", to+"/bias", nil, out)
	}
	const from = "decoder.transposed_convolution"
	if !cfg.ComplexDeconvolution {
		deconvolution(from, "deconvolution", r, 1, k[0])
		return t
	}
	t.As(from+".0.weight", "convolution/weights", []int{r, 9 * r}, r, r, 3, 3)
	t.As(from+".0.bias", "convolution/bias", nil, r)
	deconvolution(from+".2", "deconvolution_0", r, r/2, k[0])
	deconvolution(from+".4", "deconvolution_1", r/2, 1, k[1])
	return t
}

// load reads a part's weights into an empty store, the position embeddings resized to the images' grid.
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
	resized := preprocess.ResizeGrid(values[d:], [2]int{stored, stored}, [2]int{grid, grid}, d, false)
	value, err := weights.Value(slices.Concat(values[:d], resized), []int{1, 1 + grid*grid, d}, dtype)
	if err != nil {
		return err
	}
	_, err = store.Scope("/vision/tokens").CreateVariable("positions", value)
	return err
}
