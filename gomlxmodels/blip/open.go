package blip

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// Model is an opened model folder: its configuration, its preprocessing, its tokenizer, the headers of its weights. It holds no
// weights and no device.
type Model struct {
	dir         string
	cfg         *Config
	pre         preprocess.Config
	set         *weights.Set
	files       []string
	tokenizer   *tokenizers.Tokenizer
	noTokenizer error
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of processor_config.json, else
// BlipImageProcessor's own preprocessing at the model's size), the tokenizer, model.safetensors or its shards. It checks that every
// tensor the configuration asks for is there in the right shape and no other; values are read by [NewCaptioner]. Errors are one line
// and name the file. A folder without a tokenizer opens: tokens can be written without one.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("blip", &err)
	m = &Model{dir: dir}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	if m.cfg, err = ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.files = []string{path}
	if err := m.openPreprocessing(); err != nil {
		return nil, err
	}
	if m.set, err = weights.Open(dir); err != nil {
		return nil, err
	}
	m.files = append(m.files, m.set.Files()...)
	m.cfg.ownHead, m.cfg.ownBias = m.set.Has(headWeights) || !m.cfg.Tied, m.set.Has(decoderBias)
	if err := weights.Match(m.set, table(m.cfg)); err != nil {
		return nil, err
	}
	return m, m.openTokenizer()
}

// Processor is BlipImageProcessor, which BLIP-2 uses too.
var Processor = preprocess.Processor{Class: "BlipImageProcessor", Side: 384, Keys: map[string]string{
	"resample":   "3",
	"image_mean": "[0.48145466, 0.4578275, 0.40821073]", "image_std": "[0.26862954, 0.26130258, 0.27577711]",
}}

func (m *Model) openPreprocessing() error {
	pre, path, err := Processor.OpenFolder(m.dir, m.cfg.Vision.ImageSize)
	if err != nil {
		return err
	}
	if path != "" {
		m.files = append(m.files, path)
	}
	m.pre = *pre
	return nil
}

// openTokenizer keeps the error of a folder without one.
func (m *Model) openTokenizer() error {
	if m.tokenizer, m.noTokenizer = tokenizers.Open(m.dir); m.noTokenizer != nil {
		return nil
	}
	if n, v := m.tokenizer.Size(), m.cfg.Text.VocabSize; n > v {
		return fmt.Errorf("%s: the tokenizer has %d tokens, config.json's vocab_size is %d: they are of two models", m.dir, n, v)
	}
	for _, f := range m.tokenizer.Files() {
		if !slices.Contains(m.files, f) {
			m.files = append(m.files, f)
		}
	}
	return nil
}

// Config is the model's shape.
func (m *Model) Config() *Config { return m.cfg }

// Preprocess is how the model's pictures are prepared.
func (m *Model) Preprocess() preprocess.Config { return m.pre }

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return slices.Clone(m.files) }

// Tokenizer is the tokenizer of the model's folder; the error of a folder without one names the files that are looked for.
func (m *Model) Tokenizer() (*tokenizers.Tokenizer, error) { return m.tokenizer, m.noTokenizer }

// Prepare does the host's part for one picture: resize and normalise. It gives the [3·H·W] values of captioner.Request. It is safe on several
// goroutines at once.
func (m *Model) Prepare(img image.Image) (pixels []float32, err error) {
	defer runner.Recovered("blip", &err)
	if img == nil {
		return nil, errors.New("blip: no picture")
	}
	side := m.cfg.Vision.ImageSize
	return m.pre.Apply(preprocess.FromImage(img), side, side)
}

// Prompt is the tokens a caption begins with: the start token, then the prefix, "" for none. A prefix with something the vocabulary
// lacks is an error.
func (m *Model) Prompt(prefix string) (ids []int32, err error) {
	defer runner.Recovered("blip", &err)
	ids = []int32{int32(m.cfg.Text.StartToken)}
	if prefix == "" {
		return ids, nil
	}
	if m.noTokenizer != nil {
		return nil, m.noTokenizer
	}
	e, err := m.tokenizer.Encode(prefix, -1)
	if err != nil {
		return nil, err
	}
	if e.Unknown > 0 {
		return nil, fmt.Errorf("prefix %q: the model's vocabulary lacks part of it", prefix)
	}
	if len(e.IDs) < 2 || len(e.IDs) != e.Tokens+2 {
		return nil, fmt.Errorf("%s: the tokenizer puts %d special tokens around a text, BLIP's puts two", m.dir, len(e.IDs)-e.Tokens)
	}
	return append(ids, e.IDs[1:len(e.IDs)-1]...), nil // as transformers: the start replaces the first, the last is left out
}

// Text is a caption in words: prompt and tokens, special tokens left out.
func (m *Model) Text(prompt, tokens []int32) (string, error) {
	if m.noTokenizer != nil {
		return "", m.noTokenizer
	}
	return m.tokenizer.Decode(slices.Concat(prompt, tokens), true), nil
}
