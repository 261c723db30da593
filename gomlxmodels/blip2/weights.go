package blip2

import (
	"fmt"
	"strings"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/weights"
)

// need says which parts of a model are read; those of several are joined by |.
type need int

// The parts of a model.
const (
	tower    need = 1 << iota // the vision tower
	queries                   // the Q-Former, for images
	texts                     // the Q-Former, for texts, and their projection
	project                   // the projection of the queries
	language                  // the language model, and the projection before it
)

// The tensors that tell what a folder holds.
const (
	headWeights      = "language_model.lm_head.weight"
	wordWeights      = "language_model.model.decoder.embed_tokens.weight"
	visionProjection = "vision_projection"
	textProjection   = "text_projection"
)

// rules is a table while it is written down.
type rules struct {
	weights.Table
	want need
}

// of adds what belongs to parts; tensors of parts that are not read are known, and left alone.
func (r *rules) of(parts need, add func(t *weights.Table)) {
	from := len(r.Table)
	add(&r.Table)
	if r.want&parts == 0 {
		weights.Unload(r.Table[from:])
	}
}

// table is the correspondence between a checkpoint and the variables of the parts that are wanted.
func table(cfg *Config, set *weights.Set, want need) []weights.Rule {
	r := &rules{want: want}
	r.of(tower, func(t *weights.Table) { blip.TowerRules(t, &cfg.Vision) })
	r.qformer(cfg)
	q := &cfg.QFormer
	d := q.HiddenSize
	r.of(project, func(t *weights.Table) { t.Dense(visionProjection, "shared", cfg.SharedSize, d) })
	r.of(texts, func(t *weights.Table) {
		t.Dense(textProjection, "qformer/module_1", cfg.SharedSize, d)
		t.As("embeddings.word_embeddings.weight", "qformer/embeddings/words", nil, q.VocabSize, d)
		t.As("embeddings.position_embeddings.weight", "qformer/embeddings/positions", nil, q.Positions, d)
	})
	r.Skip("embeddings.position_ids", "itm_head.weight", "itm_head.bias")
	if want&language != 0 {
		r.language(cfg)
		return r.Table
	}
	for _, name := range set.Names() {
		if strings.HasPrefix(name, "language_") {
			r.Skip(name)
		}
	}
	return r.Table
}

// qformer adds the Q-Former.
func (r *rules) qformer(cfg *Config) {
	c := &cfg.QFormer
	d, f, e := c.HiddenSize, c.IntermediateSize, cfg.Vision.HiddenSize
	r.of(queries, func(t *weights.Table) { t.As("query_tokens", "qformer/queries", nil, 1, cfg.Queries, d) })
	r.of(queries|texts, func(t *weights.Table) { t.Norm("qformer.layernorm", "qformer/embeddings/norm", d) })
	for i := range c.Layers {
		from, to := fmt.Sprintf("qformer.encoder.layer.%d.", i), fmt.Sprintf("qformer/block_%d/", i)
		r.of(queries|texts, func(t *weights.Table) {
			self := from + "attention.attention."
			t.Fused([]string{self + "query", self + "key", self + "value"}, to+"attention/qkv", d, d, true)
			t.Dense(from+"attention.output.dense", to+"attention/out", d, d)
			t.Norm(from+"attention.output.LayerNorm", to+"norm1", d)
		})
		mlp := func(t *weights.Table, kind, to, norm string) {
			t.Dense(from+"intermediate"+kind+".dense", to+"mlp/fc1", f, d)
			t.Dense(from+"output"+kind+".dense", to+"mlp/fc2", d, f)
			t.Norm(from+"output"+kind+".LayerNorm", to+norm, d)
		}
		r.of(queries, func(t *weights.Table) {
			if i%c.LookEvery == 0 {
				look := from + "crossattention."
				t.Dense(look+"attention.query", to+"look/query", d, d)
				t.Dense(look+"attention.key", to+"look/key", d, e)
				t.Dense(look+"attention.value", to+"look/value", d, e)
				t.Dense(look+"output.dense", to+"look/out", d, d)
				t.Norm(look+"output.LayerNorm", to+"look/norm", d)
			}
			mlp(t, "_query", to+"queries/", "norm")
		})
		r.of(texts, func(t *weights.Table) {
			if c.ReadsTexts {
				mlp(t, "", to, "norm2")
			}
		})
	}
}

// language adds the language model.
func (r *rules) language(cfg *Config) {
	c, t := &cfg.Text, &r.Table
	d, f, p := c.HiddenSize, c.IntermediateSize, c.WordSize
	t.Dense("language_projection", "text/projection", d, cfg.QFormer.HiddenSize)
	const opt = "language_model.model.decoder."
	t.As(wordWeights, "text/tokens/words", nil, c.VocabSize, p)
	t.As(opt+"embed_positions.weight", "text/tokens/positions", nil, c.Positions+offset, d)
	if p != d {
		t.As(opt+"project_in.weight", "text/in/weights", nil, d, p)
		t.As(opt+"project_out.weight", "text/out/weights", nil, p, d)
	}
	if c.finalNorm() {
		t.Norm(opt+"final_layer_norm", "text/norm", d)
	}
	for i := range c.Layers {
		from, to := fmt.Sprintf("%slayers.%d.", opt, i), fmt.Sprintf("text/block_%d/", i)
		for _, part := range [][2]string{{"q_proj", "query"}, {"k_proj", "key"}, {"v_proj", "value"},
			{"out_proj", "out"}} {
			t.Dense(from+"self_attn."+part[0], to+"attention/"+part[1], d, d)
		}
		t.Norm(from+"self_attn_layer_norm", to+"norm1", d)
		t.Dense(from+"fc1", to+"mlp/fc1", f, d)
		t.Dense(from+"fc2", to+"mlp/fc2", d, f)
		t.Norm(from+"final_layer_norm", to+"norm2", d)
	}
	if cfg.ownHead {
		t.As(headWeights, "text/head/weights", nil, c.VocabSize, p)
	}
}
