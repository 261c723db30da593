package vqgan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
)

// Config is the shape of a VQGAN: the keys of the config.json of vqgan-jax and of the hyperparameters of
// taming-transformers.
type Config struct {
	Channels       int   `json:"ch"`
	OutChannels    int   `json:"out_ch"`
	Multipliers    []int `json:"ch_mult"` // of Channels, from the finest level
	ResBlocks      int   `json:"num_res_blocks"`
	AttentionSides []int `json:"attn_resolutions"` // sides of the levels that have attention
	Resolution     int   `json:"resolution"`       // side of an image in pixels
	LatentChannels int   `json:"z_channels"`
	Tokens         int   `json:"n_embed"`
	EmbedDim       int   `json:"embed_dim"`
	Convolve       bool  `json:"resamp_with_conv"`
	PreEnd         bool  `json:"give_pre_end"`
}

// DefaultConfig is f16-16384: images of 256×256 pixels from 16×16 of 16,384 tokens.
func DefaultConfig() Config {
	return Config{Channels: 128, OutChannels: 3, Multipliers: []int{1, 1, 2, 2, 4}, ResBlocks: 2,
		AttentionSides: []int{16}, Resolution: 256, LatentChannels: 256, Tokens: 16384, EmbedDim: 256, Convolve: true}
}

// ParseConfig reads a config.json and validates it.
func ParseConfig(text []byte) (*Config, error) {
	c := DefaultConfig()
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	return &c, c.Validate()
}

// groups of the group norms.
const groups = 32

// Validate returns an error that names an invalid key and its value.
func (c *Config) Validate() error {
	if err := hub.Between("ch", c.Channels, 1, hub.MaxDim); err != nil {
		return err
	}
	for _, m := range c.Multipliers {
		if err := hub.Between("ch_mult", m, 1, 64); err != nil {
			return err
		}
	}
	switch n := len(c.Multipliers); {
	case n < 1 || n > 8:
		return fmt.Errorf("ch_mult: %d levels are not between 1 and 8", n)
	case c.Channels%groups != 0:
		return fmt.Errorf("ch %d not divisible by %d, the groups of the norms", c.Channels, groups)
	case c.Resolution < 1 || c.Resolution > 4096 || c.Resolution%(1<<(n-1)) != 0:
		return fmt.Errorf("resolution %d is not between 1 and 4096 and divisible by %d", c.Resolution, 1<<(n-1))
	case c.OutChannels != 3:
		return fmt.Errorf("out_ch %d is not supported: only 3 is", c.OutChannels)
	case !c.Convolve:
		return fmt.Errorf("resamp_with_conv false is not supported: only true is")
	case c.PreEnd:
		return fmt.Errorf("give_pre_end true is not supported: only false is")
	}
	return cmp.Or(hub.Between("num_res_blocks", c.ResBlocks, 1, 64),
		hub.Between("z_channels", c.LatentChannels, 1, hub.MaxDim),
		hub.Between("embed_dim", c.EmbedDim, 1, hub.MaxDim), hub.Between("n_embed", c.Tokens, 1, hub.MaxVocab))
}

// Side is the number of tokens along a side of an image.
func (c *Config) Side() int { return c.Resolution >> (len(c.Multipliers) - 1) }

// Length is the number of tokens of an image.
func (c *Config) Length() int { return c.Side() * c.Side() }

// decoder is the decoder as package diffusion's autoencoder has it.
func (c *Config) decoder() *diffusion.VAEConfig {
	v := diffusion.DefaultVAEConfig()
	v.Layers, v.LatentChannels, v.Groups, v.OutChannels = c.ResBlocks, c.LatentChannels, groups, c.OutChannels
	v.UsePostQuantConv = false // it may change the number of channels here: Forward has its own
	v.Widths, v.UpBlocks = nil, nil
	for i, m := range c.Multipliers {
		v.Widths = append(v.Widths, c.Channels*m)
		up := diffusion.UpBlock
		if slices.Contains(c.AttentionSides, c.Resolution>>i) {
			up = diffusion.UpAttentionBlock
		}
		v.UpBlocks = slices.Insert(v.UpBlocks, 0, up)
	}
	return &v
}
