package diffusion

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"antipode/gomlxmodels/hub"
)

// UNetConfig is the shape of a UNet2DConditionModel: the keys of its config.json. Blocks are counted from the finest.
type UNetConfig struct {
	InChannels          int      `json:"in_channels"`
	OutChannels         int      `json:"out_channels"`
	SampleSize          Ints     `json:"sample_size"` // side of the latents it was trained on
	FlipSinToCos        bool     `json:"flip_sin_to_cos"`
	FreqShift           float64  `json:"freq_shift"`
	DownBlocks          []string `json:"down_block_types"`
	UpBlocks            []string `json:"up_block_types"` // from the coarsest
	Widths              []int    `json:"block_out_channels"`
	Layers              Ints     `json:"layers_per_block"`
	Groups              int      `json:"norm_num_groups"`
	NormEps             float64  `json:"norm_eps"`
	ContextDim          int      `json:"cross_attention_dim"`
	TransformerLayers   Ints     `json:"transformer_layers_per_block"`
	Heads               Ints     `json:"attention_head_dim"` // the number of heads, in spite of its name
	UseLinearProjection bool     `json:"use_linear_projection"`
	UpcastAttention     bool     `json:"upcast_attention"` // attention is computed in float32 whatever the dtype
	Version             string   `json:"_diffusers_version"`
}

// VAEConfig is the shape of an AutoencoderKL: the keys of its config.json.
type VAEConfig struct {
	InChannels       int      `json:"in_channels"`
	OutChannels      int      `json:"out_channels"`
	DownBlocks       []string `json:"down_block_types"`
	UpBlocks         []string `json:"up_block_types"` // from the coarsest
	Widths           []int    `json:"block_out_channels"`
	Layers           int      `json:"layers_per_block"`
	LatentChannels   int      `json:"latent_channels"`
	Groups           int      `json:"norm_num_groups"`
	ScalingFactor    float64  `json:"scaling_factor"` // latents of the UNet are those of the autoencoder times this
	UseQuantConv     bool     `json:"use_quant_conv"`
	UsePostQuantConv bool     `json:"use_post_quant_conv"`
	MidAttention     bool     `json:"mid_block_add_attention"`

	oldNames bool // the tensors of its attention are called as in the first checkpoints
}

// Ints is a list of numbers that a configuration may give as one number for all.
type Ints []int

// UnmarshalJSON reads a number or a list.
func (v *Ints) UnmarshalJSON(text []byte) error {
	var one int
	if err := json.Unmarshal(text, &one); err == nil {
		*v = Ints{one}
		return nil
	}
	return json.Unmarshal(text, (*[]int)(v))
}

// spread repeats a single number n times.
func (v *Ints) spread(n int) {
	if len(*v) == 1 {
		*v = slices.Repeat(*v, n)
	}
}

// The types of blocks.
const (
	downPlain = "DownBlock2D"
	downCross = "CrossAttnDownBlock2D"
	upPlain   = "UpBlock2D"
	upCross   = "CrossAttnUpBlock2D"
	midCross  = "UNetMidBlock2DCrossAttn"
	vaeDown   = "DownEncoderBlock2D"
)

// The types of the blocks of an autoencoder's decoder, the values of [VAEConfig].UpBlocks.
const (
	UpBlock          = "UpDecoderBlock2D"
	UpAttentionBlock = "AttnUpDecoderBlock2D" // with attention after each residual block
)

// DefaultUNetConfig is what UNet2DConditionModel uses for missing keys.
func DefaultUNetConfig() UNetConfig {
	return UNetConfig{InChannels: 4, OutChannels: 4, FlipSinToCos: true,
		DownBlocks: []string{downCross, downCross, downCross, downPlain}, UpBlocks: []string{upPlain, upCross, upCross,
			upCross},
		Widths: []int{320, 640, 1280, 1280}, Layers: Ints{2}, Groups: 32, NormEps: 1e-5, ContextDim: 1280,
		TransformerLayers: Ints{1}, Heads: Ints{8}}
}

// DefaultVAEConfig is what AutoencoderKL uses for missing keys.
func DefaultVAEConfig() VAEConfig {
	return VAEConfig{InChannels: 3, OutChannels: 3, DownBlocks: []string{vaeDown}, UpBlocks: []string{UpBlock},
		Widths: []int{64}, Layers: 1,
		LatentChannels: 4, Groups: 32, ScalingFactor: 0.18215, UseQuantConv: true, UsePostQuantConv: true,
		MidAttention: true}
}

// unetFixed are the keys of a UNet whose other values no 1.x or 2.x model uses, with the value they must have; null
// and a missing key always do.
var unetFixed = map[string]string{
	"center_input_sample": "false", "downsample_padding": "1", "mid_block_type": `"` + midCross + `"`,
	"only_cross_attention": "false", "mid_block_only_cross_attention": "false",
	"mid_block_scale_factor": "1", "act_fn": `"silu"`, "encoder_hid_dim": "null", "encoder_hid_dim_type": "null",
	"num_attention_heads":  "null",
	"dual_cross_attention": "false", "class_embed_type": "null", "addition_embed_type": "null",
	"num_class_embeds":        "null",
	"resnet_time_scale_shift": `"default"`, "resnet_skip_time_act": "false", "resnet_out_scale_factor": "1",
	"time_embedding_type": `"positional"`,
	"time_embedding_dim":  "null", "time_embedding_act_fn": "null", "timestep_post_act": "null",
	"time_cond_proj_dim": "null", "conv_in_kernel": "3",
	"conv_out_kernel": "3", "attention_type": `"default"`, "class_embeddings_concat": "false",
	"cross_attention_norm":                 "null",
	"reverse_transformer_layers_per_block": "null",
}

// vaeFixed is unetFixed for an autoencoder.
var vaeFixed = map[string]string{"act_fn": `"silu"`, "shift_factor": "null", "latents_mean": "null",
	"latents_std": "null"}

// parse reads the configuration of a class into defaults. Keys of the table of fixed values must have those.
func parse(text []byte, class string, table map[string]string, to any) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("not readable as JSON: %w", err)
	}
	if name, given := all["_class_name"]; given && string(name) != `"`+class+`"` {
		return fmt.Errorf("_class_name %s is not %s", name, class)
	}
	if err := hub.FixedKeys(all, table); err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("not readable: %w", err)
	}
	return nil
}

// ParseUNetConfig reads the config.json of a UNet2DConditionModel and validates it.
func ParseUNetConfig(text []byte) (*UNetConfig, error) {
	c := DefaultUNetConfig()
	if err := parse(text, "UNet2DConditionModel", unetFixed, &c); err != nil {
		return nil, err
	}
	for _, list := range []*Ints{&c.Layers, &c.TransformerLayers, &c.Heads} {
		list.spread(len(c.Widths))
	}
	return &c, c.Validate()
}

// ParseVAEConfig reads the config.json of an AutoencoderKL and validates it.
func ParseVAEConfig(text []byte) (*VAEConfig, error) {
	c := DefaultVAEConfig()
	if err := parse(text, "AutoencoderKL", vaeFixed, &c); err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

// maxDim and maxLayers bound the sizes of a configuration, so that a damaged file cannot request all memory.
const (
	maxDim    = 1 << 14
	maxLayers = 64
)

// Validate returns an error that names invalid fields and their values.
func (c *UNetConfig) Validate() error {
	n := len(c.Widths)
	if err := levels(n, c.DownBlocks, c.UpBlocks); err != nil {
		return err
	}
	if c.Widths[0]%2 != 0 {
		return fmt.Errorf("block_out_channels: the first, %d, is odd: half its time embedding is sines, half cosines",
			c.Widths[0])
	}
	if err := cmp.Or(hub.Between("in_channels", c.InChannels, 1, maxDim),
		hub.Between("out_channels", c.OutChannels, 1, maxDim),
		hub.Between("cross_attention_dim", c.ContextDim, 1, maxDim)); err != nil {
		return err
	}
	for _, list := range []struct {
		name string
		v    []int
		max  int
	}{{"layers_per_block", c.Layers, maxLayers}, {"transformer_layers_per_block", c.TransformerLayers, maxLayers},
		{"attention_head_dim", c.Heads, maxDim}} {
		if len(list.v) != n {
			return fmt.Errorf("%s: %d numbers do not fit %d blocks", list.name, len(list.v), n)
		}
		for _, v := range list.v {
			if err := hub.Between(list.name, v, 1, list.max); err != nil {
				return err
			}
		}
	}
	for i := range n {
		if t := c.DownBlocks[i]; t != downPlain && t != downCross {
			return fmt.Errorf("down_block_types: %q is not %s or %s", t, downPlain, downCross)
		}
		if t := c.UpBlocks[i]; t != upPlain && t != upCross {
			return fmt.Errorf("up_block_types: %q is not %s or %s", t, upPlain, upCross)
		}
		if c.Widths[i]%c.Heads[i] != 0 {
			return fmt.Errorf("block_out_channels %d not divisible by attention_head_dim %d, the number of its heads",
				c.Widths[i], c.Heads[i])
		}
	}
	for _, b := range c.blocks().all() {
		for _, l := range b.layers { // the joined inputs of up blocks are grouped too
			if l.in%max(1, c.Groups) != 0 {
				return fmt.Errorf("%d channels of a layer not divisible by norm_num_groups %d", l.in, c.Groups)
			}
		}
	}
	return norms(c.Widths, c.Groups, c.NormEps)
}

// Validate returns an error that names invalid fields and their values.
func (c *VAEConfig) Validate() error {
	n := len(c.Widths)
	if err := levels(n, c.DownBlocks, c.UpBlocks); err != nil {
		return err
	}
	switch {
	case c.InChannels != 3 || c.OutChannels != 3:
		return fmt.Errorf("in_channels %d and out_channels %d: only autoencoders of 3-channel (RGB) images "+
			"are supported", c.InChannels, c.OutChannels)
	case !(math.Abs(c.ScalingFactor) > 1e-6) || math.IsInf(c.ScalingFactor, 0):
		return fmt.Errorf("scaling_factor %v is no factor", c.ScalingFactor)
	}
	for i := range n {
		if up := c.UpBlocks[i]; c.DownBlocks[i] != vaeDown || up != UpBlock && up != UpAttentionBlock {
			return fmt.Errorf("blocks %q and %q are not %s and %s or %s", c.DownBlocks[i], up, vaeDown, UpBlock,
				UpAttentionBlock)
		}
	}
	return cmp.Or(hub.Between("layers_per_block", c.Layers, 1, maxLayers),
		hub.Between("latent_channels", c.LatentChannels, 1, maxDim), norms(c.Widths, c.Groups, vaeEps))
}

// levels reports lists of block types that do not fit the number of widths.
func levels(n int, down, up []string) error {
	if n < 1 || n > 8 {
		return fmt.Errorf("block_out_channels: %d blocks are not between 1 and 8", n)
	}
	if len(down) != n || len(up) != n {
		return fmt.Errorf("%d down_block_types and %d up_block_types do not fit %d block_out_channels", len(down),
			len(up), n)
	}
	return nil
}

func norms(widths []int, groups int, epsilon float64) error {
	if err := hub.Between("norm_num_groups", groups, 1, maxDim); err != nil {
		return err
	}
	for _, w := range widths {
		if err := hub.Between("block_out_channels", w, 1, maxDim); err != nil {
			return err
		}
		if w%groups != 0 {
			return fmt.Errorf("block_out_channels %d not divisible by norm_num_groups %d", w, groups)
		}
	}
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return fmt.Errorf("norm_eps %v is not a positive number", epsilon)
	}
	return nil
}

// Factor returns the number of pixels per latent along each side.
func (c *VAEConfig) Factor() int { return 1 << (len(c.Widths) - 1) }
