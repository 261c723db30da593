package vit

import (
	"fmt"
	"strings"

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
	if layout == HuggingFace5 {
		embeddings = strings.TrimSuffix(prefix, "encoder.")
	}
	d, f := cfg.HiddenSize, cfg.IntermediateSize
	t.common(embeddings+"embeddings.cls_token", embeddings+"embeddings.position_embeddings",
		embeddings+"embeddings.patch_embeddings.projection")
	t.Skip(embeddings + "embeddings.mask_token")
	names := []string{"attention.attention.query", "attention.attention.key", "attention.attention.value",
		"attention.output.dense", "intermediate.dense", "output.dense", "layernorm_before", "layernorm_after"}
	if layout == HuggingFace5 {
		names = []string{"attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj", "mlp.fc1",
			"mlp.fc2", "layernorm_before", "layernorm_after"}
	}
	for i := range cfg.Layers {
		from, to := fmt.Sprintf("%sencoder.layer.%d.", prefix, i), fmt.Sprintf("block_%d/", i)
		if layout == HuggingFace5 {
			from = fmt.Sprintf("%slayers.%d.", prefix, i)
		}
		t.Fused([]string{from + names[0], from + names[1], from + names[2]}, to+"attention/qkv", d, d, cfg.QKVBias)
		t.Dense(from+names[3], to+"attention/out", d, d)
		t.Dense(from+names[4], to+"mlp/fc1", f, d)
		t.Dense(from+names[5], to+"mlp/fc2", d, f)
		t.norm(from+names[6], to+"norm1")
		t.norm(from+names[7], to+"norm2")
	}
	t.norm(embeddings+"layernorm", "norm")
	if h.pooler {
		t.Dense(embeddings+"pooler.dense", "pooler", cfg.poolerSize(), d)
	} else {
		t.Skip(embeddings+"pooler.dense.weight", embeddings+"pooler.dense.bias")
	}
	t.classifier("classifier", h)
	return t.Table
}

func timmTable(cfg *Config, h heads) []weights.Rule {
	t := &tableMaker{cfg: cfg}
	d, f := cfg.HiddenSize, cfg.IntermediateSize
	t.common("cls_token", "pos_embed", "patch_embed.proj")
	if cfg.Registers > 0 {
		t.As("reg_token", "tokens/registers", nil, 1, cfg.Registers, d)
	}
	if cfg.PreNorm {
		t.norm("norm_pre", "prenorm")
	}
	for i := range cfg.Layers {
		from, to := fmt.Sprintf("blocks.%d.", i), fmt.Sprintf("block_%d/", i)
		t.As(from+"attn.qkv.weight", to+"attention/qkv/weights", nil, 3*d, d)
		if cfg.QKVBias {
			t.As(from+"attn.qkv.bias", to+"attention/qkv/bias", nil, 3*d)
		}
		t.Dense(from+"attn.proj", to+"attention/out", d, d)
		t.Dense(from+"mlp.fc1", to+"mlp/fc1", f, d)
		t.Dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
		t.norm(from+"norm1", to+"norm1")
		t.norm(from+"norm2", to+"norm2")
		if cfg.LayerScale {
			t.As(from+"ls1.gamma", to+"scale1/gain", nil, d)
			t.As(from+"ls2.gamma", to+"scale2/gain", nil, d)
		}
	}
	t.norm("norm", "norm")
	t.classifier("head", h)
	return t.Table
}

// tableMaker writes rules down.
type tableMaker struct {
	weights.Table
	cfg *Config
}

func (t *tableMaker) norm(from, to string) { t.Norm(from, to, t.cfg.HiddenSize) }

// common is the tensors before the blocks.
func (t *tableMaker) common(class, positions, patch string) {
	c := t.cfg
	d, n := c.HiddenSize, c.Patches()
	if !c.PatchPositions {
		n += c.Prefix()
	}
	t.As(class, "tokens/class", nil, 1, 1, d)
	t.As(positions, "tokens/positions", nil, 1, n, d)
	ph, pw := c.PatchSize[0], c.PatchSize[1]
	t.As(patch+".weight", "patch/weights", []int{d, c.NumChannels * ph * pw}, d, c.NumChannels, ph, pw)
	if !c.PreNorm {
		t.As(patch+".bias", "patch/bias", nil, d)
	}
}

func (t *tableMaker) classifier(from string, h heads) {
	if h.classes > 0 {
		t.Dense(from, "classifier", h.classes, t.cfg.HiddenSize)
	} else {
		t.Skip(from+".weight", from+".bias")
	}
}
