package blip2

import (
	"fmt"
	"path/filepath"
	"strings"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
)

// Model is an opened model folder: its configuration, its preprocessing, its tokenizer, the headers of its weights.
// It holds no weights and no device.
type Model struct {
	hub.Folder
	cfg *Config
	has need // the parts that the folder holds
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of
// processor_config.json, else BlipImageProcessor's own preprocessing at the model's size), its weights
// ([weights.Open]). It checks that every tensor that the configuration requires in tower, Q-Former and projections is
// there in the right shape and none is unknown; values are read by [NewEncoder]. What the language model is does not
// matter. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("blip2", &err)
	if m, err = open(dir); err != nil {
		return nil, err
	}
	if err := m.Match(table(m.cfg, m.Weights, m.has&^language)); err != nil {
		return nil, err
	}
	if m.has&texts == 0 {
		return m, nil
	}
	return m, m.OpenTokenizer(m.cfg.QFormer.VocabSize, 1) // a processor adds its image token to any tokenizer
}

// OpenCaptioner is Open for a model that is to write captions: a Blip2ForConditionalGeneration or Blip2Model with an
// OPT. It checks the language model's tensors too. A folder without a tokenizer opens: tokens can be written without
// one.
func OpenCaptioner(dir string) (m *Model, err error) {
	defer runner.Recovered("blip2", &err)
	if m, err = open(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "config.json")
	if m.has&language == 0 {
		return nil, fmt.Errorf("%s: a BLIP-2 without a language model writes no captions: take a "+
			"Blip2ForConditionalGeneration", path)
	}
	if err := m.cfg.ValidateText(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	own := m.Weights.Has(headWeights) && !m.Weights.Same(headWeights, wordWeights)
	m.cfg.ownHead = own || !m.cfg.Text.Tied
	if err := m.Match(table(m.cfg, m.Weights, writes)); err != nil {
		return nil, err
	}
	return m, m.OpenTokenizer(m.cfg.Text.VocabSize, 0)
}

// writes are the parts that write captions.
const writes = tower | queries | language

func open(dir string) (m *Model, err error) {
	m = &Model{}
	if m.Folder, m.cfg, err = hub.OpenFolder("blip2", dir, ParseConfig); err != nil {
		return nil, err
	}
	if err := m.OpenPreprocessing(preprocess.Blip, m.cfg.Vision.ImageSize[0]); err != nil {
		return nil, err
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	m.has = queries
	for part, name := range map[need]string{tower: "vision_model.post_layernorm.weight", project: visionProjection +
		".weight", texts: textProjection + ".weight", language: "language_projection.weight"} {
		if m.Weights.Has(name) {
			m.has |= part
		}
	}
	return m, nil
}

// Shares says that the folder projects images (and, with texts, texts) into a space that both share.
func (m *Model) Shares() (images, captions bool) { return m.has&project != 0, m.has&texts != 0 }

// PrepareText turns a text into tokens, those that the tokenizer puts around it included, cut to what the Q-Former
// reads.
func (m *Model) PrepareText(text string) (e tokenizers.Encoding, err error) {
	defer runner.Recovered("blip2", &err)
	t, err := m.Tokenizer()
	if err != nil {
		return e, err
	}
	return t.Encode(text, m.cfg.QFormer.Positions)
}

// Prompt is the tokens a caption begins with after the queries: the tokenizer's own of the prefix, the start token
// among them; for "", none, the start token alone. A prefix with something the vocabulary lacks is an error.
func (m *Model) Prompt(prefix string) (ids []int32, err error) {
	defer runner.Recovered("blip2", &err)
	if prefix == "" {
		return []int32{int32(m.cfg.Text.StartToken)}, nil
	}
	e, err := m.EncodePrefix(prefix)
	return e.IDs, err
}

// Text is a caption in words: prompt and tokens, special tokens and white space at both ends left out.
func (m *Model) Text(prompt, tokens []int32) (string, error) {
	text, err := m.Folder.Text(prompt, tokens)
	return strings.TrimSpace(text), err
}
