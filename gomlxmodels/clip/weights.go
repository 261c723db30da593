package clip

import (
	"fmt"
	"strings"

	"antipode/gomlxmodels/weights"
)

// tower is one of the two halves of a model.
type tower int

const (
	imageTower tower = iota
	textTower
)

// logitScale is the tensor no tower uses: the logarithm of the factor of [Model.Logits].
const logitScale = "logit_scale"

// table is the whole correspondence between a checkpoint and the variables of the given towers. The tensors of the others
// are known and left alone.
func table(cfg *Config, set *weights.Set, load ...tower) []weights.Rule {
	rules := []weights.Rule{{Tensor: logitScale, Shape: []int{}}}
	for _, half := range []tower{imageTower, textTower} {
		if half == textTower && cfg.PicturesOnly { // another package reads them
			for _, name := range set.Names() {
				if strings.HasPrefix(name, "text_model.") || strings.HasPrefix(name, "text_projection.") {
					rules = append(rules, weights.Rule{Tensor: name})
				}
			}
			continue
		}
		part := textTable(cfg)
		if half == imageTower {
			part = imageTable(cfg)
		}
		loaded := false
		for _, l := range load {
			loaded = loaded || l == half
		}
		for _, r := range part {
			if !loaded {
				r = weights.Rule{Tensor: r.Tensor, Shape: r.Shape}
			}
			rules = append(rules, r)
		}
	}
	return rules
}

func imageTable(cfg *Config) []weights.Rule {
	c := &cfg.Vision
	t := &tableMaker{width: c.HiddenSize, hidden: c.IntermediateSize}
	grid := c.ImageSize / c.PatchSize
	const from = "vision_model.embeddings."
	t.as(from+"class_embedding", "vision/tokens/class", []int{1, 1, t.width}, t.width)
	t.as(from+"position_embedding.weight", "vision/tokens/positions", []int{1, 1 + grid*grid, t.width}, 1+grid*grid, t.width)
	t.as(from+"patch_embedding.weight", "vision/patch/weights", []int{t.width, c.NumChannels * c.PatchSize * c.PatchSize}, t.width, c.NumChannels, c.PatchSize, c.PatchSize)
	t.skip(from + "position_ids")
	t.norm("vision_model.pre_layrnorm", "vision/prenorm")
	t.blocks("vision_model.", cfg.layer, "vision/", c.Layers)
	t.norm("vision_model.post_layernorm", "vision/norm")
	t.as("visual_projection.weight", "vision/projection/weights", nil, cfg.ProjectionDim, t.width)
	return t.rules
}

func textTable(cfg *Config) []weights.Rule {
	c := &cfg.Text
	t := &tableMaker{width: c.HiddenSize, hidden: c.IntermediateSize}
	const from = "text_model.embeddings."
	t.as(from+"token_embedding.weight", "text/tokens/words", nil, c.VocabSize, t.width)
	t.as(from+"position_embedding.weight", "text/tokens/positions", nil, c.Context, t.width)
	t.skip(from + "position_ids")
	t.blocks("text_model.", "", "text/", c.Layers)
	t.norm("text_model.final_layer_norm", "text/norm")
	t.as("text_projection.weight", "text/projection/weights", nil, cfg.ProjectionDim, t.width)
	return t.rules
}

// tableMaker writes rules down.
type tableMaker struct {
	width, hidden int
	rules         []weights.Rule
}

func (t *tableMaker) as(from, to string, as []int, shape ...int) {
	t.rules = append(t.rules, weights.Rule{Tensor: from, Variable: to, Shape: shape, As: as})
}

func (t *tableMaker) skip(name string) { t.rules = append(t.rules, weights.Rule{Tensor: name}) }

func (t *tableMaker) dense(from, to string, out, in int) {
	t.as(from+".weight", to+"/weights", nil, out, in)
	t.as(from+".bias", to+"/bias", nil, out)
}

func (t *tableMaker) norm(from, to string) {
	t.as(from+".weight", to+"/gain", nil, t.width)
	t.as(from+".bias", to+"/offset", nil, t.width)
}

// blocks is the encoder, which both towers name alike.
func (t *tableMaker) blocks(from, name, to string, layers int) {
	if name == "" {
		name = "layers"
	}
	d, f := t.width, t.hidden
	for i := range layers {
		from, to := fmt.Sprintf("%sencoder.%s.%d.", from, name, i), fmt.Sprintf("%sblock_%d/", to, i)
		for part, name := range []string{"q_proj", "k_proj", "v_proj"} {
			t.rules = append(t.rules,
				weights.Rule{Tensor: from + "self_attn." + name + ".weight", Variable: to + "attention/qkv/weights", Shape: []int{d, d}, Part: part, Parts: 3},
				weights.Rule{Tensor: from + "self_attn." + name + ".bias", Variable: to + "attention/qkv/bias", Shape: []int{d}, Part: part, Parts: 3})
		}
		t.dense(from+"self_attn.out_proj", to+"attention/out", d, d)
		t.dense(from+"mlp.fc1", to+"mlp/fc1", f, d)
		t.dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
		t.norm(from+"layer_norm1", to+"norm1")
		t.norm(from+"layer_norm2", to+"norm2")
	}
}
