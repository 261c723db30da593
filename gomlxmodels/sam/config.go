package sam

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"antipode/gomlxmodels/hub"
)

// Config is the configuration of a SAM: the keys of Hugging Face's SamConfig.
type Config struct {
	Vision  VisionConfig
	Decoder DecoderConfig
}

// VisionConfig is the shape of the image encoder: the keys of SamVisionConfig. Its IntermediateSize is mlp_dim, or
// mlp_ratio times the width.
type VisionConfig struct {
	hub.Transformer
	OutputChannels int     `json:"output_channels"`
	NumChannels    int     `json:"num_channels"`
	ImageSize      int     `json:"image_size"`
	PatchSize      int     `json:"patch_size"`
	QKVBias        bool    `json:"qkv_bias"`
	MLPRatio       float64 `json:"mlp_ratio"`
	MLPDim         *int    `json:"mlp_dim"`
	AbsPositions   bool    `json:"use_abs_pos"`
	RelPositions   bool    `json:"use_rel_pos"`
	WindowSize     int     `json:"window_size"`
	GlobalBlocks   []int   `json:"global_attn_indexes"` // the blocks that attend over the whole map, from 0
	PositionWidth  int     `json:"num_pos_feats"`       // half the width of a prompt's embedding
}

// DecoderConfig is the shape of the mask decoder: the keys of SamMaskDecoderConfig.
type DecoderConfig struct {
	HiddenSize   int     `json:"hidden_size"`
	HiddenAct    string  `json:"hidden_act"`
	MLPDim       int     `json:"mlp_dim"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	Downsample   int     `json:"attention_downsample_rate"` // see [downsample]
	Masks        int     `json:"num_multimask_outputs"`     // besides the single one
	IoUDepth     int     `json:"iou_head_depth"`
	IoUHidden    int     `json:"iou_head_hidden_dim"`
	LayerNormEps float64 `json:"layer_norm_eps"` // of the layers' norms; the final one has 1e-5
}

// downsample is how much narrower the attention between tokens and image is, the only attention_downsample_rate that
// is supported: transformers applies another to the final attention alone.
const downsample = 2

// promptConfig is what is read of SamPromptEncoderConfig: it must fit the other two parts.
type promptConfig struct {
	HiddenSize int `json:"hidden_size"`
	ImageSize  int `json:"image_size"`
	PatchSize  int `json:"patch_size"`
	Points     int `json:"num_point_embeddings"`
}

// DefaultConfig is SamConfig's: sam-vit-base.
func DefaultConfig() Config {
	return Config{
		VisionConfig{Transformer: hub.Transformer{HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 12,
			HiddenAct: "gelu", LayerNormEps: 1e-6}, OutputChannels: 256, NumChannels: 3, ImageSize: 1024,
			PatchSize: 16, QKVBias: true, MLPRatio: 4, AbsPositions: true, RelPositions: true, WindowSize: 14,
			GlobalBlocks: []int{2, 5, 8, 11}, PositionWidth: 128},
		DecoderConfig{HiddenSize: 256, HiddenAct: "relu", MLPDim: 2048, Layers: 2, Heads: 8, Downsample: 2, Masks: 3,
			IoUDepth: 3, IoUHidden: 256, LayerNormEps: 1e-6},
	}
}

// ParseConfig reads the config.json of a SamModel and validates it.
func ParseConfig(text []byte) (*Config, error) {
	if _, err := hub.ModelType(text, "a SamModel (sam)", "sam"); err != nil {
		return nil, err
	}
	var parts struct {
		Vision  json.RawMessage `json:"vision_config"`
		Prompt  json.RawMessage `json:"prompt_encoder_config"`
		Decoder json.RawMessage `json:"mask_decoder_config"`
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	c, prompt := DefaultConfig(), promptConfig{HiddenSize: 256, ImageSize: 1024, PatchSize: 16, Points: 4}
	if err := hub.ReadParts(hub.Part{Name: "vision_config", Raw: parts.Vision, To: &c.Vision},
		hub.Part{Name: "prompt_encoder_config", Raw: parts.Prompt, To: &prompt},
		hub.Part{Name: "mask_decoder_config", Raw: parts.Decoder, To: &c.Decoder}); err != nil {
		return nil, err
	}
	// intermediate_size, which old folders have too, is not what counts
	if c.Vision.IntermediateSize = int(float64(c.Vision.HiddenSize) * c.Vision.MLPRatio); c.Vision.MLPDim != nil {
		c.Vision.IntermediateSize = *c.Vision.MLPDim
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	want := promptConfig{c.Decoder.HiddenSize, c.Vision.ImageSize, c.Vision.PatchSize, 4}
	if prompt != want {
		return nil, fmt.Errorf("prompt_encoder_config: hidden_size, image_size, patch_size, num_point_embeddings %v "+
			"do not fit the other parts, which need %v", prompt, want)
	}
	return &c, nil
}

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	return cmp.Or(hub.In("vision_config", c.Vision.check()), hub.In("mask_decoder_config", c.Decoder.Check()),
		c.fits())
}

// fits checks that the parts belong together.
func (c *Config) fits() error {
	if w := c.Decoder.HiddenSize; c.Vision.OutputChannels != w || 2*c.Vision.PositionWidth != w {
		return fmt.Errorf("vision_config: output_channels %d and twice num_pos_feats, %d, must be "+
			"mask_decoder_config's hidden_size %d", c.Vision.OutputChannels, 2*c.Vision.PositionWidth, w)
	}
	return nil
}

func (v *VisionConfig) check() error {
	if err := cmp.Or(v.CheckTransformer(), hub.Between("output_channels", v.OutputChannels, 1, hub.MaxDim),
		hub.Between("patch_size", v.PatchSize, 1, hub.MaxSide), hub.Between("image_size", v.ImageSize, 1, 1<<13),
		hub.Between("window_size", v.WindowSize, 1, 1<<8)); err != nil {
		return err
	}
	for _, block := range v.GlobalBlocks {
		if block < 0 || block >= v.Layers {
			return fmt.Errorf("global_attn_indexes %v: the blocks are 0 to %d", v.GlobalBlocks, v.Layers-1)
		}
	}
	switch {
	case v.NumChannels != 3:
		return fmt.Errorf("num_channels %d: only models of 3-channel (RGB) images are supported", v.NumChannels)
	case v.ImageSize%v.PatchSize != 0 || v.Grid() > 1<<7:
		return fmt.Errorf("image_size %d is not 1 to 128 times patch_size %d", v.ImageSize, v.PatchSize)
	case !v.AbsPositions || !v.RelPositions:
		return fmt.Errorf("use_abs_pos %t, use_rel_pos %t: only encoders with both are supported", v.AbsPositions,
			v.RelPositions)
	}
	return nil
}

// Check checks the shape of the mask decoder, naming fields and numbers.
func (c *DecoderConfig) Check() error {
	as := hub.Transformer{HiddenSize: c.HiddenSize, IntermediateSize: c.MLPDim, Layers: c.Layers, Heads: c.Heads,
		HiddenAct: c.HiddenAct, LayerNormEps: c.LayerNormEps}
	if err := cmp.Or(as.CheckTransformer(),
		hub.Between("num_multimask_outputs", c.Masks, 0, 1<<8), hub.Between("iou_head_depth", c.IoUDepth, 2, 1<<8),
		hub.Between("iou_head_hidden_dim", c.IoUHidden, 1, hub.MaxDim)); err != nil {
		return err
	}
	switch {
	case c.HiddenSize%8 != 0:
		return fmt.Errorf("hidden_size %d is not divisible by 8", c.HiddenSize)
	case c.Downsample != downsample:
		return fmt.Errorf("attention_downsample_rate %d is not %d, the only one supported", c.Downsample, downsample)
	case c.HiddenSize/downsample%c.Heads != 0:
		return fmt.Errorf("hidden_size %d, halved, is not divisible by num_attention_heads %d", c.HiddenSize, c.Heads)
	}
	return nil
}

// checkEpsilon reports an epsilon that no norm can have.
func checkEpsilon(epsilon float64) error {
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return fmt.Errorf("epsilon %v is not a positive number", epsilon)
	}
	return nil
}

// Grid is the number of patches a side.
func (v *VisionConfig) Grid() int { return v.ImageSize / v.PatchSize }

// window is the side of the windows that a block attends in: the whole map's for a global block.
func (v *VisionConfig) window(block int) int {
	for _, global := range v.GlobalBlocks {
		if block == global {
			return v.Grid()
		}
	}
	return v.WindowSize
}

// LogitSide is the height and width of the logits.
func (c *Config) LogitSide() int { return 4 * c.Vision.Grid() }
