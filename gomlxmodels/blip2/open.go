package blip2

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels/blip"
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
	has         need // the parts that the folder holds
	tokenizer   *tokenizers.Tokenizer
	noTokenizer error
}

// Open reads the folder of a model: config.json, preprocessor_config.json (or the image_processor of processor_config.json, else
// BlipImageProcessor's own preprocessing at the model's size), model.safetensors or its shards. It checks that every tensor that the
// configuration asks for in tower, Q-Former and projections is there in the right shape and none is unknown; values are read by
// [NewEncoder]. What the language model is does not matter. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("blip2", &err)
	if m, err = open(dir); err != nil {
		return nil, err
	}
	if err := weights.Match(m.set, table(m.cfg, m.set, m.has&^language)); err != nil {
		return nil, err
	}
	return m, m.openTokenizer(m.cfg.QFormer.VocabSize, texts)
}

// OpenCaptioner is Open for a model that is to write captions: a Blip2ForConditionalGeneration or Blip2Model with an OPT. It checks the
// language model's tensors too. A folder without a tokenizer opens: tokens can be written without one.
func OpenCaptioner(dir string) (m *Model, err error) {
	defer runner.Recovered("blip2", &err)
	if m, err = open(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "config.json")
	if m.has&language == 0 {
		return nil, fmt.Errorf("%s: a BLIP-2 without a language model writes no captions: take a Blip2ForConditionalGeneration", path)
	}
	if err := m.cfg.ValidateText(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.cfg.ownHead = m.set.Has(headWeights) || !m.cfg.Text.Tied
	if err := weights.Match(m.set, table(m.cfg, m.set, writes)); err != nil {
		return nil, err
	}
	return m, m.openTokenizer(m.cfg.Text.VocabSize, language)
}

// writes are the parts that write captions.
const writes = tower | queries | language

func open(dir string) (*Model, error) {
	m := &Model{dir: dir}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	if m.cfg, err = ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.files = []string{path}
	pre, path, err := blip.Processor.OpenFolder(m.dir, m.cfg.Vision.ImageSize[0])
	if err != nil {
		return nil, err
	}
	if path != "" {
		m.files = append(m.files, path)
	}
	m.pre = *pre
	if m.set, err = weights.Open(dir); err != nil {
		return nil, err
	}
	m.files = append(m.files, m.set.Files()...)
	m.has = queries
	for part, name := range map[need]string{tower: "vision_model.post_layernorm.weight", project: visionProjection + ".weight", texts: textProjection + ".weight", language: "language_projection.weight"} {
		if m.set.Has(name) {
			m.has |= part
		}
	}
	return m, nil
}

// openTokenizer keeps the error of a folder without one; words is how many tokens the part that reads them knows.
func (m *Model) openTokenizer(words int, part need) error {
	if m.has&part == 0 {
		return nil
	}
	if m.tokenizer, m.noTokenizer = tokenizers.Open(m.dir); m.noTokenizer != nil {
		return nil
	}
	// A processor adds its image token to the tokenizer of any model; one whose model has no place for it reads no text with it.
	if n := m.tokenizer.Size(); n > words && (part == language || n > words+1) {
		return fmt.Errorf("%s: the tokenizer has %d tokens, config.json's vocab_size is %d: they are of two models", m.dir, n, words)
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

// Shares says that the folder projects pictures (and, with texts, texts) into a space that both share.
func (m *Model) Shares() (pictures, captions bool) { return m.has&project != 0, m.has&texts != 0 }

// Prepare does the host's part for one picture: resize and normalise. It gives [3·H·W] values. It is safe on several goroutines at once.
func (m *Model) Prepare(img image.Image) (pixels []float32, err error) {
	defer runner.Recovered("blip2", &err)
	if img == nil {
		return nil, errors.New("blip2: no picture")
	}
	side := m.cfg.Vision.ImageSize[0]
	return m.pre.Apply(preprocess.FromImage(img), side, side)
}

// PrepareText turns a text into tokens, those that the tokenizer puts around it included, cut to what the Q-Former reads.
func (m *Model) PrepareText(text string) (e tokenizers.Encoding, err error) {
	defer runner.Recovered("blip2", &err)
	if m.noTokenizer != nil {
		return e, m.noTokenizer
	}
	return m.tokenizer.Encode(text, m.cfg.QFormer.Positions)
}

// Prompt is the tokens a caption begins with after the queries: the tokenizer's own of the prefix, the start token among them; for "",
// none, the start token alone. A prefix with something the vocabulary lacks is an error.
func (m *Model) Prompt(prefix string) (ids []int32, err error) {
	defer runner.Recovered("blip2", &err)
	if prefix == "" {
		return []int32{int32(m.cfg.Text.StartToken)}, nil
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
	return e.IDs, nil
}

// Text is a caption in words: prompt and tokens, special tokens and white space at both ends left out.
func (m *Model) Text(prompt, tokens []int32) (string, error) {
	if m.noTokenizer != nil {
		return "", m.noTokenizer
	}
	return strings.TrimSpace(m.tokenizer.Decode(slices.Concat(prompt, tokens), true)), nil
}
