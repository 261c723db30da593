package blip

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/vit"
)

// The classes of transformers whose folders are read.
const (
	CaptionClass  = "BlipForConditionalGeneration"
	QuestionClass = "BlipForQuestionAnswering"
	MatchClass    = "BlipForImageTextRetrieval"
)

// Config is a model's shape: the keys of Hugging Face's BlipConfig.
type Config struct {
	Text   TextConfig       `json:"text_config"`
	Vision vit.SquareConfig `json:"vision_config"`

	// Tied says that the head's weights are the words' own where the checkpoint holds no others.
	Tied bool `json:"tie_word_embeddings"`

	class            string // of a [QuestionClass] the decoder attends to an encoded question, not to the image
	ownHead, ownBias bool   // the head's weights, or its bias, are tensors of their own
}

// encodes reports whether a text encoder reads the image: not in a [CaptionClass].
func (c *Config) encodes() bool { return c.class == QuestionClass || c.class == MatchClass }

// TextConfig is the decoder's shape: the keys of BlipTextConfig.
type TextConfig struct {
	hub.Transformer
	VocabSize  int  `json:"vocab_size"`
	Positions  int  `json:"max_position_embeddings"` // the longest text, in tokens
	StartToken int  `json:"bos_token_id"`            // every text begins with it
	EndToken   int  `json:"sep_token_id"`            // ends a caption
	IsDecoder  bool `json:"is_decoder"`
}

// DefaultConfig is BlipConfig's. (The captioning models on the hub say 12 heads for the decoder.)
func DefaultConfig() Config {
	return Config{
		Text: TextConfig{Transformer: hub.Transformer{HiddenSize: 768, IntermediateSize: 3072, Layers: 12, Heads: 8,
			HiddenAct: "gelu", LayerNormEps: 1e-12},
			VocabSize: 30524, Positions: 512, StartToken: 30522, EndToken: 102, IsDecoder: true},
		Vision: vit.SquareConfig{Transformer: hub.Transformer{HiddenSize: 768, IntermediateSize: 3072, Layers: 12,
			Heads: 12, HiddenAct: "gelu", LayerNormEps: 1e-5},
			NumChannels: 3, ImageSize: 384, PatchSize: 16},
		Tied: true,
	}
}

// ParseConfig reads the config.json of a [CaptionClass] and validates it.
func ParseConfig(text []byte) (*Config, error) {
	return parse(text, "writes no captions", CaptionClass)
}

// ParseQuestions reads the config.json of a model of any of the classes and validates it.
func ParseQuestions(text []byte) (*Config, error) {
	return parse(text, "answers no questions", QuestionClass, MatchClass, CaptionClass)
}

// parse reads the config.json of one of some classes, by default the first; lacks says what others do not do.
func parse(text []byte, lacks string, classes ...string) (*Config, error) {
	if _, err := hub.ModelType(text, "a BLIP (blip)", "blip"); err != nil {
		return nil, err
	}
	var f struct {
		Architectures []string        `json:"architectures"`
		Text          json.RawMessage `json:"text_config"`
		Vision        json.RawMessage `json:"vision_config"`
		Tied          *bool           `json:"tie_word_embeddings"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	c := DefaultConfig()
	c.class = classes[0]
	if len(f.Architectures) > 0 {
		if c.class = f.Architectures[0]; !slices.Contains(classes, c.class) {
			return nil, fmt.Errorf("a %s %s: take a %s", c.class, lacks, classes[0])
		}
	}
	if f.Tied != nil {
		c.Tied = *f.Tied
	}
	if err := hub.ReadParts(hub.Part{Name: "text_config", Raw: f.Text, To: &c.Text},
		hub.Part{Name: "vision_config", Raw: f.Vision, To: &c.Vision}); err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

// Validate checks the configuration, naming fields and numbers.
func (c *Config) Validate() error {
	t := &c.Text
	var decoder error
	if !t.IsDecoder && c.class != MatchClass {
		decoder = errors.New("is_decoder is false: the model writes no text")
	}
	return hub.In("blip", cmp.Or(
		hub.In("text_config", cmp.Or(t.CheckTransformer(), hub.Between("vocab_size", t.VocabSize, 1, hub.MaxVocab),
			hub.Between("max_position_embeddings", t.Positions, 1, hub.MaxSide), decoder,
			hub.Token("bos_token_id", t.StartToken, t.VocabSize), hub.Token("sep_token_id", t.EndToken, t.VocabSize))),
		hub.In("vision_config", c.Vision.Validate())))
}
