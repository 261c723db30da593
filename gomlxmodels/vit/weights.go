package vit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

// Layout is how a checkpoint names its tensors.
type Layout string

// The layouts read.
const (
	HuggingFace  Layout = "transformers"   // encoder.layer.0.attention.attention.query.weight
	HuggingFace5 Layout = "transformers-5" // layers.0.attention.q_proj.weight: what transformers 5 holds in memory
	Timm         Layout = "timm"           // blocks.0.attn.qkv.weight
	SigLIP       Layout = "siglip"         // vision_model.encoder.layers.0.self_attn.q_proj.weight
)

// fits reports whether there are checkpoints of the configuration with that layout.
func (c *Config) fits(l Layout) bool {
	switch {
	case c.AttentionPool || l == SigLIP:
		return c.AttentionPool && l == SigLIP
	case c.Stored != Pair{}:
		return l != Timm
	}
	return l == Timm || !c.own()
}

// detect finds the layout and the prefix of the names by one tensor every checkpoint of the layout has.
func detect(set *weights.Set) (Layout, string, error) {
	for _, l := range []struct {
		layout Layout
		marker string
	}{
		{HuggingFace, "encoder.layer.0.attention.attention.query.weight"},
		{HuggingFace5, "layers.0.attention.q_proj.weight"},
		{HuggingFace5, "encoder.layers.0.attention.q_proj.weight"},
		{HuggingFace5, "encoder.layer.0.attention.q_proj.weight"}, // DINOv2
		{Timm, "blocks.0.attn.qkv.weight"},
		{SigLIP, "vision_model.encoder.layers.0.self_attn.q_proj.weight"},
	} {
		for _, prefix := range []string{"", "vit.", "dinov2.", "dinov2_with_registers."} {
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
	if cfg.Registers > 0 {
		t.As(embeddings+"embeddings.register_tokens", "tokens/registers", nil, 1, cfg.Registers, d)
	}
	block, names := "encoder.layer.", []string{"attention.attention.query", "attention.attention.key",
		"attention.attention.value", "attention.output.dense", "intermediate.dense", "output.dense",
		"layernorm_before", "layernorm_after"}
	if layout == HuggingFace5 {
		block, names = "layers.", []string{"attention.q_proj", "attention.k_proj", "attention.v_proj",
			"attention.o_proj", "mlp.fc1", "mlp.fc2", "layernorm_before", "layernorm_after"}
	}
	if cfg.LayerScale { // DINOv2
		if names[4], names[5], names[6], names[7] = "mlp.fc1", "mlp.fc2", "norm1", "norm2"; cfg.Gated {
			names[4], names[5] = "mlp.weights_in", "mlp.weights_out"
		}
		if layout == HuggingFace5 {
			if block = "layer."; cfg.Gated {
				names[5] = "mlp.down_proj"
			}
		}
	}
	for i := range cfg.Layers {
		from, to := fmt.Sprintf("%s%s%d.", prefix, block, i), fmt.Sprintf("block_%d/", i)
		t.Fused([]string{from + names[0], from + names[1], from + names[2]}, to+"attention/qkv", d, d, cfg.QKVBias)
		t.Dense(from+names[3], to+"attention/out", d, d)
		switch {
		case !cfg.Gated:
			t.Dense(from+names[4], to+"mlp/fc1", f, d)
		case layout == HuggingFace5:
			t.Fused([]string{from + "mlp.gate_proj", from + "mlp.up_proj"}, to+"mlp/fc1", f, d, true)
		default:
			t.Dense(from+names[4], to+"mlp/fc1", 2*f, d)
		}
		t.Dense(from+names[5], to+"mlp/fc2", d, f)
		t.norm(from+names[6], to+"norm1")
		t.norm(from+names[7], to+"norm2")
		t.scales(from+"layer_scale%d.lambda1", to)
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
		in := f
		if cfg.Gated {
			in = 2 * f
		}
		t.Dense(from+"mlp.fc1", to+"mlp/fc1", in, d)
		t.Dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
		t.norm(from+"norm1", to+"norm1")
		t.norm(from+"norm2", to+"norm2")
		t.scales(from+"ls%d.gamma", to)
	}
	t.norm("norm", "norm")
	t.classifier("head", h)
	return t.Table
}

// load is [weights.Load], with the patches' position embeddings interpolated to the grid of the images.
func load(scope *model.Scope, set *weights.Set, c *Config, rules []weights.Rule, dtype dtypes.DType) error {
	rows, columns := c.Grid()
	from, to := c.stored(), [2]int{rows, columns}
	return weights.Stream(scope, set, rules, dtype, weights.Hooks{
		Turn: func(first weights.Rule, values []float32, shape []int) ([]float32, []int) {
			if first.Variable != "tokens/positions" || from == to {
				return values, shape
			}
			d, before := c.HiddenSize, c.positionsBefore()
			resized := preprocess.ResizeGrid(values[before*d:], from, to, d, c.Antialias)
			return slices.Concat(values[:before*d], resized), []int{1, before + c.Patches(), d}
		}})
}

// tableMaker writes rules down.
type tableMaker struct {
	weights.Table
	cfg *Config
}

func (t *tableMaker) norm(from, to string) { t.Norm(from, to, t.cfg.HiddenSize) }

// scales is the layer scales of a block.
func (t *tableMaker) scales(from, to string) {
	for i := 1; i <= 2 && t.cfg.LayerScale; i++ {
		t.As(fmt.Sprintf(from, i), fmt.Sprintf("%sscale%d/gain", to, i), nil, t.cfg.HiddenSize)
	}
}

// common is the tensors before the blocks.
func (t *tableMaker) common(class, positions, patch string) {
	c := t.cfg
	d, stored := c.HiddenSize, c.stored()
	n := c.positionsBefore() + stored[0]*stored[1]
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
