package groundingdino

import (
	"fmt"
	"slices"
	"strings"

	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/weights"
)

// part is one of the graphs a model is run as.
type part int

const (
	imagePart part = iota // backbone and levels
	textPart
	joinPart // encoder and decoder
	parts
)

// table is the whole correspondence between a checkpoint and the variables of the given parts. The tensors of the
// others are known and left alone.
func table(c *Config, set *weights.Set, load ...part) []weights.Rule {
	var t weights.Table
	for p, of := range [parts]func(*Config, *weights.Set) weights.Table{imageTable, textTable, joinTable} {
		rest := of(c, set)
		if !slices.Contains(load, part(p)) {
			weights.Unload(rest)
		}
		t = append(t, rest...)
	}
	for i := range c.DecoderLayers { // copies in some files: those of the head are read
		for k := range 3 {
			name := fmt.Sprintf("bbox_embed.%d.layers.%d", i, k)
			t.Skip("model.decoder."+name+".weight", "model.decoder."+name+".bias")
			if i > 0 && c.BoxShare {
				t.Skip(name+".weight", name+".bias")
			}
		}
	}
	return t
}

func imageTable(c *Config, _ *weights.Set) weights.Table {
	var t weights.Table
	s, d := &c.Swin, c.Width
	const from = "model.backbone.conv_encoder.model."
	t.As(from+"embeddings.patch_embeddings.projection.weight", "backbone/patches/weights",
		[]int{s.EmbedDim, 3 * s.PatchSize * s.PatchSize}, s.EmbedDim, 3, s.PatchSize, s.PatchSize)
	t.As(from+"embeddings.patch_embeddings.projection.bias", "backbone/patches/bias", nil, s.EmbedDim)
	t.Norm(from+"embeddings.norm", "backbone/patches_norm", s.EmbedDim)
	for i := range stages {
		stage, to, w := fmt.Sprintf("%sencoder.layers.%d.", from, i), fmt.Sprintf("backbone/stage_%d/", i), s.width(i)
		for k := range s.Depths[i] {
			swinRules(&t, s, fmt.Sprintf("%sblocks.%d.", stage, k), fmt.Sprintf("%sblock_%d/", to, k), i)
		}
		if i < stages-1 {
			next := fmt.Sprintf("backbone/stage_%d/merge/", i+1)
			t.Norm(stage+"downsample.norm", next+"norm", 4*w)
			t.As(stage+"downsample.reduction.weight", next+"reduction/weights", nil, 2*w, 4*w)
		}
		if i > 0 {
			t.Norm(fmt.Sprintf("%shidden_states_norms.stage%d", from, i+1), to+"norm", w)
		}
	}
	t.Skip(from+"swin.layernorm.weight", from+"swin.layernorm.bias") // of the bare backbone
	in := s.width(stages - 1)
	for l := range c.Levels {
		name, to := fmt.Sprintf("model.input_proj_vision.%d.", l), fmt.Sprintf("levels/level_%d/", l)
		k := 3
		if l < stages-1 {
			k, in = 1, s.width(l+1)
		}
		t.As(name+"0.weight", to+"projection/weights", []int{d, in * k * k}, d, in, k, k)
		t.As(name+"0.bias", to+"projection/bias", nil, d)
		t.Norm(name+"1", to+"norm", d)
		if l >= stages-1 {
			in = d
		}
	}
	return t
}

func swinRules(t *weights.Table, s *Swin, from, to string, stage int) {
	w, hidden, side := s.width(stage), s.hidden(stage), 2*s.Window-1
	const self = "attention.self."
	t.Norm(from+"layernorm_before", to+"norm1", w)
	t.Fused([]string{from + self + "query", from + self + "key", from + self + "value"}, to+"attention/qkv", w, w,
		s.QKVBias)
	t.As(from+self+"relative_position_bias_table", to+"attention/distances", nil, side*side, s.Heads[stage])
	t.Skip(from + self + "relative_position_index")
	t.Dense(from+"attention.output.dense", to+"attention/out", w, w)
	t.Norm(from+"layernorm_after", to+"norm2", w)
	t.Dense(from+"intermediate.dense", to+"mlp/fc1", hidden, w)
	t.Dense(from+"output.dense", to+"mlp/fc2", w, hidden)
}

func textTable(c *Config, set *weights.Set) weights.Table {
	t := weights.Table(textenc.Rules(c.Text, "model.text_backbone.", set))
	for i, r := range t {
		if r.Variable != "" {
			t[i].Variable = "text/" + r.Variable
		}
	}
	t.Dense("model.text_projection", "text_projection", c.Width, c.Text.HiddenSize)
	return t
}

func joinTable(c *Config, _ *weights.Set) weights.Table {
	var t weights.Table
	d := c.Width
	t.As("model.level_embed", "levels", nil, c.Levels, d)
	for i := range c.EncoderLayers {
		encoderRules(&t, c, fmt.Sprintf("model.encoder.layers.%d.", i), fmt.Sprintf("encoder/layer_%d/", i))
	}
	t.Dense("model.enc_output", "selection/projection", d, d)
	t.Norm("model.enc_output_norm", "selection/norm", d)
	perceptronRules(&t, "model.encoder_output_bbox_embed", "selection/box", d, d, d, 4)
	t.As("model.query_position_embeddings.weight", "decoder/queries", nil, c.Queries, d)
	for i := range c.DecoderLayers {
		decoderRules(&t, c, fmt.Sprintf("model.decoder.layers.%d.", i), fmt.Sprintf("decoder/layer_%d/", i))
		if to := c.box(i); i == 0 || !c.BoxShare {
			perceptronRules(&t, fmt.Sprintf("bbox_embed.%d", i), "decoder/"+to, d, d, d, 4)
		}
	}
	perceptronRules(&t, "model.decoder.reference_points_head", "decoder/positions", 2*d, d, d)
	t.Norm("model.decoder.layer_norm", "decoder/norm", d)
	return t
}

func encoderRules(t *weights.Table, c *Config, from, to string) {
	d, inner := c.Width, c.EncoderHidden/2
	fusion := from + "fusion_layer."
	t.Norm(fusion+"layer_norm_vision", to+"fusion/norm_vision", d)
	t.Norm(fusion+"layer_norm_text", to+"fusion/norm_text", d)
	for _, name := range []string{"vision", "text", "values_vision", "values_text"} {
		t.Dense(fusion+"attn."+name+"_proj", to+"fusion/"+name, inner, d)
	}
	for _, name := range []string{"vision", "text"} {
		t.Dense(fusion+"attn.out_"+name+"_proj", to+"fusion/out_"+name, d, inner)
		t.As(fusion+name+"_param", to+"fusion/gain_"+name, nil, d)
	}
	text := from + "text_enhancer_layer."
	attentionRules(t, text+"self_attn", to+"text/attention", d)
	t.Norm(text+"layer_norm_before", to+"text/norm1", d)
	t.Dense(text+"fc1", to+"text/mlp/fc1", inner, d)
	t.Dense(text+"fc2", to+"text/mlp/fc2", d, inner)
	t.Norm(text+"layer_norm_after", to+"text/norm2", d)
	layer := from + "deformable_layer."
	deformableRules(t, c, layer+"self_attn", to+"image/attention", c.EncoderHeads, c.EncoderPoints)
	t.Norm(layer+"self_attn_layer_norm", to+"image/norm1", d)
	t.Dense(layer+"fc1", to+"image/mlp/fc1", c.EncoderHidden, d)
	t.Dense(layer+"fc2", to+"image/mlp/fc2", d, c.EncoderHidden)
	t.Norm(layer+"final_layer_norm", to+"image/norm2", d)
}

func decoderRules(t *weights.Table, c *Config, from, to string) {
	d := c.Width
	attentionRules(t, from+"self_attn", to+"self", d)
	t.Norm(from+"self_attn_layer_norm", to+"norm_self", d)
	attentionRules(t, from+"encoder_attn_text", to+"text", d)
	t.Norm(from+"encoder_attn_text_layer_norm", to+"norm_text", d)
	deformableRules(t, c, from+"encoder_attn", to+"image", c.DecoderHeads, c.DecoderPoints)
	t.Norm(from+"encoder_attn_layer_norm", to+"norm_image", d)
	t.Dense(from+"fc1", to+"mlp/fc1", c.DecoderHidden, d)
	t.Dense(from+"fc2", to+"mlp/fc2", d, c.DecoderHidden)
	t.Norm(from+"final_layer_norm", to+"norm_mlp", d)
}

func attentionRules(t *weights.Table, from, to string, d int) {
	for _, name := range []string{"query", "key", "value"} {
		t.Dense(from+"."+name, to+"/"+name, d, d)
	}
	t.Dense(from+".out_proj", to+"/out", d, d)
}

func deformableRules(t *weights.Table, c *Config, from, to string, heads, points int) {
	d, n := c.Width, heads*c.Levels*points
	t.Dense(from+".sampling_offsets", to+"/offsets", 2*n, d)
	t.Dense(from+".attention_weights", to+"/weights", n, d)
	t.Dense(from+".value_proj", to+"/value", d, d)
	t.Dense(from+".output_proj", to+"/out", d, d)
}

// perceptronRules is dense layers between these widths.
func perceptronRules(t *weights.Table, from, to string, widths ...int) {
	for i, out := range widths[1:] {
		t.Dense(fmt.Sprintf("%s.layers.%d", from, i), fmt.Sprintf("%s/layer_%d", to, i), out, widths[i])
	}
}

// checkCopies reports a copy of a box head that is not equal to the head: one would have to know which is meant.
func checkCopies(c *Config, set *weights.Set) error {
	for _, name := range set.Names() {
		head := strings.TrimPrefix(name, "model.decoder.")
		if !strings.HasPrefix(head, "bbox_embed.") {
			continue
		}
		var layer int
		if _, err := fmt.Sscanf(head, "bbox_embed.%d.", &layer); err == nil && c.BoxShare {
			head = strings.Replace(head, fmt.Sprintf(".%d.", layer), ".0.", 1)
		}
		if head == name {
			continue
		}
		copied, err := set.Float32(name)
		if err != nil {
			return err
		}
		values, err := set.Float32(head)
		if err != nil {
			return err
		}
		if !slices.Equal(copied, values) {
			return fmt.Errorf("%s: tensor %q is not equal to %q, whose copy it should be", set.Dir(), name, head)
		}
	}
	return nil
}
