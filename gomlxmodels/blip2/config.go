package blip2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/vit"
	"antipode/internal/plaintext"
)

// Config is a model's shape: the keys of Hugging Face's Blip2Config.
type Config struct {
	Text    TextConfig    `json:"text_config"`
	Vision  vit.Config    `json:"vision_config"`
	QFormer QFormerConfig `json:"qformer_config"`

	Queries    int `json:"num_query_tokens"`       // K
	SharedSize int `json:"image_text_hidden_size"` // C
	// the placeholder of each query in a prompt; nil in folders saved before it existed
	ImageToken *int `json:"image_token_index"`

	ownHead bool // the head's weights are a tensor of their own
}

// TextConfig is the language model's shape: the keys of OPTConfig.
type TextConfig struct {
	ModelType        string `json:"model_type"`
	VocabSize        int    `json:"vocab_size"`
	HiddenSize       int    `json:"hidden_size"`
	WordSize         int    `json:"word_embed_proj_dim"` // of words; 0 = HiddenSize
	IntermediateSize int    `json:"ffn_dim"`
	Layers           int    `json:"num_hidden_layers"`
	Heads            int    `json:"num_attention_heads"`
	Positions        int    `json:"max_position_embeddings"` // the longest text, in tokens, queries included
	HiddenAct        string `json:"activation_function"`
	// normalization before attention and MLP, and once after all blocks
	NormBefore  bool   `json:"do_layer_norm_before"`
	NoFinalNorm bool   `json:"_remove_final_layer_norm"`
	Bias        bool   `json:"enable_bias"`
	AffineNorm  bool   `json:"layer_norm_elementwise_affine"`
	StartToken  int    `json:"bos_token_id"` // every text begins with it
	EndTokens   tokens `json:"eos_token_id"` // each ends a caption
	Tied        bool   `json:"tie_word_embeddings"`
}

// tokens is one token or several; in JSON a number or a list of them.
type tokens []int32

// UnmarshalJSON reads 2, [2, 50118] or null.
func (t *tokens) UnmarshalJSON(text []byte) error {
	var one int32
	if bytes.Equal(text, []byte("null")) {
		*t = nil
		return nil
	}
	if json.Unmarshal(text, &one) == nil {
		*t = tokens{one}
		return nil
	}
	var list []int32
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s is neither a token nor a list of tokens", plaintext.OneLine(string(text)))
	}
	*t = list
	return nil
}

// QFormerConfig is the Q-Former's shape: the keys of Blip2QFormerConfig.
type QFormerConfig struct {
	hub.Transformer
	VocabSize int `json:"vocab_size"`
	Positions int `json:"max_position_embeddings"` // the longest text, in tokens
	// every LookEvery-th block, starting with the first, has cross-attention to the image
	LookEvery  int  `json:"cross_attention_frequency"`
	ReadsTexts bool `json:"use_qformer_text_input"`
}

// DefaultConfig is Blip2Config's, with OPTConfig's language model.
func DefaultConfig() Config {
	return Config{
		Text: TextConfig{ModelType: "opt", VocabSize: 50272, HiddenSize: 768, IntermediateSize: 3072, Layers: 12,
			Heads: 12, Positions: 2048, HiddenAct: "relu",
			NormBefore: true, Bias: true, AffineNorm: true, StartToken: 2, EndTokens: tokens{2}, Tied: true},
		Vision: vit.Config{Transformer: hub.Transformer{HiddenSize: 1408, IntermediateSize: 6144, Layers: 39, Heads: 16,
			HiddenAct: "gelu", LayerNormEps: 1e-6},
			ImageSize: vit.Pair{224, 224}, PatchSize: vit.Pair{14, 14}, NumChannels: 3, QKVBias: true},
		QFormer: QFormerConfig{Transformer: hub.Transformer{HiddenSize: 768, IntermediateSize: 3072, Layers: 12,
			Heads: 12, HiddenAct: "gelu", LayerNormEps: 1e-12},
			VocabSize: 30522, Positions: 512, LookEvery: 2},
		Queries: 32, SharedSize: 256,
	}
}

// ParseConfig reads the config.json of a BLIP-2 and validates all but the language model; for that, see
// [Config.ValidateText].
func ParseConfig(text []byte) (*Config, error) {
	if _, err := hub.ModelType(text, "a BLIP-2 (blip-2)", "blip-2"); err != nil {
		return nil, err
	}
	var f struct {
		Text    json.RawMessage `json:"text_config"`
		Vision  json.RawMessage `json:"vision_config"`
		QFormer json.RawMessage `json:"qformer_config"`
		Queries *int            `json:"num_query_tokens"`
		Shared  *int            `json:"image_text_hidden_size"`
		Image   *int            `json:"image_token_index"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	c := DefaultConfig()
	c.ImageToken = f.Image
	if f.Queries != nil {
		c.Queries = *f.Queries
	}
	if f.Shared != nil {
		c.SharedSize = *f.Shared
	}
	var language struct {
		ModelType string `json:"model_type"`
	}
	if err := hub.ReadParts(hub.Part{Name: "vision_config", Raw: f.Vision, To: &c.Vision},
		hub.Part{Name: "qformer_config", Raw: f.QFormer, To: &c.QFormer},
		hub.Part{Name: "text_config", Raw: f.Text, To: &language}); err != nil {
		return nil, err
	}
	if language.ModelType != "" {
		c.Text.ModelType = language.ModelType
	}
	if c.Text.ModelType == "opt" { // another one's keys may mean other things
		if err := hub.ReadParts(hub.Part{Name: "text_config", Raw: f.Text, To: &c.Text}); err != nil {
			return nil, err
		}
	}
	c.Text.WordSize = cmp.Or(c.Text.WordSize, c.Text.HiddenSize)
	return &c, c.Validate()
}

// Validate checks the configuration of tower and Q-Former, naming fields and numbers.
func (c *Config) Validate() error {
	q := &c.QFormer
	var square error
	if side := c.Vision.ImageSize; side[0] != side[1] {
		square = fmt.Errorf("image_size %v is not square", side)
	}
	return hub.In("blip2", cmp.Or(
		hub.Between("num_query_tokens", c.Queries, 1, 1<<12),
		hub.Between("image_text_hidden_size", c.SharedSize, 1, hub.MaxDim),
		hub.In("qformer_config", cmp.Or(q.CheckTransformer(), hub.Between("vocab_size", q.VocabSize, 1, hub.MaxVocab),
			hub.Between("max_position_embeddings", q.Positions, 1, hub.MaxSide),
			hub.Between("cross_attention_frequency", q.LookEvery, 1, hub.MaxLayers))),
		hub.In("vision_config", cmp.Or(square, c.Vision.Validate()))))
}

// ValidateText checks the configuration of the language model.
func (c *Config) ValidateText() error {
	t := &c.Text
	if t.ModelType != "opt" {
		return fmt.Errorf("the language model is a %s: captions are written by a BLIP-2 with an OPT (blip2-opt-2.7b, "+
			"blip2-opt-6.7b) or a BLIP; this model can only embed images", t.ModelType)
	}
	shape := hub.Transformer{HiddenSize: t.HiddenSize, IntermediateSize: t.IntermediateSize, Layers: t.Layers,
		Heads: t.Heads, HiddenAct: "relu", LayerNormEps: epsilon}
	err := cmp.Or(hub.Between("ffn_dim", t.IntermediateSize, 1, hub.MaxDim), shape.CheckTransformer(),
		hub.Between("vocab_size", t.VocabSize, 1, hub.MaxVocab),
		hub.Between("max_position_embeddings", t.Positions, 1, hub.MaxDim),
		hub.Between("word_embed_proj_dim", t.WordSize, 1, t.HiddenSize),
		hub.In("activation_function", nn.KnownActivation(t.HiddenAct)),
		hub.Token("bos_token_id", t.StartToken, t.VocabSize))
	for _, id := range t.EndTokens {
		err = cmp.Or(err, hub.Token("eos_token_id", int(id), t.VocabSize))
	}
	switch {
	case err != nil:
	case !t.Bias || !t.AffineNorm:
		err = errors.New("only an OPT with biases and learned norms is supported (enable_bias, " +
			"layer_norm_elementwise_affine)")
	case len(t.EndTokens) == 0:
		err = errors.New("eos_token_id: no token ends a caption")
	}
	if err = hub.In("text_config", err); err == nil && c.ImageToken != nil {
		err = hub.Token("image_token_index", *c.ImageToken, t.VocabSize)
	}
	if err == nil && c.Queries >= t.Positions {
		err = fmt.Errorf("num_query_tokens %d leave no place of max_position_embeddings %d for a text", c.Queries,
			t.Positions)
	}
	return hub.In("blip2", err)
}

// encoder is the Q-Former as it reads texts: a BERT without token types.
func (c *QFormerConfig) encoder() *textenc.Config {
	return &textenc.Config{Transformer: c.Transformer, ModelType: "bert", VocabSize: c.VocabSize,
		Positions: c.Positions}
}
