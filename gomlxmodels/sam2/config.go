package sam2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/sam"
	"antipode/internal/plaintext"
)

// Config is the configuration of a SAM 2: the keys of Hugging Face's Sam2Config.
type Config struct {
	Vision  VisionConfig
	Hiera   HieraConfig // the part of Vision called backbone_config
	Decoder DecoderConfig
	// ImageSize is image_size of prompt_encoder_config: the backbone does not read its own
	ImageSize Length
}

// stages of the backbone, levels of the pyramid that are used, and how much smaller the third map is than the image:
// the only ones that are supported.
const (
	stages = 4
	levels = 3
	stride = 16
)

// Length is a number, in a file also a list of two that are equal.
type Length int

// UnmarshalJSON reads a number or a list of two.
func (s *Length) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	var one int
	if json.Unmarshal(text, &one) == nil {
		*s = Length(one)
		return nil
	}
	var two []int
	if json.Unmarshal(text, &two) != nil || len(two) != 2 || two[0] != two[1] {
		return fmt.Errorf("%s is neither a whole number nor two that are equal", plaintext.OneLine(string(text)))
	}
	*s = Length(two[0])
	return nil
}

// HieraConfig is the shape of the backbone: the keys of Sam2HieraDetConfig.
type HieraConfig struct {
	HiddenSize   int     `json:"hidden_size"`
	NumChannels  int     `json:"num_channels"`
	PatchKernel  Length  `json:"patch_kernel_size"`
	PatchStride  Length  `json:"patch_stride"`
	PatchPadding Length  `json:"patch_padding"`
	QueryStride  Length  `json:"query_stride"`
	Background   [2]int  `json:"window_positional_embedding_background_size"`
	QueryPools   int     `json:"num_query_pool_stages"`
	Blocks       []int   `json:"blocks_per_stage"`
	Widths       []int   `json:"embed_dim_per_stage"`
	Heads        []int   `json:"num_attention_heads_per_stage"`
	Windows      []int   `json:"window_size_per_stage"`
	GlobalBlocks []int   `json:"global_attention_blocks"` // the blocks that attend over the whole map, from 0
	MLPRatio     float64 `json:"mlp_ratio"`
	HiddenAct    string  `json:"hidden_act"`
	LayerNormEps float64 `json:"layer_norm_eps"`
}

// VisionConfig is the shape of the feature pyramid: the keys of Sam2VisionConfig.
type VisionConfig struct {
	Channels []int   `json:"backbone_channel_list"`  // the backbone's widths, the last stage's first
	Sizes    [][]int `json:"backbone_feature_sizes"` // of the levels that are used
	Width    int     `json:"fpn_hidden_size"`
	Kernel   int     `json:"fpn_kernel_size"`
	Stride   int     `json:"fpn_stride"`
	Padding  int     `json:"fpn_padding"`
	TopDown  []int   `json:"fpn_top_down_levels"` // the levels to which the next coarser one is added
	Levels   int     `json:"num_feature_levels"`
}

// DecoderConfig is the shape of the mask decoder: the keys of Sam2MaskDecoderConfig. The perceptrons of its layers have
// as many dense layers as it has layers, at least 2; their activation is ReLU and the norms' epsilon 1e-5 whatever the
// file says.
type DecoderConfig struct {
	sam.DecoderConfig
	Dynamic   bool    `json:"dynamic_multimask_via_stability"` // see [Masks].Best
	Delta     float64 `json:"dynamic_multimask_stability_delta"`
	Threshold float64 `json:"dynamic_multimask_stability_thresh"`
}

// DefaultConfig is Sam2Config's: sam2.1-hiera-tiny.
func DefaultConfig() Config {
	return Config{
		Hiera: HieraConfig{HiddenSize: 96, NumChannels: 3, PatchKernel: 7, PatchStride: 4, PatchPadding: 3,
			QueryStride: 2, Background: [2]int{7, 7}, QueryPools: 3, Blocks: []int{1, 2, 7, 2},
			Widths: []int{96, 192, 384, 768}, Heads: []int{1, 2, 4, 8}, Windows: []int{8, 4, 14, 7},
			GlobalBlocks: []int{5, 7, 9}, MLPRatio: 4, HiddenAct: "gelu", LayerNormEps: 1e-6},
		Vision: VisionConfig{Channels: []int{768, 384, 192, 96}, Sizes: [][]int{{256, 256}, {128, 128}, {64, 64}},
			Width: 256, Kernel: 1, Stride: 1, TopDown: []int{2, 3}, Levels: levels},
		Decoder: DecoderConfig{sam.DecoderConfig{HiddenSize: 256, HiddenAct: "relu", MLPDim: 2048, Layers: 2, Heads: 8,
			Downsample: 2, Masks: 3, IoUDepth: 3, IoUHidden: 256, LayerNormEps: 1e-5}, true, 0.05, 0.98},
		ImageSize: 1024,
	}
}

// ParseConfig reads the config.json of a Sam2Model or a Sam2VideoModel and validates it.
func ParseConfig(text []byte) (*Config, error) {
	if _, err := hub.ModelType(text, "a Sam2Model (sam2, sam2_video)", "sam2", "sam2_video"); err != nil {
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
	c := DefaultConfig()
	var backbone struct {
		Config json.RawMessage `json:"backbone_config"`
	}
	prompt := struct {
		HiddenSize int     `json:"hidden_size"`
		ImageSize  *Length `json:"image_size"`
		PatchSize  Length  `json:"patch_size"`
		Points     int     `json:"num_point_embeddings"`
	}{256, &c.ImageSize, stride, points}
	if err := hub.ReadParts(hub.Part{Name: "vision_config", Raw: parts.Vision, To: &c.Vision},
		hub.Part{Name: "vision_config", Raw: parts.Vision, To: &backbone},
		hub.Part{Name: "prompt_encoder_config", Raw: parts.Prompt, To: &prompt},
		hub.Part{Name: "mask_decoder_config", Raw: parts.Decoder, To: &c.Decoder}); err != nil {
		return nil, err
	}
	if err := hub.ReadParts(hub.Part{Name: "backbone_config", Raw: backbone.Config, To: &c.Hiera}); err != nil {
		return nil, err
	}
	c.Decoder.HiddenAct, c.Decoder.LayerNormEps = "relu", 1e-5
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if prompt.HiddenSize != c.Decoder.HiddenSize || prompt.PatchSize != stride || prompt.Points != points {
		return nil, fmt.Errorf("prompt_encoder_config: hidden_size %d, patch_size %d, num_point_embeddings %d do not "+
			"fit the other parts, which need %d, %d and %d", prompt.HiddenSize, prompt.PatchSize, prompt.Points,
			c.Decoder.HiddenSize, stride, points)
	}
	return &c, nil
}

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	return cmp.Or(hub.Between("image_size", int(c.ImageSize), 32, 1<<12),
		hub.In("backbone_config", c.Hiera.check(int(c.ImageSize))),
		hub.In("mask_decoder_config", c.Decoder.check()), hub.In("vision_config", c.checkPyramid()))
}

func (h *HieraConfig) check(side int) error {
	for _, list := range []struct {
		name   string
		values []int
		most   int
	}{{"blocks_per_stage", h.Blocks, hub.MaxLayers}, {"embed_dim_per_stage", h.Widths, hub.MaxDim},
		{"num_attention_heads_per_stage", h.Heads, hub.MaxDim}, {"window_size_per_stage", h.Windows, 1 << 8}} {
		if len(list.values) != stages {
			return fmt.Errorf("%s %v: only backbones of %d stages are supported", list.name, list.values, stages)
		}
		for _, v := range list.values {
			if err := hub.Between(list.name, v, 1, list.most); err != nil {
				return err
			}
		}
	}
	for i, width := range h.Widths {
		if width%h.Heads[i] != 0 {
			return fmt.Errorf("embed_dim_per_stage %v not divisible by num_attention_heads_per_stage %v", h.Widths,
				h.Heads)
		}
		if i > 0 && width == h.Widths[i-1] {
			return fmt.Errorf("embed_dim_per_stage %v: a stage must differ from the one before", h.Widths)
		}
		if i < stages-1 && h.Windows[i]%2 != 0 {
			return fmt.Errorf("window_size_per_stage %v: windows must be even before the last stage, to be pooled",
				h.Windows)
		}
	}
	start := 0 // of a stage
	for _, blocks := range h.Blocks {
		if start > 0 && slices.Contains(h.GlobalBlocks, start) {
			return fmt.Errorf("global_attention_blocks %v: block %d starts a stage, where there must be windows",
				h.GlobalBlocks, start)
		}
		start += blocks
	}
	for _, block := range h.GlobalBlocks {
		if block < 0 || block >= start {
			return fmt.Errorf("global_attention_blocks %v: the blocks are 0 to %d", h.GlobalBlocks, start-1)
		}
	}
	const background = "window_positional_embedding_background_size"
	if err := cmp.Or(hub.Between(background, h.Background[0], 1, 1<<8),
		hub.Between(background, h.Background[1], 1, 1<<8),
		hub.In("hidden_act", nn.KnownActivation(h.HiddenAct))); err != nil {
		return err
	}
	switch {
	case h.HiddenSize != h.Widths[0]:
		return fmt.Errorf("hidden_size %d must be the first of embed_dim_per_stage %v", h.HiddenSize, h.Widths)
	case h.NumChannels != 3:
		return fmt.Errorf("num_channels %d: only models of 3-channel (RGB) images are supported", h.NumChannels)
	case h.PatchKernel != 7 || h.PatchStride != 4 || h.PatchPadding != 3 || h.QueryStride != 2 ||
		h.QueryPools != stages-1:
		return fmt.Errorf("patch_kernel_size, patch_stride, patch_padding, query_stride, num_query_pool_stages %d, "+
			"%d, %d, %d, %d: only 7, 4, 3, 2, 3 are supported", h.PatchKernel, h.PatchStride, h.PatchPadding,
			h.QueryStride, h.QueryPools)
	case side%32 != 0 || side/4%h.Windows[0] != 0:
		return fmt.Errorf("window_size_per_stage %v: image_size %d must be a multiple of 32 and of 4 times the first",
			h.Windows, side)
	case !(h.MLPRatio > 0 && h.MLPRatio <= 1<<6) || int(float64(slices.Min(h.Widths))*h.MLPRatio) < 1:
		return fmt.Errorf("mlp_ratio %v is not a positive number up to 64, or makes a perceptron empty", h.MLPRatio)
	case !(h.LayerNormEps > 0) || math.IsInf(h.LayerNormEps, 0):
		return fmt.Errorf("layer_norm_eps %v is not a positive number", h.LayerNormEps)
	}
	return nil
}

func (c *Config) checkPyramid() error {
	v := &c.Vision
	channels := slices.Clone(c.Hiera.Widths)
	slices.Reverse(channels)
	for i, size := range v.Sizes {
		if side := c.Side(i); len(v.Sizes) != levels || !slices.Equal(size, []int{side, side}) {
			return fmt.Errorf("backbone_feature_sizes %v are not those of an image_size of %d", v.Sizes, c.ImageSize)
		}
	}
	switch {
	case v.Levels != levels || len(v.Sizes) != levels:
		return fmt.Errorf("num_feature_levels %d, with %d sizes: only %d levels are supported", v.Levels, len(v.Sizes),
			levels)
	case !slices.Equal(v.Channels, channels):
		return fmt.Errorf("backbone_channel_list %v is not embed_dim_per_stage backwards, %v", v.Channels, channels)
	case v.Kernel != 1 || v.Stride != 1 || v.Padding != 0:
		return fmt.Errorf("fpn_kernel_size %d, fpn_stride %d, fpn_padding %d: only 1, 1, 0 are supported", v.Kernel,
			v.Stride, v.Padding)
	case v.Width != c.Decoder.HiddenSize:
		return fmt.Errorf("fpn_hidden_size %d must be mask_decoder_config's hidden_size %d", v.Width,
			c.Decoder.HiddenSize)
	}
	return nil
}

func (c *DecoderConfig) check() error {
	if err := cmp.Or(c.Check(), hub.Between("num_multimask_outputs", c.Masks, 1, 1<<8)); err != nil {
		return err
	}
	if !(c.Delta >= 0) || !(math.Abs(c.Threshold) <= 1) || math.IsInf(c.Delta, 0) {
		return fmt.Errorf("dynamic_multimask_stability_delta %v and …_thresh %v are no positive number and a share",
			c.Delta, c.Threshold)
	}
	return nil
}

// mlpLayers is the number of dense layers in the perceptrons of the decoder's layers.
func (c *DecoderConfig) mlpLayers() int { return max(2, c.Layers) }

// hidden is the width of a stage's perceptrons.
func (h *HieraConfig) hidden(stage int) int { return int(float64(h.Widths[stage]) * h.MLPRatio) }

// window is the side of the windows that a block of a stage attends in, 0 = the whole map. The first block of a stage
// has the windows of the stage before.
func (h *HieraConfig) window(stage, block int, first bool) int {
	switch {
	case slices.Contains(h.GlobalBlocks, block):
		return 0
	case first && stage > 0:
		return h.Windows[stage-1]
	}
	return h.Windows[stage]
}

// Side is the height and width of a stage's map.
func (c *Config) Side(stage int) int { return int(c.ImageSize) / 4 >> stage }

// LogitSide is the height and width of the logits.
func (c *Config) LogitSide() int { return c.Side(0) }
