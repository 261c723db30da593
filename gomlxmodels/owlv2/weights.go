package owlv2

import (
	"fmt"
	"slices"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/weights"
)

// part is one of the graphs a model is run as.
type part int

const (
	imagePart part = iota // tower and heads
	textPart
	parts
)

// table is the whole correspondence between a checkpoint and the variables of the given parts. The tensors of the
// others are known and left alone.
func table(c *Config, load ...part) []weights.Rule {
	var t weights.Table
	for p, of := range [parts]func(*Config) []weights.Rule{imageRules, textRules} {
		rules := of(c)
		if !slices.Contains(load, part(p)) {
			weights.Unload(rules)
		}
		t = append(t, rules...)
	}
	// of the CLIP that the model was made from, and of image-guided detection
	t.Skip(prefix+"logit_scale", prefix+"visual_projection.weight", "box_bias")
	for i := range 3 {
		t.Skip(fmt.Sprintf("objectness_head.dense%d.weight", i), fmt.Sprintf("objectness_head.dense%d.bias", i))
	}
	return t
}

const prefix = "owlv2."

func textRules(c *Config) []weights.Rule { return clip.TextRules(&c.Config, prefix) }

func imageRules(c *Config) []weights.Rule {
	t := weights.Table(clip.VisionRules(&c.Config, prefix+"vision_model.", "pre_layernorm"))
	d, p := c.Vision.HiddenSize, c.ProjectionDim
	t.Norm("layer_norm", "norm", d)
	t.Dense("class_head.dense0", "class/projection", p, d)
	t.Dense("class_head.logit_shift", "class/shift", 1, d)
	t.Dense("class_head.logit_scale", "class/scale", 1, d)
	t.Dense("box_head.dense0", "box/fc1", d, d)
	t.Dense("box_head.dense1", "box/fc2", d, d)
	t.Dense("box_head.dense2", "box/out", 4, d)
	return t
}
