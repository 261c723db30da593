package clip

import (
	"cmp"
	"encoding/json"
	"fmt"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/vit"
)

// Config is the configuration of a CLIP: the keys of Hugging Face's CLIPConfig. That of a SigLIP is made the same.
type Config struct {
	Text          TextConfig       `json:"text_config"`
	Vision        vit.SquareConfig `json:"vision_config"`
	ProjectionDim int              `json:"projection_dim"`

	// ImagesOnly says that the text tower is another model's: of an AltCLIPModel package textenc reads it. Text
	// then stays at its default and means nothing.
	ImagesOnly bool `json:"-"`

	// SigLIP says that the model is a SigLIP: its image tower ends in a pooling head (package vit) without a
	// projection, and its logits have a bias.
	SigLIP bool `json:"-"`

	openCLIP bool // tensors are named as open_clip does
	named    bool // open_clip's configuration names a tokenizer of transformers

	layer string // the checkpoint's name for its list of blocks; "" = layers
}

// TextConfig is the text tower's shape: the keys of CLIPTextConfig.
type TextConfig struct {
	hub.Transformer
	VocabSize int `json:"vocab_size"`
	Context   int `json:"max_position_embeddings"` // the longest text, in tokens
	// EndToken is the end-of-text token; [HighestToken] means the token with the highest id in a text, as in the first
	// checkpoints, whose configurations contain a wrong one.
	EndToken int `json:"eos_token_id"`

	// Full says that every token attends to all, that texts are padded to Context tokens, and that the last of these
	// has the embedding: SigLIP's tower. Pad is the token of the padding, which is on the left with PadLeft;
	// [Model.Texts] sets both.
	Full    bool  `json:"-"`
	Pad     int32 `json:"-"`
	PadLeft bool  `json:"-"`
}

// HighestToken is the [TextConfig.EndToken] that means the token with the highest id of a text.
const HighestToken = 2

// DefaultConfig is CLIPConfig's: CLIP ViT-B/32.
func DefaultConfig() Config {
	return Config{
		Text: TextConfig{Transformer: hub.Transformer{HiddenSize: 512, IntermediateSize: 2048, Layers: 12, Heads: 8,
			HiddenAct: "quick_gelu", LayerNormEps: 1e-5},
			VocabSize: 49408, Context: 77, EndToken: 49407},
		Vision: vit.SquareConfig{Transformer: hub.Transformer{HiddenSize: 768, IntermediateSize: 3072, Layers: 12,
			Heads: 12, HiddenAct: "quick_gelu", LayerNormEps: 1e-5},
			NumChannels: 3, ImageSize: 224, PatchSize: 32},
		ProjectionDim: 512,
	}
}

// ParseConfig reads the config.json of a CLIPModel and validates it. Where the file holds text_config_dict or
// vision_config_dict, as old ones do, they replace text_config and vision_config, as in transformers.
func ParseConfig(text []byte) (*Config, error) {
	kind, err := hub.ModelType(text, "a CLIPModel (clip), AltCLIPModel (altclip) or SiglipModel (siglip)", "clip",
		altCLIP, sigLIP)
	if err != nil {
		return nil, err
	}
	if kind == sigLIP {
		return parseSigLIP(text)
	}
	var f struct {
		Text          json.RawMessage `json:"text_config"`
		TextDict      json.RawMessage `json:"text_config_dict"`
		Vision        json.RawMessage `json:"vision_config"`
		VisionDict    json.RawMessage `json:"vision_config_dict"`
		ProjectionDim *int            `json:"projection_dim"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	c := DefaultConfig()
	if kind == altCLIP {
		c.ImagesOnly, f.Text, f.TextDict = true, nil, nil
	}
	if f.ProjectionDim != nil {
		c.ProjectionDim = *f.ProjectionDim
	}
	parts := []hub.Part{{Name: "text_config", Raw: f.Text, To: &c.Text},
		{Name: "vision_config", Raw: f.Vision, To: &c.Vision}}
	for i, dict := range []json.RawMessage{f.TextDict, f.VisionDict} {
		if hub.Given(dict) {
			parts[i].Raw, parts[i].Name = dict, parts[i].Name+"_dict"
		}
	}
	if err := hub.ReadParts(parts...); err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

// altCLIP is the model_type of a CLIP whose text tower, an XLM-R, is package textenc's.
const altCLIP = "altclip"

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	t := &c.Text
	var end error
	if t.EndToken != HighestToken && !t.Full {
		end = hub.Token("eos_token_id", t.EndToken, t.VocabSize)
	}
	return hub.In("clip", cmp.Or(
		hub.Between("projection_dim", c.ProjectionDim, 1, hub.MaxDim),
		hub.In("text_config", cmp.Or(t.CheckTransformer(), hub.Between("vocab_size", t.VocabSize, 1, hub.MaxVocab),
			hub.Between("max_position_embeddings", t.Context, 1, hub.MaxSide), end)),
		hub.In("vision_config", c.Vision.Validate())))
}

// tower returns the image tower as package vit knows it.
func (c *Config) tower() *vit.Config {
	v := c.Vision.ViT()
	v.PreNorm, v.AttentionPool = !c.SigLIP, c.SigLIP
	return v
}

// End returns the position of the end-of-text token in a text: the first token of that id, or under the legacy rule
// the first of the highest id; with Full the last token. −1 where there is none.
func (t *TextConfig) End(ids []int32) int {
	at := -1
	if t.Full {
		return len(ids) - 1
	}
	for i, id := range ids {
		if t.EndToken == HighestToken {
			if at < 0 || id > ids[at] {
				at = i
			}
		} else if int(id) == t.EndToken {
			return i
		}
	}
	return at
}
