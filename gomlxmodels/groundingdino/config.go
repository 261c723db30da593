package groundingdino

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textenc"
)

// Config is the configuration of a GroundingDINO: the keys of Hugging Face's GroundingDinoConfig.
type Config struct {
	Width            int             `json:"d_model"`
	EncoderLayers    int             `json:"encoder_layers"`
	EncoderHeads     int             `json:"encoder_attention_heads"` // the text enhancer and the fusion have half of them
	EncoderHidden    int             `json:"encoder_ffn_dim"`         // inner width of the fusion and of the text's MLP: half of it
	EncoderPoints    int             `json:"encoder_n_points"`
	DecoderLayers    int             `json:"decoder_layers"`
	DecoderHeads     int             `json:"decoder_attention_heads"`
	DecoderHidden    int             `json:"decoder_ffn_dim"`
	DecoderPoints    int             `json:"decoder_n_points"`
	Levels           int             `json:"num_feature_levels"`
	Queries          int             `json:"num_queries"`
	QueryDim         int             `json:"query_dim"`
	MaxText          int             `json:"max_text_len"`
	TwoStage         bool            `json:"two_stage"`
	InitTarget       bool            `json:"embedding_init_target"`
	TwoStageBoxShare bool            `json:"two_stage_bbox_embed_share"`
	BoxShare         bool            `json:"decoder_bbox_embed_share"` // one box head for all decoder layers
	PositionType     string          `json:"position_embedding_type"`
	Activation       string          `json:"activation_function"`
	Temperature      float64         `json:"positional_embedding_temperature"`
	LayerNormEps     float64         `json:"layer_norm_eps"` // of every norm outside the two backbones
	UseTimm          bool            `json:"use_timm_backbone"`
	Swin             Swin            `json:"-"`
	Text             *textenc.Config `json:"-"`
}

// Swin is the configuration of the image backbone: the keys of Hugging Face's SwinConfig.
type Swin struct {
	ModelType    string   `json:"model_type"`
	PatchSize    int      `json:"patch_size"`
	Channels     int      `json:"num_channels"`
	EmbedDim     int      `json:"embed_dim"` // width of the first stage; each doubles it
	Depths       []int    `json:"depths"`
	Heads        []int    `json:"num_heads"`
	Window       int      `json:"window_size"`
	MLPRatio     float64  `json:"mlp_ratio"`
	QKVBias      bool     `json:"qkv_bias"`
	HiddenAct    string   `json:"hidden_act"`
	LayerNormEps float64  `json:"layer_norm_eps"`
	Absolute     bool     `json:"use_absolute_embeddings"`
	OutIndices   []int    `json:"out_indices"`
	OutFeatures  []string `json:"out_features"`
}

// stages is the number of the backbone's stages, of which all but the first give a level.
const stages = 4

// groups is the number of channel groups of the levels' norms.
const groups = 32

// ParseConfig reads the config.json of a GroundingDinoForObjectDetection and validates it.
func ParseConfig(text []byte) (*Config, error) {
	const what = "a GroundingDinoForObjectDetection (grounding-dino)"
	if _, err := hub.ModelType(text, what, "grounding-dino"); err != nil {
		return nil, err
	}
	c := &Config{Width: 256, EncoderLayers: 6, EncoderHeads: 8, EncoderHidden: 2048, EncoderPoints: 4, DecoderLayers: 6,
		DecoderHeads: 8, DecoderHidden: 2048, DecoderPoints: 4, Levels: 4, Queries: 900, QueryDim: 4, MaxText: 256,
		TwoStage: true, InitTarget: true, BoxShare: true, PositionType: "sine", Activation: "relu", Temperature: 20,
		LayerNormEps: 1e-5}
	c.Swin = Swin{ModelType: "swin", PatchSize: 4, Channels: 3, EmbedDim: 96, Depths: []int{2, 2, 6, 2},
		Heads: []int{3, 6, 12, 24}, Window: 7, MLPRatio: 4, QKVBias: true, HiddenAct: "gelu", LayerNormEps: 1e-5}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	var parts struct {
		Swin json.RawMessage `json:"backbone_config"`
		Text json.RawMessage `json:"text_config"`
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return nil, err
	}
	if !hub.Given(parts.Swin) {
		c.Swin.OutIndices = []int{2, 3, 4}
	}
	if err := hub.ReadParts(hub.Part{Name: "backbone_config", Raw: parts.Swin, To: &c.Swin}); err != nil {
		return nil, err
	}
	if !hub.Given(parts.Text) {
		parts.Text = json.RawMessage(`{"model_type": "bert"}`)
	}
	if _, err := hub.ModelType(parts.Text, "a BERT, which GroundingDINO reads texts with", "bert"); err != nil {
		return nil, hub.In("text_config", err)
	}
	var err error
	if c.Text, err = textenc.ParseConfig(parts.Text, nil); err != nil {
		return nil, hub.In("text_config", err)
	}
	return c, c.Validate()
}

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error { return hub.In("groundingdino", c.check()) }

func (c *Config) check() error {
	if err := cmp.Or(
		hub.Between("d_model", c.Width, groups, hub.MaxDim),
		hub.Between("encoder_layers", c.EncoderLayers, 1, hub.MaxLayers),
		hub.Between("decoder_layers", c.DecoderLayers, 1, hub.MaxLayers),
		hub.Between("encoder_attention_heads", c.EncoderHeads, 2, hub.MaxDim),
		hub.Between("decoder_attention_heads", c.DecoderHeads, 1, hub.MaxDim),
		hub.Between("encoder_ffn_dim", c.EncoderHidden, 2, hub.MaxDim),
		hub.Between("decoder_ffn_dim", c.DecoderHidden, 1, hub.MaxDim),
		hub.Between("encoder_n_points", c.EncoderPoints, 1, 1<<10),
		hub.Between("decoder_n_points", c.DecoderPoints, 1, 1<<10),
		hub.Between("num_feature_levels", c.Levels, stages-1, 8),
		hub.Between("num_queries", c.Queries, 1, hub.MaxDim),
		hub.Between("query_dim", c.QueryDim, 4, 4),
		hub.Between("max_text_len", c.MaxText, 3, c.Text.MaxTokens()),
		hub.In("activation_function", nn.KnownActivation(c.Activation)),
		positive("layer_norm_eps", c.LayerNormEps),
		positive("positional_embedding_temperature", c.Temperature),
		hub.In("backbone_config", c.Swin.check())); err != nil {
		return err
	}
	switch {
	case c.Width%groups != 0:
		return fmt.Errorf("d_model %d is not a multiple of %d, the groups of its norms", c.Width, groups)
	case c.EncoderHeads%2 != 0:
		return fmt.Errorf("encoder_attention_heads %d is odd: text and fusion have half of them", c.EncoderHeads)
	case c.Width%c.EncoderHeads != 0:
		return fmt.Errorf("d_model %d not divisible by encoder_attention_heads %d", c.Width, c.EncoderHeads)
	case c.Width%c.DecoderHeads != 0:
		return fmt.Errorf("d_model %d not divisible by decoder_attention_heads %d", c.Width, c.DecoderHeads)
	case c.EncoderHidden/2%(c.EncoderHeads/2) != 0:
		return fmt.Errorf("half of encoder_ffn_dim %d not divisible by half of encoder_attention_heads %d",
			c.EncoderHidden, c.EncoderHeads)
	case !c.TwoStage:
		return errors.New("two_stage false is not supported")
	case !c.InitTarget:
		return errors.New("embedding_init_target false is not supported")
	case c.TwoStageBoxShare:
		return errors.New("two_stage_bbox_embed_share true is not supported: transformers does not share that head")
	case c.PositionType != "sine":
		return fmt.Errorf("position_embedding_type %q is not supported (sine)", c.PositionType)
	case c.UseTimm:
		return errors.New("use_timm_backbone true is not supported")
	case c.Text.VocabSize <= int(question):
		return fmt.Errorf("text_config: vocab_size %d has no tokens %d to %d, which separate phrases", c.Text.VocabSize,
			start, question)
	}
	return nil
}

func (c *Swin) check() error {
	for i, n := range c.Depths {
		if n < 1 || n > hub.MaxLayers {
			return fmt.Errorf("depths %v: number %d is not between 1 and %d", c.Depths, i+1, hub.MaxLayers)
		}
	}
	switch {
	case c.ModelType != "swin":
		return fmt.Errorf("model_type %q is not supported (swin)", c.ModelType)
	case len(c.Depths) != stages || len(c.Heads) != stages:
		return fmt.Errorf("depths %v, num_heads %v: not of %d stages", c.Depths, c.Heads, stages)
	case c.Channels != 3:
		return fmt.Errorf("num_channels %d: only models of 3-channel images are supported", c.Channels)
	case c.Absolute:
		return errors.New("use_absolute_embeddings true is not supported")
	case !slices.Equal(c.OutIndices, []int{2, 3, 4}) &&
		!slices.Equal(c.OutFeatures, []string{"stage2", "stage3", "stage4"}):
		return fmt.Errorf("out_indices %v, out_features %v: only [2 3 4] is supported", c.OutIndices, c.OutFeatures)
	case !(c.MLPRatio > 0) || c.MLPRatio > 64:
		return fmt.Errorf("mlp_ratio %v is not between 0 and 64", c.MLPRatio)
	}
	if err := cmp.Or(hub.Between("patch_size", c.PatchSize, 1, 1<<10), hub.Between("embed_dim", c.EmbedDim, 1, 1<<12),
		hub.Between("window_size", c.Window, 2, 1<<8), positive("layer_norm_eps", c.LayerNormEps),
		hub.In("hidden_act", nn.KnownActivation(c.HiddenAct))); err != nil {
		return err
	}
	for i, heads := range c.Heads {
		if heads < 1 || c.width(i)%heads != 0 {
			return fmt.Errorf("num_heads %v: stage %d of width %d not divisible by %d", c.Heads, i+1, c.width(i), heads)
		}
	}
	return nil
}

// width is the width of a stage, from 0.
func (c *Swin) width(stage int) int { return c.EmbedDim << stage }

// hidden is the inner width of a stage's MLPs.
func (c *Swin) hidden(stage int) int { return int(c.MLPRatio * float64(c.width(stage))) }

func positive(name string, value float64) error {
	if !(value > 0) || math.IsInf(value, 0) {
		return fmt.Errorf("%s %v is not a positive number", name, value)
	}
	return nil
}
