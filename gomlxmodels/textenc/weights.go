package textenc

import (
	"fmt"
	"strings"

	"antipode/gomlxmodels/weights"
)

// names are what a family calls its tensors.
type names struct {
	norms         [3]string // of the embeddings; within a block after attention, after the MLP
	block         string    // what a block's names begin with
	q, k, v, out  string
	fc1, fc2      string
	prefixes      []string // what all names may begin with
	heads         []string // what names of heads for training begin with: known and left alone
	pooler, types bool
}

var (
	bertNames = names{norms: [3]string{"embeddings.LayerNorm", "attention.output.LayerNorm", "output.LayerNorm"},
		block: "encoder.layer.%d.",
		q:     "attention.self.query", k: "attention.self.key", v: "attention.self.value",
		out: "attention.output.dense",
		fc1: "intermediate.dense", fc2: "output.dense", prefixes: []string{"", "bert."}, heads: []string{"cls."},
		pooler: true, types: true}
	mpnetNames = names{norms: [3]string{"embeddings.LayerNorm", "attention.LayerNorm", "output.LayerNorm"},
		block: "encoder.layer.%d.",
		q:     "attention.attn.q", k: "attention.attn.k", v: "attention.attn.v", out: "attention.attn.o",
		fc1: "intermediate.dense", fc2: "output.dense", prefixes: []string{"", "mpnet."}, heads: []string{"lm_head."},
		pooler: true}
	distilNames = names{norms: [3]string{"embeddings.LayerNorm", "sa_layer_norm", "output_layer_norm"},
		block: "transformer.layer.%d.",
		q:     "attention.q_lin", k: "attention.k_lin", v: "attention.v_lin", out: "attention.out_lin",
		fc1: "ffn.lin1", fc2: "ffn.lin2", prefixes: []string{"", "distilbert."},
		heads: []string{"vocab_transform.", "vocab_layer_norm.", "vocab_projector."}}
)

func (c *Config) names() names {
	n := bertNames
	switch c.ModelType {
	case "mpnet":
		n = mpnetNames
	case "distilbert":
		n = distilNames
	case "altclip": // the image's half is package clip's to check
		n.prefixes, n.heads = []string{"text_model.roberta."}, []string{"vision_model.", "visual_projection.",
			"logit_scale"}
	case "altclip_text_model":
		n.prefixes, n.heads = []string{"roberta."}, nil
	case "M-CLIP":
		n.prefixes, n.heads = []string{"transformer."}, nil
	case "roberta", "xlm-roberta", "camembert":
		n.prefixes, n.heads = []string{"", "roberta."}, []string{"lm_head."}
	}
	return n
}

// Rules is the correspondence between a transformer within the checkpoint of another network, where its tensors begin
// with the prefix, and the variables of [Forward] without modules. Its pooler is known and left alone.
func Rules(c *Config, prefix string, set *weights.Set) []weights.Rule {
	n := c.names()
	n.prefixes, n.heads = []string{prefix}, nil
	return n.table(c, nil, set)
}

// table is the whole correspondence between the transformer's checkpoint and the variables, with the modules that lie
// in it.
func table(c *Config, modules []Module, set *weights.Set) []weights.Rule {
	return c.names().table(c, modules, set)
}

func (n names) table(c *Config, modules []Module, set *weights.Set) []weights.Rule {
	prefix := n.prefixes[0]
	for _, p := range n.prefixes {
		if set.Has(p + "embeddings.word_embeddings.weight") {
			prefix = p
			break
		}
	}
	if set.Has(prefix + "encoder.layers.0." + n.fc1 + ".weight") { // transformers 5 saves AltCLIPTextModel so
		n.block = "encoder.layers.%d."
	}
	t := &tableMaker{gain: "weight", offset: "bias"}
	if set.Has(prefix + n.norms[0] + ".gamma") { // as the first BERT checkpoints say
		t.gain, t.offset = "gamma", "beta"
	}
	d, f := c.HiddenSize, c.IntermediateSize
	t.As(prefix+"embeddings.word_embeddings.weight", "embeddings/words", nil, c.VocabSize, d)
	t.As(prefix+"embeddings.position_embeddings.weight", "embeddings/positions", nil, c.Positions, d)
	if n.types {
		t.As(prefix+"embeddings.token_type_embeddings.weight", "embeddings/types", nil, c.TypeVocab, d)
	}
	t.norm(prefix+n.norms[0], "embeddings/norm", d)
	t.Skip(prefix+"embeddings.position_ids", prefix+"embeddings.token_type_ids")
	if c.Family() == MPNet {
		t.As(prefix+"encoder.relative_attention_bias.weight", "distance/bias", nil, c.Buckets, c.Heads)
	}
	for i := range c.Layers {
		from, to := prefix+fmt.Sprintf(n.block, i), fmt.Sprintf("block_%d/", i)
		t.Fused([]string{from + n.q, from + n.k, from + n.v}, to+"attention/qkv", d, d, true)
		t.Dense(from+n.out, to+"attention/out", d, d)
		t.norm(from+n.norms[1], to+"norm1", d)
		t.Dense(from+n.fc1, to+"mlp/fc1", f, d)
		t.Dense(from+n.fc2, to+"mlp/fc2", d, f)
		t.norm(from+n.norms[2], to+"norm2", d)
	}
	used := map[string]bool{}
	for i, m := range modules {
		if m.dir != "" || m.tensor == "" {
			continue
		}
		if m.tensor == "pooler.dense" {
			m.tensor = prefix + m.tensor
		}
		used[m.tensor] = true
		t.module(m, i)
	}
	if n.pooler && !used[prefix+"pooler.dense"] {
		t.Skip(prefix+"pooler.dense.weight", prefix+"pooler.dense.bias")
	}
	for _, name := range set.Names() {
		for _, head := range n.heads {
			if strings.HasPrefix(name, head) {
				t.Skip(name)
			}
		}
	}
	return t.Table
}

// moduleTable is the correspondence of module i, which has its own weight file.
func moduleTable(m Module, i int) []weights.Rule {
	t := &tableMaker{gain: "weight", offset: "bias"}
	t.module(m, i)
	return t.Table
}

// tableMaker writes rules down.
type tableMaker struct {
	weights.Table
	gain, offset string // what norms call theirs
}

func (t *tableMaker) norm(from, to string, width int) {
	t.As(from+"."+t.gain, to+"/gain", nil, width)
	t.As(from+"."+t.offset, to+"/offset", nil, width)
}

func (t *tableMaker) module(m Module, i int) {
	to := fmt.Sprintf("module_%d", i)
	switch {
	case m.Kind == LayerNorm:
		t.norm(m.tensor, to, m.Out)
	case m.Bias:
		t.Dense(m.tensor, to, m.Out, m.In)
	default:
		t.As(m.tensor+".weight", to+"/weights", nil, m.Out, m.In)
	}
}
