package clip

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"antipode/gomlxmodels/hfconfig"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// Config is a CLIP's shape: the keys of Hugging Face's CLIPConfig.
type Config struct {
	Text          TextConfig   `json:"text_config"`
	Vision        VisionConfig `json:"vision_config"`
	ProjectionDim int          `json:"projection_dim"`

	// PicturesOnly says that the text tower is another model's: of an AltCLIPModel package textenc reads it. Text then stays at
	// its default and means nothing.
	PicturesOnly bool `json:"-"`

	layer string // what the checkpoint calls its list of blocks, where not "layers"
}

// TextConfig is the text tower's shape: the keys of CLIPTextConfig.
type TextConfig struct {
	VocabSize        int     `json:"vocab_size"`
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	Layers           int     `json:"num_hidden_layers"`
	Heads            int     `json:"num_attention_heads"`
	Context          int     `json:"max_position_embeddings"` // the longest text, in tokens
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
	// EndToken is the end-of-text token; 2 stands for the token of the highest id of a text, as in the first checkpoints,
	// whose configurations name a wrong one.
	EndToken int `json:"eos_token_id"`
}

// VisionConfig is the image tower's shape: the keys of CLIPVisionConfig. Pictures and patches are square.
type VisionConfig struct {
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	Layers           int     `json:"num_hidden_layers"`
	Heads            int     `json:"num_attention_heads"`
	NumChannels      int     `json:"num_channels"`
	ImageSize        int     `json:"image_size"`
	PatchSize        int     `json:"patch_size"`
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
}

// legacyEnd is the EndToken that stands for the highest id.
const legacyEnd = 2

// DefaultConfig is CLIPConfig's: CLIP ViT-B/32.
func DefaultConfig() Config {
	return Config{
		Text: TextConfig{VocabSize: 49408, HiddenSize: 512, IntermediateSize: 2048, Layers: 12, Heads: 8, Context: 77,
			HiddenAct: "quick_gelu", LayerNormEps: 1e-5, EndToken: 49407},
		Vision: VisionConfig{HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 12, NumChannels: 3, ImageSize: 224, PatchSize: 32,
			HiddenAct: "quick_gelu", LayerNormEps: 1e-5},
		ProjectionDim: 512,
	}
}

// ParseConfig reads the config.json of a CLIPModel and validates it. Where the file holds text_config_dict or
// vision_config_dict, as old ones do, they replace text_config and vision_config, as in transformers.
func ParseConfig(text []byte) (*Config, error) {
	var f struct {
		ModelType     *string         `json:"model_type"`
		Text          json.RawMessage `json:"text_config"`
		TextDict      json.RawMessage `json:"text_config_dict"`
		Vision        json.RawMessage `json:"vision_config"`
		VisionDict    json.RawMessage `json:"vision_config_dict"`
		ProjectionDim *int            `json:"projection_dim"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	switch {
	case f.ModelType == nil:
		return nil, errors.New(`says no "model_type"`)
	case *f.ModelType != "clip" && *f.ModelType != altCLIP:
		return nil, fmt.Errorf("model_type %q is not a CLIPModel (clip) or AltCLIPModel (altclip)", *f.ModelType)
	}
	c := DefaultConfig()
	if *f.ModelType == altCLIP {
		c.PicturesOnly, f.Text, f.TextDict = true, nil, nil
	}
	if f.ProjectionDim != nil {
		c.ProjectionDim = *f.ProjectionDim
	}
	parts := []hfconfig.Part{{Name: "text_config", Raw: f.Text, To: &c.Text}, {Name: "vision_config", Raw: f.Vision, To: &c.Vision}}
	for i, dict := range []json.RawMessage{f.TextDict, f.VisionDict} {
		if hfconfig.Given(dict) {
			parts[i].Raw, parts[i].Name = dict, parts[i].Name+"_dict"
		}
	}
	if err := hfconfig.Read(parts...); err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

// altCLIP is the model_type of a CLIP whose text tower, an XLM-R, is package textenc's.
const altCLIP = "altclip"

// Validate says what is wrong with the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	t, v := &c.Text, &c.Vision
	if err := hfconfig.Check([]hfconfig.Size{
		{Name: "projection_dim", Value: c.ProjectionDim, Most: hfconfig.MaxDim}, {Name: "text_config: vocab_size", Value: t.VocabSize, Most: hfconfig.MaxVocab},
		{Name: "text_config: max_position_embeddings", Value: t.Context, Most: 1 << 14}, {Name: "text_config: hidden_size", Value: t.HiddenSize, Most: hfconfig.MaxDim},
		{Name: "text_config: intermediate_size", Value: t.IntermediateSize, Most: hfconfig.MaxDim}, {Name: "text_config: num_hidden_layers", Value: t.Layers, Most: hfconfig.MaxDim},
		{Name: "text_config: num_attention_heads", Value: t.Heads, Most: hfconfig.MaxDim}, {Name: "vision_config: image_size", Value: v.ImageSize, Most: 1 << 14},
		{Name: "vision_config: patch_size", Value: v.PatchSize, Most: 1 << 14}, {Name: "vision_config: hidden_size", Value: v.HiddenSize, Most: hfconfig.MaxDim},
		{Name: "vision_config: intermediate_size", Value: v.IntermediateSize, Most: hfconfig.MaxDim}, {Name: "vision_config: num_hidden_layers", Value: v.Layers, Most: hfconfig.MaxDim},
		{Name: "vision_config: num_attention_heads", Value: v.Heads, Most: hfconfig.MaxDim},
	}); err != nil {
		return fmt.Errorf("clip: %w", err)
	}
	for _, part := range []struct {
		name         string
		width, heads int
		act          string
		epsilon      float64
	}{
		{"text_config", t.HiddenSize, t.Heads, t.HiddenAct, t.LayerNormEps},
		{"vision_config", v.HiddenSize, v.Heads, v.HiddenAct, v.LayerNormEps},
	} {
		if part.width%part.heads != 0 {
			return fmt.Errorf("clip: %s: hidden_size %d not divisible by num_attention_heads %d", part.name, part.width, part.heads)
		}
		if !(part.epsilon > 0) || math.IsInf(part.epsilon, 0) {
			return fmt.Errorf("clip: %s: layer_norm_eps %v is not a positive number", part.name, part.epsilon)
		}
		if err := nn.KnownActivation(part.act); err != nil {
			return fmt.Errorf("clip: %s: hidden_act: %w", part.name, err)
		}
	}
	switch grid := v.ImageSize / v.PatchSize; {
	case v.NumChannels != 3:
		return fmt.Errorf("clip: vision_config: num_channels %d: only models of 3-channel (RGB) images are supported", v.NumChannels)
	case grid < 1:
		return fmt.Errorf("clip: vision_config: patch_size %d larger than image_size %d", v.PatchSize, v.ImageSize)
	case grid*grid > 1<<14:
		return fmt.Errorf("clip: vision_config: image_size %d and patch_size %d make %d patches, more than %d", v.ImageSize, v.PatchSize, grid*grid, 1<<14)
	case t.EndToken != legacyEnd && (t.EndToken < 0 || t.EndToken >= t.VocabSize):
		return fmt.Errorf("clip: text_config: eos_token_id %d is not a token (vocab_size %d)", t.EndToken, t.VocabSize)
	}
	return nil
}

// vit is the image tower as package vit knows it.
func (v *VisionConfig) vit() *vit.Config {
	return &vit.Config{HiddenSize: v.HiddenSize, Layers: v.Layers, Heads: v.Heads, IntermediateSize: v.IntermediateSize, HiddenAct: v.HiddenAct,
		LayerNormEps: v.LayerNormEps, ImageSize: vit.Pair{v.ImageSize, v.ImageSize}, PatchSize: vit.Pair{v.PatchSize, v.PatchSize},
		NumChannels: v.NumChannels, QKVBias: true, PreNorm: true}
}

// End is the place of the end-of-text token in a text: the first token of that id, or under the legacy rule the first of
// the highest id. −1 where there is none.
func (t *TextConfig) End(ids []int32) int {
	at := -1
	for i, id := range ids {
		if t.EndToken == legacyEnd {
			if at < 0 || id > ids[at] {
				at = i
			}
		} else if int(id) == t.EndToken {
			return i
		}
	}
	return at
}
