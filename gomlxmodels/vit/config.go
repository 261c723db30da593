package vit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/nn"
	"antipode/internal/plaintext"
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
		return fmt.Errorf("%s is neither a number nor [height, width]", plaintext.OneLine(string(text)))
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

// Config is a ViT's shape: the keys of Hugging Face's ViTConfig, and what timm's models, DINOv2 and SigLIP have.
type Config struct {
	hub.Transformer
	ImageSize        Pair   `json:"image_size"`
	PatchSize        Pair   `json:"patch_size"`
	NumChannels      int    `json:"num_channels"`
	QKVBias          bool   `json:"qkv_bias"`
	PoolerOutputSize int    `json:"pooler_output_size,omitempty"` // 0 = HiddenSize
	PoolerAct        string `json:"pooler_act,omitempty"`

	Registers      int  `json:"-"` // further prefix tokens next to the class token (timm reg_tokens)
	PatchPositions bool `json:"-"` // position embeddings for patches only (timm no_embed_class)
	PreNorm        bool `json:"-"` // a norm before block 1, and no bias in the patch embedding (CLIP's ViT)
	LayerScale     bool `json:"-"` // a learned scale on each residual branch (timm init_values)

	Gated         bool `json:"-"` // SwiGLU in place of the MLP; IntermediateSize is the width of its gate
	BareRegisters bool `json:"-"` // registers have no position embeddings, the class token has one
	// The grid of the checkpoint's position embeddings, in patches, which are interpolated to that of ImageSize; zero =
	// the same. With Antialias as torch's antialiased bicubic interpolation does, else without.
	Stored    Pair `json:"-"`
	Antialias bool `json:"-"`

	// There is no class token: the embedding is that of a learned query that attends to the patches (SigLIP).
	AttentionPool bool `json:"-"`

	// Embeddings are projected to vectors of so many numbers, without a bias (CLIP); 0 = they are not.
	Projection int `json:"-"`
}

// DefaultConfig is ViTConfig's: ViT-B/16 at 224 pixels.
func DefaultConfig() Config {
	return Config{Transformer: hub.Transformer{HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 12,
		HiddenAct: "gelu", LayerNormEps: 1e-12},
		ImageSize: Pair{224, 224}, PatchSize: Pair{16, 16}, NumChannels: 3, QKVBias: true, PoolerAct: "tanh"}
}

// Grid is the number of patches downwards and across.
func (c *Config) Grid() (rows, columns int) {
	return c.ImageSize[0] / c.PatchSize[0], c.ImageSize[1] / c.PatchSize[1]
}

// stored is the grid of the checkpoint's position embeddings.
func (c *Config) stored() [2]int {
	if c.Stored != (Pair{}) {
		return c.Stored
	}
	rows, columns := c.Grid()
	return [2]int{rows, columns}
}

// Patches is N, the number of patches.
func (c *Config) Patches() int {
	rows, columns := c.Grid()
	return rows * columns
}

// Prefix is T, the number of tokens before the patches.
func (c *Config) Prefix() int {
	if c.AttentionPool {
		return 0
	}
	return 1 + c.Registers
}

// own reports what transformers' ViTModel does not have.
func (c *Config) own() bool {
	return c.Registers > 0 || c.PreNorm || c.LayerScale || c.PatchPositions || c.AttentionPool || c.Stored != Pair{}
}

// poolerSize is the width of the pooler's output.
func (c *Config) poolerSize() int {
	if c.PoolerOutputSize > 0 {
		return c.PoolerOutputSize
	}
	return c.HiddenSize
}

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error { return hub.In("vit", c.check()) }

func (c *Config) check() error {
	if err := cmp.Or(c.CheckTransformer(),
		hub.Between("image_size", c.ImageSize[0], 1, hub.MaxDim),
		hub.Between("image_size", c.ImageSize[1], 1, hub.MaxDim),
		hub.Between("patch_size", c.PatchSize[0], 1, hub.MaxDim),
		hub.Between("patch_size", c.PatchSize[1], 1, hub.MaxDim),
		hub.Between("reg_tokens", c.Registers, 0, hub.MaxDim),
		hub.Between("pooler_output_size", c.PoolerOutputSize, 0, hub.MaxDim)); err != nil {
		return err
	}
	switch {
	case c.PatchSize[0] > c.ImageSize[0] || c.PatchSize[1] > c.ImageSize[1]:
		return fmt.Errorf("patch_size %v larger than image_size %v", c.PatchSize, c.ImageSize)
	case c.NumChannels != 3:
		return fmt.Errorf("num_channels %d: only models of 3-channel (RGB) images are supported", c.NumChannels)
	case c.Patches() > hub.MaxSide:
		return fmt.Errorf("image_size %v and patch_size %v make %d patches, more than %d", c.ImageSize, c.PatchSize,
			c.Patches(), hub.MaxSide)
	case c.PoolerAct != "":
		return hub.In("pooler_act", nn.KnownActivation(c.PoolerAct))
	}
	return nil
}

// SquareConfig is the shape of a vision tower whose images and patches are square: the keys of CLIPVisionConfig and
// BlipVisionConfig.
type SquareConfig struct {
	hub.Transformer
	NumChannels int `json:"num_channels"`
	ImageSize   int `json:"image_size"`
	PatchSize   int `json:"patch_size"`
}

// ViT returns the tower as this package knows it.
func (s *SquareConfig) ViT() *Config {
	return &Config{Transformer: s.Transformer, NumChannels: s.NumChannels, ImageSize: Pair{s.ImageSize, s.ImageSize},
		PatchSize: Pair{s.PatchSize, s.PatchSize}, QKVBias: true}
}

// Validate checks the shape, naming fields and numbers.
func (s *SquareConfig) Validate() error {
	if err := cmp.Or(s.CheckTransformer(), hub.Between("image_size", s.ImageSize, 1, hub.MaxSide),
		hub.Between("patch_size", s.PatchSize, 1, hub.MaxSide)); err != nil {
		return err
	}
	if s.PatchSize > s.ImageSize {
		return fmt.Errorf("patch_size %d larger than image_size %d", s.PatchSize, s.ImageSize)
	}
	return s.ViT().check()
}

// ParseConfig reads a config.json, of Hugging Face ("model_type": "vit", "dinov2", "dinov2_with_registers"; of "siglip"
// the vision_config) or of timm ("architecture": "vit_…"), and validates it.
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
		return nil, errors.New(`has neither "model_type" (Hugging Face) nor "architecture" (timm)`)
	case *kind.ModelType == "vit":
		d := DefaultConfig()
		c, err = &d, json.Unmarshal(text, &d)
	case strings.HasPrefix(*kind.ModelType, dinov2):
		c, err = parseDINOv2(*kind.ModelType, text)
	case *kind.ModelType == siglip:
		c, err = parseSigLIP(text)
	default:
		return nil, hub.WrongType(*kind.ModelType, "a ViT (vit, dinov2, dinov2_with_registers, siglip)")
	}
	if err != nil {
		return nil, err
	}
	return c, c.Validate()
}
