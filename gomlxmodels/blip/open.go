package blip

import (
	"fmt"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// Model is an opened model folder: its configuration, its preprocessing, its tokenizer, the headers of its weights. It holds no
// weights and no device.
type Model struct {
	captioner.Folder
	cfg *Config
	set *weights.Set
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of processor_config.json, else
// BlipImageProcessor's own preprocessing at the model's size), the tokenizer, model.safetensors or its shards. It checks that every
// tensor the configuration asks for is there in the right shape and no other; values are read by [NewCaptioner]. Errors are one line
// and name the file. A folder without a tokenizer opens: tokens can be written without one.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("blip", &err)
	m = &Model{}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	if m.cfg, err = ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Folder, err = captioner.OpenFolder("blip", dir, path, m.cfg.Vision.ImageSize); err != nil {
		return nil, err
	}
	if m.set, err = weights.Open(dir); err != nil {
		return nil, err
	}
	m.Read(m.set.Files()...)
	m.cfg.ownHead, m.cfg.ownBias = m.set.Has(headWeights) || !m.cfg.Tied, m.set.Has(decoderBias)
	if err := weights.Match(m.set, table(m.cfg)); err != nil {
		return nil, err
	}
	return m, m.OpenTokenizer(m.cfg.Text.VocabSize, 0)
}

// Config is the model's shape.
func (m *Model) Config() *Config { return m.cfg }

// Prompt is the tokens a caption begins with: the start token, then the prefix, "" for none. A prefix with something the vocabulary
// lacks is an error.
func (m *Model) Prompt(prefix string) (ids []int32, err error) {
	defer runner.Recovered("blip", &err)
	ids = []int32{int32(m.cfg.Text.StartToken)}
	if prefix == "" {
		return ids, nil
	}
	e, err := m.Encode(prefix)
	if err != nil {
		return nil, err
	}
	if len(e.IDs) < 2 || len(e.IDs) != e.Tokens+2 {
		return nil, fmt.Errorf("%s: the tokenizer puts %d special tokens around a text, BLIP's puts two", m.Dir, len(e.IDs)-e.Tokens)
	}
	return append(ids, e.IDs[1:len(e.IDs)-1]...), nil // as transformers: the start replaces the first, the last is left out
}
