package blip

import (
	"fmt"

	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// The head's tensors. Checkpoints saved by a library that ties them to the words hold headBias alone; others hold all
// three, and then decoderBias is the one that is used.
const (
	headWeights = "text_decoder.cls.predictions.decoder.weight"
	wordWeights = "text_decoder.bert.embeddings.word_embeddings.weight"
	decoderBias = "text_decoder.cls.predictions.decoder.bias"
	headBias    = "text_decoder.cls.predictions.bias"
)

// table is the whole correspondence between a checkpoint and the variables.
func table(cfg *Config) []weights.Rule {
	var t weights.Table
	TowerRules(&t, cfg.Vision.ViT())
	d, tower := cfg.Text.HiddenSize, cfg.Vision.HiddenSize
	switch cfg.class {
	case MatchClass:
		bertRules(&t, &cfg.Text, "text_encoder.", "question", tower)
		t.Dense("itm_head", "match", 2, d)
		t.Skip("vision_proj.weight", "vision_proj.bias", "text_proj.weight", "text_proj.bias")
		return t
	case QuestionClass:
		bertRules(&t, &cfg.Text, "text_encoder.", "question", tower)
		bertRules(&t, &cfg.Text, "text_decoder.bert.", "text", d)
	default:
		bertRules(&t, &cfg.Text, "text_decoder.bert.", "text", tower)
	}
	const head = "text_decoder.cls.predictions."
	t.Dense(head+"transform.dense", "text/head/transform", d, d)
	t.Norm(head+"transform.LayerNorm", "text/head/norm", d)
	used, left := headBias, decoderBias
	if cfg.ownBias {
		used, left = left, used
	}
	t.As(used, "text/head/out/bias", nil, cfg.Text.VocabSize)
	t.Skip(left)
	if cfg.ownHead {
		t.As(headWeights, "text/head/out/weights", nil, cfg.Text.VocabSize, cfg.Text.HiddenSize)
	}
	return t
}

// TowerRules adds a tower as transformers names it in BLIP and BLIP-2, vision_model, with its variables below "vision".
func TowerRules(t *weights.Table, c *vit.Config) {
	d, f := c.HiddenSize, c.IntermediateSize
	h, w := c.PatchSize[0], c.PatchSize[1]
	const from = "vision_model.embeddings."
	t.As(from+"class_embedding", "vision/tokens/class", nil, 1, 1, d)
	t.As(from+"position_embedding", "vision/tokens/positions", nil, 1, 1+c.Patches(), d)
	t.As(from+"patch_embedding.weight", "vision/patch/weights", []int{d, c.NumChannels * h * w}, d, c.NumChannels, h, w)
	t.As(from+"patch_embedding.bias", "vision/patch/bias", nil, d)
	for i := range c.Layers {
		from, to := fmt.Sprintf("vision_model.encoder.layers.%d.", i), fmt.Sprintf("vision/block_%d/", i)
		t.As(from+"self_attn.qkv.weight", to+"attention/qkv/weights", nil, 3*d, d)
		if c.QKVBias {
			t.As(from+"self_attn.qkv.bias", to+"attention/qkv/bias", nil, 3*d)
		}
		t.Dense(from+"self_attn.projection", to+"attention/out", d, d)
		t.Dense(from+"mlp.fc1", to+"mlp/fc1", f, d)
		t.Dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
		t.Norm(from+"layer_norm1", to+"norm1", d)
		t.Norm(from+"layer_norm2", to+"norm2", d)
	}
	t.Norm("vision_model.post_layernorm", "vision/norm", d)
}

// bertRules adds a BERT without a head, with its variables below a scope. seen is the width of the tokens that its
// cross-attention attends to.
func bertRules(t *weights.Table, c *TextConfig, bert, scope string, seen int) {
	d, f := c.HiddenSize, c.IntermediateSize
	t.As(bert+"embeddings.word_embeddings.weight", scope+"/tokens/words", nil, c.VocabSize, d)
	t.As(bert+"embeddings.position_embeddings.weight", scope+"/tokens/positions", nil, c.Positions, d)
	t.Norm(bert+"embeddings.LayerNorm", scope+"/norm", d)
	t.Skip(bert + "embeddings.position_ids")
	for i := range c.Layers {
		from, to := fmt.Sprintf("%sencoder.layer.%d.", bert, i), fmt.Sprintf("%s/block_%d/", scope, i)
		for _, part := range []struct {
			from, to, norm string
			width          int // of what keys and values are made of
		}{{"attention", "attention", "norm1", d}, {"crossattention", "look", "norm2", seen}} {
			self := from + part.from + ".self."
			t.Dense(self+"query", to+part.to+"/query", d, d)
			t.Dense(self+"key", to+part.to+"/key", d, part.width)
			t.Dense(self+"value", to+part.to+"/value", d, part.width)
			t.Dense(from+part.from+".output.dense", to+part.to+"/out", d, d)
			t.Norm(from+part.from+".output.LayerNorm", to+part.norm, d)
		}
		t.Dense(from+"intermediate.dense", to+"mlp/fc1", f, d)
		t.Dense(from+"output.dense", to+"mlp/fc2", d, f)
		t.Norm(from+"output.LayerNorm", to+"norm3", d)
	}
}
