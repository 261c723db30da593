package blip

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"antipode/gomlxmodels/hfconfig"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// Config is a captioner's shape: the keys of Hugging Face's BlipConfig.
type Config struct {
	Text   TextConfig   `json:"text_config"`
	Vision VisionConfig `json:"vision_config"`

	// Tied says that the head's weights are the words' own where the checkpoint holds no others.
	Tied bool `json:"tie_word_embeddings"`

	ownHead, ownBias bool // the head's weights, or its bias, are tensors of their own
}

// TextConfig is the decoder's shape: the keys of BlipTextConfig.
type TextConfig struct {
	VocabSize        int     `json:"vocab_size"`
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	Layers           int     `json:"num_hidden_layers"`
	Heads            int     `json:"num_attention_heads"`
	Positions        int     `json:"max_position_embeddings"` // the longest text, in tokens
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
	StartToken       int     `json:"bos_token_id"` // every text begins with it
	EndToken         int     `json:"sep_token_id"` // ends a caption
	IsDecoder        bool    `json:"is_decoder"`
}

// VisionConfig is the tower's shape: the keys of BlipVisionConfig. Pictures and patches are square.
type VisionConfig struct {
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	Layers           int     `json:"num_hidden_layers"`
	Heads            int     `json:"num_attention_heads"`
	ImageSize        int     `json:"image_size"`
	PatchSize        int     `json:"patch_size"`
	NumChannels      int     `json:"num_channels"`
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
}

// DefaultConfig is BlipConfig's. (The captioning models on the hub say 12 heads for the decoder.)
func DefaultConfig() Config {
	return Config{
		Text: TextConfig{VocabSize: 30524, HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 8, Positions: 512,
			HiddenAct: "gelu", LayerNormEps: 1e-12, StartToken: 30522, EndToken: 102, IsDecoder: true},
		Vision: VisionConfig{HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 12, ImageSize: 384, PatchSize: 16, NumChannels: 3,
			HiddenAct: "gelu", LayerNormEps: 1e-5},
		Tied: true,
	}
}

// ParseConfig reads the config.json of a BlipForConditionalGeneration and validates it.
func ParseConfig(text []byte) (*Config, error) {
	var f struct {
		ModelType     *string         `json:"model_type"`
		Architectures []string        `json:"architectures"`
		Text          json.RawMessage `json:"text_config"`
		Vision        json.RawMessage `json:"vision_config"`
		Tied          *bool           `json:"tie_word_embeddings"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	switch {
	case f.ModelType == nil:
		return nil, errors.New(`says no "model_type"`)
	case *f.ModelType != "blip":
		return nil, fmt.Errorf("model_type %q is not a BLIP (blip)", *f.ModelType)
	case len(f.Architectures) > 0 && f.Architectures[0] != "BlipForConditionalGeneration":
		return nil, fmt.Errorf("a %s writes no captions: take a BlipForConditionalGeneration", f.Architectures[0])
	}
	c := DefaultConfig()
	if f.Tied != nil {
		c.Tied = *f.Tied
	}
	if err := hfconfig.Read(hfconfig.Part{Name: "text_config", Raw: f.Text, To: &c.Text}, hfconfig.Part{Name: "vision_config", Raw: f.Vision, To: &c.Vision}); err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

// Validate says what is wrong with the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	t, v := &c.Text, &c.Vision
	if err := hfconfig.Check([]hfconfig.Size{
		{Name: "text_config: vocab_size", Value: t.VocabSize, Most: hfconfig.MaxVocab}, {Name: "text_config: max_position_embeddings", Value: t.Positions, Most: 1 << 14},
		{Name: "text_config: hidden_size", Value: t.HiddenSize, Most: hfconfig.MaxDim}, {Name: "text_config: intermediate_size", Value: t.IntermediateSize, Most: hfconfig.MaxDim},
		{Name: "text_config: num_hidden_layers", Value: t.Layers, Most: 1 << 10}, {Name: "text_config: num_attention_heads", Value: t.Heads, Most: hfconfig.MaxDim},
		{Name: "vision_config: image_size", Value: v.ImageSize, Most: 1 << 14}, {Name: "vision_config: patch_size", Value: v.PatchSize, Most: 1 << 14},
		{Name: "vision_config: hidden_size", Value: v.HiddenSize, Most: hfconfig.MaxDim}, {Name: "vision_config: intermediate_size", Value: v.IntermediateSize, Most: hfconfig.MaxDim},
		{Name: "vision_config: num_hidden_layers", Value: v.Layers, Most: 1 << 10}, {Name: "vision_config: num_attention_heads", Value: v.Heads, Most: hfconfig.MaxDim},
	}); err != nil {
		return fmt.Errorf("blip: %w", err)
	}
	switch {
	case t.HiddenSize%t.Heads != 0:
		return fmt.Errorf("blip: text_config: hidden_size %d not divisible by num_attention_heads %d", t.HiddenSize, t.Heads)
	case !(t.LayerNormEps > 0) || math.IsInf(t.LayerNormEps, 0):
		return fmt.Errorf("blip: text_config: layer_norm_eps %v is not a positive number", t.LayerNormEps)
	case !t.IsDecoder:
		return errors.New("blip: text_config: is_decoder is false: the model writes no text")
	}
	for _, f := range []struct {
		name  string
		token int
	}{{"bos_token_id", t.StartToken}, {"sep_token_id", t.EndToken}} {
		if f.token < 0 || f.token >= t.VocabSize {
			return fmt.Errorf("blip: text_config: %s %d is not a token (vocab_size %d)", f.name, f.token, t.VocabSize)
		}
	}
	if err := nn.KnownActivation(t.HiddenAct); err != nil {
		return fmt.Errorf("blip: text_config: hidden_act: %w", err)
	}
	if err := v.vit().Validate(); err != nil {
		return fmt.Errorf("blip: vision_config: %w", err)
	}
	return nil
}

// vit is the tower as package vit knows it.
func (v *VisionConfig) vit() *vit.Config {
	return &vit.Config{HiddenSize: v.HiddenSize, Layers: v.Layers, Heads: v.Heads, IntermediateSize: v.IntermediateSize, HiddenAct: v.HiddenAct,
		LayerNormEps: v.LayerNormEps, ImageSize: vit.Pair{v.ImageSize, v.ImageSize}, PatchSize: vit.Pair{v.PatchSize, v.PatchSize},
		NumChannels: v.NumChannels, QKVBias: true}
}
