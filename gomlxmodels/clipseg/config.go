package clipseg

import (
	"cmp"
	"encoding/json"
	"fmt"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/vit"
)

// Config is the configuration of a CLIPSeg: the keys of Hugging Face's CLIPSegConfig. The decoder's activation is
// ReLU and its norms' epsilon the image tower's, whatever decoder_hidden_act is, as in transformers.
type Config struct {
	clip.Config
	// blocks of the image tower whose outputs the decoder takes, from 0; the last of the list first
	ExtractLayers           []int `json:"extract_layers"`
	ReduceDim               int   `json:"reduce_dim"`
	DecoderHeads            int   `json:"decoder_num_attention_heads"`
	DecoderIntermediateSize int   `json:"decoder_intermediate_size"`
	ConditionalLayer        int   `json:"conditional_layer"` // the decoder layer before which the prompt enters, from 0
	ComplexDeconvolution    bool  `json:"use_complex_transposed_convolution"`
	// Side is the images' height and width in pixels: vision_config's image_size, or what the preprocessing gives.
	// The position embeddings are resized to it.
	Side int `json:"-"`
}

// ParseConfig reads the config.json of a CLIPSegForImageSegmentation and validates it.
func ParseConfig(text []byte) (*Config, error) {
	if _, err := hub.ModelType(text, "a CLIPSegForImageSegmentation (clipseg)", "clipseg"); err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	keys["model_type"] = json.RawMessage(`"clip"`) // both towers' keys and start values are CLIPConfig's
	both, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	towers, err := clip.ParseConfig(both)
	if err != nil {
		return nil, err
	}
	c := &Config{Config: *towers, ExtractLayers: []int{3, 6, 9}, ReduceDim: 64, DecoderHeads: 4,
		DecoderIntermediateSize: 2048, Side: towers.Vision.ImageSize}
	for name, to := range map[string]any{
		"extract_layers": &c.ExtractLayers, "reduce_dim": &c.ReduceDim, "decoder_num_attention_heads": &c.DecoderHeads,
		"decoder_intermediate_size": &c.DecoderIntermediateSize, "conditional_layer": &c.ConditionalLayer,
		"use_complex_transposed_convolution": &c.ComplexDeconvolution,
	} {
		if raw := keys[name]; raw != nil && string(raw) != "null" {
			if err := json.Unmarshal(raw, to); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return c, c.Validate()
}

// maxSide bounds the sides of images and of logits, so that a damaged file cannot exhaust the memory.
const maxSide = 1 << 13

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	if err := cmp.Or(c.Config.Validate(), hub.In("clipseg", cmp.Or(
		hub.Between("reduce_dim", c.ReduceDim, 1, 1<<14),
		hub.Between("decoder_num_attention_heads", c.DecoderHeads, 1, 1<<14),
		hub.Between("decoder_intermediate_size", c.DecoderIntermediateSize, 1, 1<<14)))); err != nil {
		return err
	}
	for _, layer := range c.ExtractLayers {
		if layer < 0 || layer >= c.Vision.Layers {
			return fmt.Errorf("clipseg: extract_layers %v: the image tower has the layers 0 to %d", c.ExtractLayers,
				c.Vision.Layers-1)
		}
	}
	patch := c.Vision.PatchSize
	switch {
	case len(c.ExtractLayers) == 0 || len(c.ExtractLayers) > 64:
		return fmt.Errorf("clipseg: extract_layers has %d entries, not between 1 and 64", len(c.ExtractLayers))
	case c.ReduceDim%c.DecoderHeads != 0:
		return fmt.Errorf("clipseg: reduce_dim %d not divisible by decoder_num_attention_heads %d", c.ReduceDim,
			c.DecoderHeads)
	case c.ConditionalLayer < 0 || c.ConditionalLayer >= len(c.ExtractLayers):
		return fmt.Errorf("clipseg: conditional_layer %d is not one of the decoder's %d layers: prompts would "+
			"change nothing", c.ConditionalLayer, len(c.ExtractLayers))
	case c.ComplexDeconvolution && (patch < 4 || c.ReduceDim < 2):
		return fmt.Errorf("clipseg: use_complex_transposed_convolution needs a patch_size of at least 4 and a "+
			"reduce_dim of at least 2, not %d and %d", patch, c.ReduceDim)
	case c.Side < patch || c.Side > maxSide:
		return fmt.Errorf("clipseg: images of %d pixels a side: not between patch_size %d and %d", c.Side, patch,
			maxSide)
	case c.Grid()*c.Grid() > 1<<14 || c.LogitSide() > maxSide:
		return fmt.Errorf("clipseg: images of %d pixels a side in patches of %d make %d patches and %d logits a "+
			"side: too many", c.Side, patch, c.Grid()*c.Grid(), c.LogitSide())
	}
	return nil
}

// Grid is the number of patches a side.
func (c *Config) Grid() int { return c.Side / c.Vision.PatchSize }

// enlarge is how many logits a side a patch becomes, in the steps of the deconvolution.
func (c *Config) enlarge() []int {
	if c.ComplexDeconvolution {
		return []int{c.Vision.PatchSize / 4, c.Vision.PatchSize / 4}
	}
	return []int{c.Vision.PatchSize}
}

// LogitSide is the height and width of the logits: the images' own side where the patch is 16 or the deconvolution
// simple.
func (c *Config) LogitSide() int {
	side := c.Grid()
	for _, k := range c.enlarge() {
		side *= k
	}
	return side
}

// depth is the number of blocks of the image tower that are needed.
func (c *Config) depth() int {
	n := 0
	for _, layer := range c.ExtractLayers {
		n = max(n, layer+1)
	}
	return n
}

// tower is the needed part of the image tower as package vit knows it, for images of Side pixels.
func (c *Config) tower() *vit.Config {
	v := c.Vision.ViT()
	v.Layers, v.ImageSize, v.PreNorm = c.depth(), vit.Pair{c.Side, c.Side}, true
	return v
}
