package vit

import (
	"fmt"

	"antipode/gomlxmodels/weights"
)

// Layout is how a checkpoint names its tensors.
type Layout string

// The layouts read.
const (
	HuggingFace  Layout = "transformers"   // encoder.layer.0.attention.attention.query.weight
	HuggingFace5 Layout = "transformers-5" // layers.0.attention.q_proj.weight: what transformers 5 holds in memory
	Timm         Layout = "timm"           // blocks.0.attn.qkv.weight
)

// detect finds the layout and the prefix of the names by one tensor every checkpoint of the layout has.
func detect(set *weights.Set) (Layout, string, error) {
	for _, l := range []struct {
		layout Layout
		marker string
	}{
		{HuggingFace, "encoder.layer.0.attention.attention.query.weight"},
		{HuggingFace5, "layers.0.attention.q_proj.weight"},
		{HuggingFace5, "encoder.layers.0.attention.q_proj.weight"},
		{Timm, "blocks.0.attn.qkv.weight"},
	} {
		for _, prefix := range []string{"", "vit."} {
			if set.Has(prefix + l.marker) {
				if l.marker[0] == 'e' && l.layout == HuggingFace5 {
					prefix += "encoder."
				}
				return l.layout, prefix, nil
			}
		}
	}
	return "", "", fmt.Errorf("%s: the tensors are not named as those of a ViT of transformers or timm", set.Files()[0])
}

// heads says which parts beyond the encoder are loaded.
type heads struct {
	pooler  bool
	classes int // > 0: the classification head
}

// table is the rule table of a layout: the whole correspondence between a checkpoint and the variables of [Forward].
func table(cfg *Config, layout Layout, prefix string, h heads) []weights.Rule {
	if layout == Timm {
		return timmTable(cfg, h)
	}
	t := &tableMaker{cfg: cfg}
	embeddings := prefix
	if layout == HuggingFace5 && len(prefix) >= len("encoder.") && prefix[len(prefix)-len("encoder."):] == "encoder." {
		embeddings = prefix[:len(prefix)-len("encoder.")]
	}
	d, f := cfg.HiddenSize, cfg.IntermediateSize
	t.common(embeddings+"embeddings.cls_token", embeddings+"embeddings.position_embeddings", embeddings+"embeddings.patch_embeddings.projection")
	t.skip(embeddings + "embeddings.mask_token")
	names := []string{"attention.attention.query", "attention.attention.key", "attention.attention.value", "attention.output.dense", "intermediate.dense", "output.dense", "layernorm_before", "layernorm_after"}
	if layout == HuggingFace5 {
		names = []string{"attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj", "mlp.fc1", "mlp.fc2", "layernorm_before", "layernorm_after"}
	}
	for i := range cfg.Layers {
		from, to := fmt.Sprintf("%sencoder.layer.%d.", prefix, i), fmt.Sprintf("block_%d/", i)
		if layout == HuggingFace5 {
			from = fmt.Sprintf("%slayers.%d.", prefix, i)
		}
		for part := range 3 {
			t.part(from+names[part]+".weight", to+"attention/qkv/weights", part, d, d)
			if cfg.QKVBias {
				t.part(from+names[part]+".bias", to+"attention/qkv/bias", part, d)
			}
		}
		t.dense(from+names[3], to+"attention/out", d, d)
		t.dense(from+names[4], to+"mlp/fc1", f, d)
		t.dense(from+names[5], to+"mlp/fc2", d, f)
		t.norm(from+names[6], to+"norm1")
		t.norm(from+names[7], to+"norm2")
	}
	t.norm(embeddings+"layernorm", "norm")
	if h.pooler {
		t.dense(embeddings+"pooler.dense", "pooler", cfg.poolerSize(), d)
	} else {
		t.skip(embeddings+"pooler.dense.weight", embeddings+"pooler.dense.bias")
	}
	t.classifier("classifier", h)
	return t.rules
}

func timmTable(cfg *Config, h heads) []weights.Rule {
	t := &tableMaker{cfg: cfg}
	d, f := cfg.HiddenSize, cfg.IntermediateSize
	t.common("cls_token", "pos_embed", "patch_embed.proj")
	if cfg.Registers > 0 {
		t.as("reg_token", "tokens/registers", 1, cfg.Registers, d)
	}
	if cfg.PreNorm {
		t.norm("norm_pre", "prenorm")
	}
	for i := range cfg.Layers {
		from, to := fmt.Sprintf("blocks.%d.", i), fmt.Sprintf("block_%d/", i)
		t.as(from+"attn.qkv.weight", to+"attention/qkv/weights", 3*d, d)
		if cfg.QKVBias {
			t.as(from+"attn.qkv.bias", to+"attention/qkv/bias", 3*d)
		}
		t.dense(from+"attn.proj", to+"attention/out", d, d)
		t.dense(from+"mlp.fc1", to+"mlp/fc1", f, d)
		t.dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
		t.norm(from+"norm1", to+"norm1")
		t.norm(from+"norm2", to+"norm2")
		if cfg.LayerScale {
			t.as(from+"ls1.gamma", to+"scale1/gain", d)
			t.as(from+"ls2.gamma", to+"scale2/gain", d)
		}
	}
	t.norm("norm", "norm")
	t.classifier("head", h)
	return t.rules
}

// tableMaker writes rules down.
type tableMaker struct {
	cfg   *Config
	rules []weights.Rule
}

func (t *tableMaker) as(from, to string, shape ...int) {
	t.rules = append(t.rules, weights.Rule{Tensor: from, Variable: to, Shape: shape})
}

func (t *tableMaker) part(from, to string, part int, shape ...int) {
	t.rules = append(t.rules, weights.Rule{Tensor: from, Variable: to, Shape: shape, Part: part, Parts: 3})
}

func (t *tableMaker) dense(from, to string, out, in int) {
	t.as(from+".weight", to+"/weights", out, in)
	t.as(from+".bias", to+"/bias", out)
}

func (t *tableMaker) norm(from, to string) {
	t.as(from+".weight", to+"/gain", t.cfg.HiddenSize)
	t.as(from+".bias", to+"/offset", t.cfg.HiddenSize)
}

func (t *tableMaker) skip(names ...string) {
	for _, n := range names {
		t.rules = append(t.rules, weights.Rule{Tensor: n})
	}
}

// common is the tensors before the blocks.
func (t *tableMaker) common(class, positions, patch string) {
	c := t.cfg
	d, n := c.HiddenSize, c.Patches()
	if !c.PatchPositions {
		n += c.Prefix()
	}
	t.as(class, "tokens/class", 1, 1, d)
	t.as(positions, "tokens/positions", 1, n, d)
	ph, pw := c.PatchSize[0], c.PatchSize[1]
	t.rules = append(t.rules, weights.Rule{Tensor: patch + ".weight", Variable: "patch/weights", Shape: []int{d, c.NumChannels, ph, pw}, As: []int{d, c.NumChannels * ph * pw}})
	if !c.PreNorm {
		t.as(patch+".bias", "patch/bias", d)
	}
}

func (t *tableMaker) classifier(from string, h heads) {
	if h.classes > 0 {
		t.dense(from, "classifier", h.classes, t.cfg.HiddenSize)
	} else {
		t.skip(from+".weight", from+".bias")
	}
}
