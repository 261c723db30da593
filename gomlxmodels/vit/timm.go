package vit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"antipode/internal/plaintext"
)

// timmSizes are the widths behind the size word of a timm architecture name (timm 1.0, vision_transformer.py).
var timmSizes = map[string]struct {
	width, depth, heads int
	mlp                 float64
}{
	"tiny":     {192, 12, 3, 4},
	"small":    {384, 12, 6, 4},
	"base":     {768, 12, 12, 4},
	"large":    {1024, 24, 16, 4},
	"huge":     {1280, 32, 16, 4},
	"giant":    {1408, 40, 16, 48.0 / 11},
	"gigantic": {1664, 48, 16, 64.0 / 13},
}

// timmName matches the supported architecture names: size, patch, optionally the CLIP variant, and the image side; or
// those of DINOv2.
var timmName = regexp.MustCompile(
	`^(?:vit|deit)_(tiny|small|base|large|huge|giant|gigantic)_patch(\d+)(?:(_clip(?:_quickgelu)?)?_(\d+)|(_reg4)?_(dinov2))$`)

// timmArgs are the arguments of timm's VisionTransformer. Those that change the network and are not read are refused.
type timmArgs struct {
	ImageSize  *Pair            `json:"img_size"`
	PatchSize  *Pair            `json:"patch_size"`
	Channels   *int             `json:"in_chans"`
	GlobalPool *string          `json:"global_pool"`
	Width      *int             `json:"embed_dim"`
	Depth      *int             `json:"depth"`
	Heads      *int             `json:"num_heads"`
	MLPRatio   *float64         `json:"mlp_ratio"`
	QKVBias    *bool            `json:"qkv_bias"`
	InitValues *float64         `json:"init_values"`
	ClassToken *bool            `json:"class_token"`
	NoEmbed    *bool            `json:"no_embed_class"`
	Registers  *int             `json:"reg_tokens"`
	PreNorm    *bool            `json:"pre_norm"`
	Act        *json.RawMessage `json:"act_layer"`
	Norm       *json.RawMessage `json:"norm_layer"`
}

// timmHarmless are arguments that do not change the network as it is evaluated.
var timmHarmless = map[string]bool{"num_classes": true, "drop_rate": true, "pos_drop_rate": true,
	"patch_drop_rate": true,
	"proj_drop_rate":  true, "attn_drop_rate": true, "drop_path_rate": true, "weight_init": true, "fix_init": true,
	"dynamic_img_size": true, "pool_include_prefix": true}

// timmDefaults are arguments that are accepted at the value given here only.
var timmDefaults = map[string]string{"qk_norm": "false", "scale_attn_norm": "false", "scale_mlp_norm": "false",
	"proj_bias": "true",
	"pos_embed": `"learn"`, "final_norm": "true", "fc_norm": "false", "dynamic_img_pad": "false",
	"embed_norm_layer": "null"}

func parseTimm(architecture string, text []byte) (*Config, error) {
	m := timmName.FindStringSubmatch(architecture)
	if m == nil {
		return nil, fmt.Errorf("architecture %q is not one of timm's vit_SIZE_patchP_IMAGE (sizes tiny … gigantic)",
			architecture)
	}
	var file struct {
		GlobalPool    *string                    `json:"global_pool"`
		Args          map[string]json.RawMessage `json:"model_args"`
		PretrainedCfg struct {
			InputSize []int `json:"input_size"`
		} `json:"pretrained_cfg"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	var a timmArgs
	raw, _ := json.Marshal(file.Args)
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("model_args: %w", err)
	}
	if err := refuseTimmArgs(file.Args); err != nil {
		return nil, err
	}
	size := timmSizes[m[1]]
	patch, _ := strconv.Atoi(m[2])
	side, _ := strconv.Atoi(m[4])
	c := DefaultConfig()
	c.HiddenSize, c.Layers, c.Heads, c.LayerNormEps = size.width, size.depth, size.heads, 1e-6
	c.PatchSize, c.ImageSize = Pair{patch, patch}, Pair{side, side}
	if in := file.PretrainedCfg.InputSize; len(in) == 3 {
		c.NumChannels, c.ImageSize = in[0], Pair{in[1], in[2]}
	}
	if m[3] != "" {
		c.PreNorm, c.LayerNormEps = true, 1e-5
	}
	if strings.Contains(m[3], "quickgelu") {
		c.HiddenAct = "quick_gelu"
	}
	if m[6] != "" {
		if m[1] == "giant" {
			c.HiddenSize, c.Heads, size.mlp, c.Gated, c.HiddenAct = 1536, 24, 2.66667*2, true, "silu"
		}
		c.LayerScale, c.ImageSize = true, Pair{518, 518}
		if m[5] != "" {
			c.Registers, c.PatchPositions = 4, true
		}
		if in := file.PretrainedCfg.InputSize; len(in) == 3 {
			c.ImageSize = Pair{in[1], in[2]}
		}
	}
	set(&c.ImageSize, a.ImageSize)
	set(&c.PatchSize, a.PatchSize)
	set(&c.NumChannels, a.Channels)
	set(&c.HiddenSize, a.Width)
	set(&c.Layers, a.Depth)
	set(&c.Heads, a.Heads)
	set(&size.mlp, a.MLPRatio)
	set(&c.QKVBias, a.QKVBias)
	set(&c.PatchPositions, a.NoEmbed)
	set(&c.Registers, a.Registers)
	set(&c.PreNorm, a.PreNorm)
	if c.IntermediateSize = int(float64(c.HiddenSize) * size.mlp); c.Gated {
		c.IntermediateSize /= 2
	}
	c.LayerScale = c.LayerScale || (a.InitValues != nil && *a.InitValues != 0)
	if err := timmLayers(&c, a); err != nil {
		return nil, err
	}
	pool := "token"
	set(&pool, file.GlobalPool)
	set(&pool, a.GlobalPool)
	if (a.ClassToken != nil && !*a.ClassToken) || (pool != "token" && pool != "") {
		return nil, fmt.Errorf("global_pool %q, class_token %t: only models whose embedding is the class token "+
			"are supported", pool, a.ClassToken == nil || *a.ClassToken)
	}
	return &c, nil
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func refuseTimmArgs(args map[string]json.RawMessage) error {
	known := map[string]bool{"img_size": true, "patch_size": true, "in_chans": true, "global_pool": true,
		"embed_dim": true, "depth": true, "num_heads": true,
		"mlp_ratio": true, "qkv_bias": true, "init_values": true, "class_token": true, "no_embed_class": true,
		"reg_tokens": true, "pre_norm": true, "act_layer": true, "norm_layer": true}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value := string(bytes.TrimSpace(args[name]))
		if known[name] || timmHarmless[name] || value == "null" || timmDefaults[name] == value {
			continue
		}
		return fmt.Errorf("model_args: %s is not supported", plaintext.OneLine(name+" "+value))
	}
	return nil
}

// timmLayers reads the layers given by name.
func timmLayers(c *Config, a timmArgs) error {
	name := func(raw *json.RawMessage) string {
		var s string
		if raw == nil || json.Unmarshal(*raw, &s) != nil {
			return ""
		}
		return s
	}
	switch act := name(a.Act); act {
	case "":
	case "gelu", "gelu_tanh", "quick_gelu", "relu", "silu":
		c.HiddenAct = act
	case "quickgelu":
		c.HiddenAct = "quick_gelu"
	default:
		return fmt.Errorf("model_args: act_layer %q is not supported", act)
	}
	switch norm := name(a.Norm); norm {
	case "", "layernorm":
	default:
		return fmt.Errorf("model_args: norm_layer %q is not supported", norm)
	}
	return nil
}
