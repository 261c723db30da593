package clip

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// tower is one of the two halves of a model.
type tower int

const (
	imageTower tower = iota
	textTower
)

// The tensors no tower uses: the logarithm of the factor of [Model.Logits], and of a SigLIP what is added to it.
const (
	logitScale = "logit_scale"
	logitBias  = "logit_bias"
)

// table is the whole correspondence between a checkpoint and the variables of the given towers. The tensors of the
// others are known and left alone.
func table(cfg *Config, set *weights.Set, load ...tower) []weights.Rule {
	rules := []weights.Rule{{Tensor: logitScale, Shape: []int{}}}
	if cfg.SigLIP {
		rules = []weights.Rule{{Tensor: logitScale, Shape: []int{1}}, {Tensor: logitBias, Shape: []int{1}}}
	}
	for _, half := range []tower{imageTower, textTower} {
		if half == textTower && cfg.ImagesOnly { // another package reads them
			for _, name := range set.Names() {
				if strings.HasPrefix(name, "text_model.") || strings.HasPrefix(name, "text_projection.") {
					rules = append(rules, weights.Rule{Tensor: name})
				}
			}
			continue
		}
		part := TextRules(cfg, "")
		if half == imageTower {
			part = ImageRules(cfg, "")
		}
		if !slices.Contains(load, half) {
			weights.Unload(part)
		}
		rules = append(rules, part...)
	}
	return rules
}

// ImageRules is the correspondence between the image tower's tensors, whose names begin with a prefix, and the
// variables of [ForwardImage].
func ImageRules(cfg *Config, prefix string) []weights.Rule {
	if cfg.SigLIP {
		return vit.SigLIPRules(cfg.tower(), prefix+"vision_model.", "vision/")
	}
	t := weights.Table(VisionRules(cfg, prefix+"vision_model.", "pre_layrnorm"))
	t.As(prefix+"visual_projection.weight", "vision/projection/weights", nil, cfg.ProjectionDim, cfg.Vision.HiddenSize)
	return t
}

// VisionRules is [ImageRules] without the projection: the tower whose tensors begin with a prefix, and whose first norm
// has the given name, which CLIP's files misspell.
func VisionRules(cfg *Config, from, prenorm string) []weights.Rule {
	c := &cfg.Vision
	var t weights.Table
	d, p, n := c.HiddenSize, c.PatchSize, 1+c.ImageSize/c.PatchSize*(c.ImageSize/c.PatchSize)
	t.As(from+"embeddings.class_embedding", "vision/tokens/class", []int{1, 1, d}, d)
	t.As(from+"embeddings.position_embedding.weight", "vision/tokens/positions", []int{1, n, d}, n, d)
	t.As(from+"embeddings.patch_embedding.weight", "vision/patch/weights", []int{d, c.NumChannels * p * p}, d,
		c.NumChannels, p, p)
	t.Skip(from + "embeddings.position_ids")
	t.Norm(from+prenorm, "vision/prenorm", d)
	for i := range c.Layers {
		vit.BlockRules(&t, fmt.Sprintf("%sencoder.%s.%d.", from, cmp.Or(cfg.layer, "layers"), i),
			fmt.Sprintf("vision/block_%d/", i), d, c.IntermediateSize)
	}
	t.Norm(from+"post_layernorm", "vision/norm", d)
	return t
}

// TextRules is the correspondence between the text tower's tensors, whose names begin with a prefix, and the
// variables of [ForwardText].
func TextRules(cfg *Config, prefix string) []weights.Rule {
	c := &cfg.Text
	var t weights.Table
	d, from := c.HiddenSize, prefix+"text_model."
	t.As(from+"embeddings.token_embedding.weight", "text/tokens/words", nil, c.VocabSize, d)
	t.As(from+"embeddings.position_embedding.weight", "text/tokens/positions", nil, c.Context, d)
	t.Skip(from + "embeddings.position_ids")
	for i := range c.Layers {
		vit.BlockRules(&t, fmt.Sprintf("%sencoder.layers.%d.", from, i), fmt.Sprintf("text/block_%d/", i), d,
			c.IntermediateSize)
	}
	t.Norm(from+"final_layer_norm", "text/norm", d)
	if cfg.SigLIP {
		t.Dense(from+"head", "text/projection", cfg.ProjectionDim, d)
		return t
	}
	t.As(prefix+"text_projection.weight", "text/projection/weights", nil, cfg.ProjectionDim, d)
	return t
}
