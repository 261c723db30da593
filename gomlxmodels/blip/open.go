package blip

import (
	"fmt"

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
}

// Open reads the folder of a captioner: config.json, preprocessor_config.json (or the image_processor of
// processor_config.json, else BlipImageProcessor's own preprocessing at the model's size), the tokenizer,
// its weights ([weights.Open]). It checks that every tensor the configuration requires is there in the right shape
// and no other; values are read by [NewCaptioner]. Errors are one line and name the file. A folder without a
// tokenizer opens: tokens can be written without one.
func Open(dir string) (*Model, error) { return open(dir, ParseConfig) }

// OpenQuestions reads the folder of a model of any of the classes, as [Open] does, for [NewAnswerer].
func OpenQuestions(dir string) (*Model, error) { return open(dir, ParseQuestions) }

func open(dir string, parse func([]byte) (*Config, error)) (m *Model, err error) {
	defer runner.Recovered("blip", &err)
	m = &Model{}
	if m.Folder, m.cfg, err = hub.OpenFolder("blip", dir, parse); err != nil {
		return nil, err
	}
	if err := m.OpenPreprocessing(preprocess.Blip, m.cfg.Vision.ImageSize); err != nil {
		return nil, err
	}
	if err := m.OpenWeights(); err != nil {
		return nil, err
	}
	own := m.Weights.Has(headWeights) && !m.Weights.Same(headWeights, wordWeights)
	m.cfg.ownHead, m.cfg.ownBias = own || !m.cfg.Tied, m.Weights.Has(decoderBias)
	if err := m.Match(table(m.cfg)); err != nil {
		return nil, err
	}
	return m, m.OpenTokenizer(m.cfg.Text.VocabSize, 0)
}

// Config returns the configuration.
func (m *Model) Config() *Config { return m.cfg }

// Prompt is the tokens a caption begins with: the start token, then the prefix, "" for none. A prefix with something
// the vocabulary lacks is an error.
func (m *Model) Prompt(prefix string) (ids []int32, err error) {
	defer runner.Recovered("blip", &err)
	ids = []int32{int32(m.cfg.Text.StartToken)}
	if prefix == "" {
		return ids, nil
	}
	e, err := m.EncodePrefix(prefix)
	if err == nil {
		err = m.marked(e)
	}
	if err != nil {
		return nil, err
	}
	// as transformers: the start replaces the first, the last is left out
	return append(ids, e.IDs[1:len(e.IDs)-1]...), nil
}

// marked reports a text that is not between two special tokens.
func (m *Model) marked(e tokenizers.Encoding) error {
	if len(e.IDs) < 2 || len(e.IDs) != e.Tokens+2 {
		return fmt.Errorf("%s: the tokenizer puts %d special tokens around a text, BLIP's puts two", m.Dir,
			len(e.IDs)-e.Tokens)
	}
	return nil
}
