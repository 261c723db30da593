package vit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"antipode/gomlxmodels/hfconfig"
	"antipode/gomlxmodels/nn"
)

// Pair is a height and a width; in JSON one number (both) or a list of two.
type Pair [2]int

// UnmarshalJSON reads 224 or [224, 224].
func (p *Pair) UnmarshalJSON(text []byte) error {
	var one int
	if json.Unmarshal(text, &one) == nil {
		*p = Pair{one, one}
		return nil
	}
	var two []int
	if err := json.Unmarshal(text, &two); err != nil || len(two) != 2 {
		return fmt.Errorf("%s is neither a number nor [height, width]", text)
	}
	*p = Pair{two[0], two[1]}
	return nil
}

// MarshalJSON writes one number where both are equal.
func (p Pair) MarshalJSON() ([]byte, error) {
	if p[0] == p[1] {
		return strconv.AppendInt(nil, int64(p[0]), 10), nil
	}
	return json.Marshal([2]int(p))
}

// Config is a ViT's shape: the keys of Hugging Face's ViTConfig, and what only timm models have.
type Config struct {
	HiddenSize       int     `json:"hidden_size"`
	Layers           int     `json:"num_hidden_layers"`
	Heads            int     `json:"num_attention_heads"`
	IntermediateSize int     `json:"intermediate_size"`
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
	ImageSize        Pair    `json:"image_size"`
	PatchSize        Pair    `json:"patch_size"`
	NumChannels      int     `json:"num_channels"`
	QKVBias          bool    `json:"qkv_bias"`
	PoolerOutputSize int     `json:"pooler_output_size,omitempty"` // 0 = HiddenSize
	PoolerAct        string  `json:"pooler_act,omitempty"`

	Registers      int  `json:"-"` // further prefix tokens beside the class token (timm reg_tokens)
	PatchPositions bool `json:"-"` // position embeddings for patches only (timm no_embed_class)
	PreNorm        bool `json:"-"` // a norm before block 1, and no bias in the patch embedding (CLIP's ViT)
	LayerScale     bool `json:"-"` // a learned scale on each residual branch (timm init_values)
}

// DefaultConfig is ViTConfig's: ViT-B/16 at 224 pixels.
func DefaultConfig() Config {
	return Config{HiddenSize: 768, Layers: 12, Heads: 12, IntermediateSize: 3072, HiddenAct: "gelu", LayerNormEps: 1e-12,
		ImageSize: Pair{224, 224}, PatchSize: Pair{16, 16}, NumChannels: 3, QKVBias: true, PoolerAct: "tanh"}
}

// Grid is the number of patches downwards and across.
func (c *Config) Grid() (rows, columns int) {
	return c.ImageSize[0] / c.PatchSize[0], c.ImageSize[1] / c.PatchSize[1]
}

// Patches is N, the number of patches.
func (c *Config) Patches() int {
	rows, columns := c.Grid()
	return rows * columns
}

// Prefix is T, the number of tokens before the patches.
func (c *Config) Prefix() int { return 1 + c.Registers }

// poolerSize is the width of the pooler's output.
func (c *Config) poolerSize() int {
	if c.PoolerOutputSize > 0 {
		return c.PoolerOutputSize
	}
	return c.HiddenSize
}

// Validate says what is wrong with the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	if err := hfconfig.Check([]hfconfig.Size{
		{Name: "hidden_size", Value: c.HiddenSize, Most: hfconfig.MaxDim}, {Name: "num_hidden_layers", Value: c.Layers, Most: hfconfig.MaxDim},
		{Name: "num_attention_heads", Value: c.Heads, Most: hfconfig.MaxDim}, {Name: "intermediate_size", Value: c.IntermediateSize, Most: hfconfig.MaxDim},
		{Name: "image_size", Value: c.ImageSize[0], Most: hfconfig.MaxDim}, {Name: "image_size", Value: c.ImageSize[1], Most: hfconfig.MaxDim},
		{Name: "patch_size", Value: c.PatchSize[0], Most: hfconfig.MaxDim}, {Name: "patch_size", Value: c.PatchSize[1], Most: hfconfig.MaxDim},
		{Name: "num_channels", Value: c.NumChannels, Most: hfconfig.MaxDim},
	}); err != nil {
		return fmt.Errorf("vit: %w", err)
	}
	switch {
	case c.HiddenSize%c.Heads != 0:
		return fmt.Errorf("vit: hidden_size %d not divisible by num_attention_heads %d", c.HiddenSize, c.Heads)
	case c.PatchSize[0] > c.ImageSize[0] || c.PatchSize[1] > c.ImageSize[1]:
		return fmt.Errorf("vit: patch_size %v larger than image_size %v", c.PatchSize, c.ImageSize)
	case c.NumChannels != 3:
		return fmt.Errorf("vit: num_channels %d: only models of 3-channel (RGB) images are supported", c.NumChannels)
	case !(c.LayerNormEps > 0) || math.IsInf(c.LayerNormEps, 0):
		return fmt.Errorf("vit: layer_norm_eps %v is not a positive number", c.LayerNormEps)
	case c.Registers < 0 || c.Registers > hfconfig.MaxDim:
		return fmt.Errorf("vit: reg_tokens %d is not between 0 and %d", c.Registers, hfconfig.MaxDim)
	case c.PoolerOutputSize < 0 || c.PoolerOutputSize > hfconfig.MaxDim:
		return fmt.Errorf("vit: pooler_output_size %d is not between 0 and %d", c.PoolerOutputSize, hfconfig.MaxDim)
	case c.Patches() > 1<<14:
		return fmt.Errorf("vit: image_size %v and patch_size %v make %d patches, more than %d", c.ImageSize, c.PatchSize, c.Patches(), 1<<14)
	}
	if err := nn.KnownActivation(c.HiddenAct); err != nil {
		return fmt.Errorf("vit: hidden_act: %w", err)
	}
	if c.PoolerAct != "" {
		if err := nn.KnownActivation(c.PoolerAct); err != nil {
			return fmt.Errorf("vit: pooler_act: %w", err)
		}
	}
	return nil
}

// ParseConfig reads a config.json, of Hugging Face ("model_type": "vit") or of timm ("architecture": "vit_…"), and validates it.
func ParseConfig(text []byte) (*Config, error) {
	var kind struct {
		ModelType    *string `json:"model_type"`
		Architecture *string `json:"architecture"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	var c *Config
	var err error
	switch {
	case kind.Architecture != nil:
		c, err = parseTimm(*kind.Architecture, text)
	case kind.ModelType == nil:
		return nil, errors.New(`says neither "model_type" (Hugging Face) nor "architecture" (timm)`)
	case *kind.ModelType == "vit":
		d := DefaultConfig()
		c, err = &d, json.Unmarshal(text, &d)
	default:
		return nil, fmt.Errorf("model_type %q is not a ViT this program knows (vit)", *kind.ModelType)
	}
	if err != nil {
		return nil, err
	}
	return c, c.Validate()
}
