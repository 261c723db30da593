package blip

import (
	"fmt"

	"antipode/gomlxmodels/weights"
)

// The head's tensors. Checkpoints saved by a library that ties them to the words hold headBias alone; others hold all three, and
// then decoderBias is the one that is used.
const (
	headWeights = "text_decoder.cls.predictions.decoder.weight"
	decoderBias = "text_decoder.cls.predictions.decoder.bias"
	headBias    = "text_decoder.cls.predictions.bias"
)

// table is the whole correspondence between a checkpoint and the variables.
func table(cfg *Config) []weights.Rule {
	t := &tableMaker{}
	t.vision(&cfg.Vision)
	t.text(&cfg.Text, cfg.Vision.HiddenSize)
	used, left := headBias, decoderBias
	if cfg.ownBias {
		used, left = left, used
	}
	t.as(used, "text/head/out/bias", nil, cfg.Text.VocabSize)
	t.skip(left)
	if cfg.ownHead {
		t.as(headWeights, "text/head/out/weights", nil, cfg.Text.VocabSize, cfg.Text.HiddenSize)
	}
	return t.rules
}

// tableMaker writes rules down.
type tableMaker struct{ rules []weights.Rule }

func (t *tableMaker) as(from, to string, as []int, shape ...int) {
	t.rules = append(t.rules, weights.Rule{Tensor: from, Variable: to, Shape: shape, As: as})
}

func (t *tableMaker) skip(name string) { t.rules = append(t.rules, weights.Rule{Tensor: name}) }

func (t *tableMaker) dense(from, to string, out, in int) {
	t.as(from+".weight", to+"/weights", nil, out, in)
	t.as(from+".bias", to+"/bias", nil, out)
}

func (t *tableMaker) norm(from, to string, width int) {
	t.as(from+".weight", to+"/gain", nil, width)
	t.as(from+".bias", to+"/offset", nil, width)
}

func (t *tableMaker) vision(c *VisionConfig) {
	d, f, p := c.HiddenSize, c.IntermediateSize, c.PatchSize
	const from = "vision_model.embeddings."
	t.as(from+"class_embedding", "vision/tokens/class", nil, 1, 1, d)
	t.as(from+"position_embedding", "vision/tokens/positions", nil, 1, 1+c.vit().Patches(), d)
	t.as(from+"patch_embedding.weight", "vision/patch/weights", []int{d, c.NumChannels * p * p}, d, c.NumChannels, p, p)
	t.as(from+"patch_embedding.bias", "vision/patch/bias", nil, d)
	for i := range c.Layers {
		from, to := fmt.Sprintf("vision_model.encoder.layers.%d.", i), fmt.Sprintf("vision/block_%d/", i)
		t.dense(from+"self_attn.qkv", to+"attention/qkv", 3*d, d)
		t.dense(from+"self_attn.projection", to+"attention/out", d, d)
		t.dense(from+"mlp.fc1", to+"mlp/fc1", f, d)
		t.dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
		t.norm(from+"layer_norm1", to+"norm1", d)
		t.norm(from+"layer_norm2", to+"norm2", d)
	}
	t.norm("vision_model.post_layernorm", "vision/norm", d)
}

func (t *tableMaker) text(c *TextConfig, tower int) {
	d, f := c.HiddenSize, c.IntermediateSize
	const bert, head = "text_decoder.bert.", "text_decoder.cls.predictions."
	t.as(bert+"embeddings.word_embeddings.weight", "text/tokens/words", nil, c.VocabSize, d)
	t.as(bert+"embeddings.position_embeddings.weight", "text/tokens/positions", nil, c.Positions, d)
	t.norm(bert+"embeddings.LayerNorm", "text/norm", d)
	t.skip(bert + "embeddings.position_ids")
	for i := range c.Layers {
		from, to := fmt.Sprintf("%sencoder.layer.%d.", bert, i), fmt.Sprintf("text/block_%d/", i)
		for _, part := range []struct {
			from, to, norm string
			width          int // of what keys and values are made of
		}{{"attention", "attention", "norm1", d}, {"crossattention", "look", "norm2", tower}} {
			self := from + part.from + ".self."
			t.dense(self+"query", to+part.to+"/query", d, d)
			t.dense(self+"key", to+part.to+"/key", d, part.width)
			t.dense(self+"value", to+part.to+"/value", d, part.width)
			t.dense(from+part.from+".output.dense", to+part.to+"/out", d, d)
			t.norm(from+part.from+".output.LayerNorm", to+part.norm, d)
		}
		t.dense(from+"intermediate.dense", to+"mlp/fc1", f, d)
		t.dense(from+"output.dense", to+"mlp/fc2", d, f)
		t.norm(from+"output.LayerNorm", to+"norm3", d)
	}
	t.dense(head+"transform.dense", "text/head/transform", d, d)
	t.norm(head+"transform.LayerNorm", "text/head/norm", d)
}
