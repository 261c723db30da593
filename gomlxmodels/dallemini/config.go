package dallemini

import (
	"cmp"
	"encoding/json"
	"fmt"

	"antipode/gomlxmodels/hub"
)

// Config is the shape of a DALL·E mini: the keys of DalleBartConfig.
type Config struct {
	TextVocab    int  `json:"encoder_vocab_size"`
	ImageVocab   int  `json:"image_vocab_size"` // the networks' is one larger
	ImageLength  int  `json:"image_length"`
	TextLength   int  `json:"max_text_length"`
	Width        int  `json:"d_model"`
	EncoderDepth int  `json:"encoder_layers"`
	EncoderHeads int  `json:"encoder_attention_heads"`
	EncoderGLU   int  `json:"encoder_ffn_dim"`
	DecoderDepth int  `json:"decoder_layers"`
	DecoderHeads int  `json:"decoder_attention_heads"`
	DecoderGLU   int  `json:"decoder_ffn_dim"`
	Start        *int `json:"decoder_start_token_id"`
	Normalize    bool `json:"normalize_text"`
}

// fixed are the keys that decide about the network and the values of mini and mega.
var fixed = map[string]string{
	"activation_function": `"gelu"`, "ln_type": `"layernorm"`, "ln_positions": `"normformer"`, "use_bias": "false",
	"use_glu": "true", "force_ln_scale": "false", "tie_word_embeddings": "false", "scale_embedding": "false",
	"use_head_scale": "false", "head_scale": "false", "use_cosine_attention": "false", "use_alibi": "false",
	"use_absolute_position_embeddings": "true", "use_swin_position_embeddings": "false",
	"use_deepnet_scaling": "false", "sinkhorn_iters": "1", "use_final_ln_encoder": "true",
	"use_final_ln_decoder": "true",
}

// ModelType is the model_type of the configurations.
const ModelType = "dallebart"

// ParseConfig reads a config.json and validates it. Keys whose other values the network does not implement are refused
// by key and value.
func ParseConfig(text []byte) (*Config, error) {
	if _, err := hub.ModelType(text, "a DALL·E mini (dallebart)", ModelType); err != nil {
		return nil, err
	}
	c := Config{TextVocab: 50264, ImageVocab: 16384, ImageLength: 256, TextLength: 64, Width: 1024, EncoderDepth: 12,
		EncoderHeads: 16, EncoderGLU: 4096, DecoderDepth: 12, DecoderHeads: 16, DecoderGLU: 4096}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	if err := hub.FixedKeys(all, fixed); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("not readable: %w", err)
	}
	if c.Start == nil {
		start := c.ImageVocab // DalleBartConfig's default
		c.Start = &start
	}
	return &c, c.Validate()
}

// Validate returns an error that names an invalid key and its value.
func (c *Config) Validate() error {
	if err := cmp.Or(hub.Between("encoder_vocab_size", c.TextVocab, 4, hub.MaxVocab),
		hub.Between("image_vocab_size", c.ImageVocab, 1, hub.MaxVocab),
		hub.Between("image_length", c.ImageLength, 1, hub.MaxDim),
		hub.Between("max_text_length", c.TextLength, 3, hub.MaxDim),
		hub.Between("d_model", c.Width, 1, hub.MaxDim),
		hub.Between("encoder_layers", c.EncoderDepth, 1, hub.MaxLayers),
		hub.Between("decoder_layers", c.DecoderDepth, 1, hub.MaxLayers),
		hub.Between("encoder_ffn_dim", c.EncoderGLU, 1, hub.MaxDim),
		hub.Between("decoder_ffn_dim", c.DecoderGLU, 1, hub.MaxDim),
		hub.Between("encoder_attention_heads", c.EncoderHeads, 1, hub.MaxDim),
		hub.Between("decoder_attention_heads", c.DecoderHeads, 1, hub.MaxDim),
		hub.Between("decoder_start_token_id", *c.Start, 0, c.ImageVocab)); err != nil {
		return err
	}
	for key, heads := range map[string]int{"encoder_attention_heads": c.EncoderHeads,
		"decoder_attention_heads": c.DecoderHeads} {
		if c.Width%heads != 0 {
			return fmt.Errorf("d_model %d not divisible by %s %d", c.Width, key, heads)
		}
	}
	return nil
}
