package blip2

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"antipode/gomlxmodels/hfconfig"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/vit"
)

// Config is a model's shape: the keys of Hugging Face's Blip2Config.
type Config struct {
	Text    TextConfig    `json:"text_config"`
	Vision  vit.Config    `json:"vision_config"`
	QFormer QFormerConfig `json:"qformer_config"`

	Queries    int  `json:"num_query_tokens"`       // K
	SharedSize int  `json:"image_text_hidden_size"` // C
	ImageToken *int `json:"image_token_index"`      // stands for each query in a prompt; nil in folders saved before there was one

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
	NormBefore       bool   `json:"do_layer_norm_before"` // norms stand before attention and MLP, and one after all blocks
	NoFinalNorm      bool   `json:"_remove_final_layer_norm"`
	Bias             bool   `json:"enable_bias"`
	AffineNorm       bool   `json:"layer_norm_elementwise_affine"`
	StartToken       int    `json:"bos_token_id"` // every text begins with it
	EndTokens        tokens `json:"eos_token_id"` // each ends a caption
	Tied             bool   `json:"tie_word_embeddings"`
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
		return fmt.Errorf("%s is neither a token nor a list of tokens", text)
	}
	*t = list
	return nil
}

// QFormerConfig is the Q-Former's shape: the keys of Blip2QFormerConfig.
type QFormerConfig struct {
	VocabSize        int     `json:"vocab_size"`
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	Layers           int     `json:"num_hidden_layers"`
	Heads            int     `json:"num_attention_heads"`
	Positions        int     `json:"max_position_embeddings"` // the longest text, in tokens
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
	LookEvery        int     `json:"cross_attention_frequency"` // every so many blocks, from the first, one looks at the picture
	ReadsTexts       bool    `json:"use_qformer_text_input"`
}

// DefaultConfig is Blip2Config's, with OPTConfig's language model.
func DefaultConfig() Config {
	return Config{
		Text: TextConfig{ModelType: "opt", VocabSize: 50272, HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 12, Positions: 2048, HiddenAct: "relu",
			NormBefore: true, Bias: true, AffineNorm: true, StartToken: 2, EndTokens: tokens{2}, Tied: true},
		Vision: vit.Config{HiddenSize: 1408, IntermediateSize: 6144, Layers: 39, Heads: 16, ImageSize: vit.Pair{224, 224}, PatchSize: vit.Pair{14, 14},
			NumChannels: 3, HiddenAct: "gelu", LayerNormEps: 1e-6, QKVBias: true},
		QFormer: QFormerConfig{VocabSize: 30522, HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 12, Positions: 512, HiddenAct: "gelu",
			LayerNormEps: 1e-12, LookEvery: 2},
		Queries: 32, SharedSize: 256,
	}
}

// ParseConfig reads the config.json of a BLIP-2 and validates what stands before the language model; see [Config.ValidateText].
func ParseConfig(text []byte) (*Config, error) {
	var f struct {
		ModelType *string         `json:"model_type"`
		Text      json.RawMessage `json:"text_config"`
		Vision    json.RawMessage `json:"vision_config"`
		QFormer   json.RawMessage `json:"qformer_config"`
		Queries   *int            `json:"num_query_tokens"`
		Shared    *int            `json:"image_text_hidden_size"`
		Image     *int            `json:"image_token_index"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	switch {
	case f.ModelType == nil:
		return nil, errors.New(`says no "model_type"`)
	case *f.ModelType != "blip-2":
		return nil, fmt.Errorf("model_type %q is not a BLIP-2 (blip-2)", *f.ModelType)
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
	if err := hfconfig.Read(hfconfig.Part{Name: "vision_config", Raw: f.Vision, To: &c.Vision}, hfconfig.Part{Name: "qformer_config", Raw: f.QFormer, To: &c.QFormer},
		hfconfig.Part{Name: "text_config", Raw: f.Text, To: &language}); err != nil {
		return nil, err
	}
	if language.ModelType != "" {
		c.Text.ModelType = language.ModelType
	}
	if c.Text.ModelType == "opt" { // another one's keys may mean other things
		if err := hfconfig.Read(hfconfig.Part{Name: "text_config", Raw: f.Text, To: &c.Text}); err != nil {
			return nil, err
		}
	}
	if c.Text.WordSize == 0 {
		c.Text.WordSize = c.Text.HiddenSize
	}
	return &c, c.Validate()
}

// Validate says what is wrong with the configuration of tower and Q-Former, naming fields and numbers.
func (c *Config) Validate() error {
	q := &c.QFormer
	if err := hfconfig.Check([]hfconfig.Size{
		{Name: "num_query_tokens", Value: c.Queries, Most: 1 << 12}, {Name: "image_text_hidden_size", Value: c.SharedSize, Most: hfconfig.MaxDim},
		{Name: "qformer_config: vocab_size", Value: q.VocabSize, Most: hfconfig.MaxVocab}, {Name: "qformer_config: hidden_size", Value: q.HiddenSize, Most: hfconfig.MaxDim},
		{Name: "qformer_config: intermediate_size", Value: q.IntermediateSize, Most: hfconfig.MaxDim}, {Name: "qformer_config: num_hidden_layers", Value: q.Layers, Most: 1 << 10},
		{Name: "qformer_config: num_attention_heads", Value: q.Heads, Most: hfconfig.MaxDim}, {Name: "qformer_config: max_position_embeddings", Value: q.Positions, Most: 1 << 14},
		{Name: "qformer_config: cross_attention_frequency", Value: q.LookEvery, Most: 1 << 10},
	}); err != nil {
		return fmt.Errorf("blip2: %w", err)
	}
	switch {
	case q.HiddenSize%q.Heads != 0:
		return fmt.Errorf("blip2: qformer_config: hidden_size %d not divisible by num_attention_heads %d", q.HiddenSize, q.Heads)
	case !(q.LayerNormEps > 0) || math.IsInf(q.LayerNormEps, 0):
		return fmt.Errorf("blip2: qformer_config: layer_norm_eps %v is not a positive number", q.LayerNormEps)
	case c.Vision.ImageSize[0] != c.Vision.ImageSize[1]:
		return fmt.Errorf("blip2: vision_config: image_size %v is not square", c.Vision.ImageSize)
	}
	if err := nn.KnownActivation(q.HiddenAct); err != nil {
		return fmt.Errorf("blip2: qformer_config: hidden_act: %w", err)
	}
	if err := c.Vision.Validate(); err != nil {
		return fmt.Errorf("blip2: vision_config: %w", err)
	}
	return nil
}

// ValidateText says what is wrong with the configuration of the language model.
func (c *Config) ValidateText() error {
	t := &c.Text
	if t.ModelType != "opt" {
		return fmt.Errorf("the language model is a %s: captions are written by a BLIP-2 with an OPT (blip2-opt-2.7b, blip2-opt-6.7b) or a BLIP; of this model the vectors of pictures can be had", t.ModelType)
	}
	if err := hfconfig.Check([]hfconfig.Size{
		{Name: "text_config: vocab_size", Value: t.VocabSize, Most: hfconfig.MaxVocab}, {Name: "text_config: hidden_size", Value: t.HiddenSize, Most: hfconfig.MaxDim},
		{Name: "text_config: ffn_dim", Value: t.IntermediateSize, Most: hfconfig.MaxDim}, {Name: "text_config: num_hidden_layers", Value: t.Layers, Most: 1 << 10},
		{Name: "text_config: num_attention_heads", Value: t.Heads, Most: hfconfig.MaxDim}, {Name: "text_config: max_position_embeddings", Value: t.Positions, Most: 1 << 16},
		{Name: "text_config: word_embed_proj_dim", Value: t.WordSize, Most: t.HiddenSize},
	}); err != nil {
		return fmt.Errorf("blip2: %w", err)
	}
	known := func(id int) bool { return id >= 0 && id < t.VocabSize }
	switch {
	case t.HiddenSize%t.Heads != 0:
		return fmt.Errorf("blip2: text_config: hidden_size %d not divisible by num_attention_heads %d", t.HiddenSize, t.Heads)
	case !t.Bias || !t.AffineNorm:
		return errors.New("blip2: text_config: only an OPT with biases and learned norms is supported (enable_bias, layer_norm_elementwise_affine)")
	case !known(t.StartToken):
		return fmt.Errorf("blip2: text_config: bos_token_id %d is not a token (vocab_size %d)", t.StartToken, t.VocabSize)
	case c.ImageToken != nil && !known(*c.ImageToken):
		return fmt.Errorf("blip2: image_token_index %d is not a token (vocab_size %d)", *c.ImageToken, t.VocabSize)
	case len(t.EndTokens) == 0:
		return errors.New("blip2: text_config: eos_token_id: no token ends a caption")
	case c.Queries >= t.Positions:
		return fmt.Errorf("blip2: num_query_tokens %d leave no place of max_position_embeddings %d for a text", c.Queries, t.Positions)
	}
	for _, id := range t.EndTokens {
		if !known(int(id)) {
			return fmt.Errorf("blip2: text_config: eos_token_id %d is not a token (vocab_size %d)", id, t.VocabSize)
		}
	}
	if err := nn.KnownActivation(t.HiddenAct); err != nil {
		return fmt.Errorf("blip2: text_config: activation_function: %w", err)
	}
	return nil
}

// encoder is the Q-Former as it reads texts: a BERT without token types.
func (q *QFormerConfig) encoder() *textenc.Config {
	return &textenc.Config{ModelType: "bert", VocabSize: q.VocabSize, HiddenSize: q.HiddenSize, IntermediateSize: q.IntermediateSize, Layers: q.Layers,
		Heads: q.Heads, Positions: q.Positions, HiddenAct: q.HiddenAct, LayerNormEps: q.LayerNormEps}
}
