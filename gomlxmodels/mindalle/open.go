package mindalle

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/vqgan"
	"antipode/gomlxmodels/weights"
)

// The files of a model folder.
const (
	ConfigFile = "config.yaml"
	VQGANFile  = "stage1_last.ckpt"
	GPTFile    = "stage2_last.ckpt"
)

// Model is an opened model folder: its configuration, its tokenizer, its VQGAN, the headers of its weights. It holds no
// weights and no device.
type Model struct {
	Config *Config

	vqgan     *vqgan.Model
	set       *weights.Set
	tokenizer *tokenizers.Tokenizer
	files     []string
}

// Open reads a model folder. It checks that every tensor the configuration requires exists with the right shape and
// that there are no others. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("mindalle", &err)
	m = &Model{}
	path := filepath.Join(dir, ConfigFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	var v *vqgan.Config
	if m.Config, v, err = ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.set, err = weights.OpenFiles(filepath.Join(dir, GPTFile)); err != nil {
		return nil, err
	}
	if err := weights.Match(m.set, rules(m.Config)); err != nil {
		return nil, err
	}
	pixels, err := weights.OpenFiles(filepath.Join(dir, VQGANFile))
	if err != nil {
		return nil, err
	}
	if m.vqgan, err = vqgan.New(v, pixels); err != nil {
		return nil, err
	}
	if m.tokenizer, err = tokenizers.OpenCharBPE(tokenizers.CharBPE{Lower: true, Unknown: "[UNK]", Pad: "[PAD]",
		Vocab:  filepath.Join(dir, "tokenizer", "bpe-16k-vocab.json"),
		Merges: filepath.Join(dir, "tokenizer", "bpe-16k-merges.txt")}); err != nil {
		return nil, err
	}
	if n := m.tokenizer.Size(); n > m.Config.TextVocab {
		return nil, fmt.Errorf("%s: the tokenizer has %d tokens, vocab_size_txt is %d: they are of two models", path, n,
			m.Config.TextVocab)
	}
	m.files = append(append([]string{path}, m.set.Files()...), append(m.tokenizer.Files(), m.vqgan.Files()...)...)
	return m, nil
}

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return m.files }

// VQGAN is the model that turns tokens into pixels.
func (m *Model) VQGAN() *vqgan.Model { return m.vqgan }

// Networks returns the weights with their tables.
func (m *Model) Networks() []hub.Network {
	return []hub.Network{{Name: "stage2", Weights: m.set, Rules: rules(m.Config)}, m.vqgan.Network("stage1")}
}

// Tokenizer returns the tokenizer of prompts.
func (m *Model) Tokenizer() (*tokenizers.Tokenizer, error) { return m.tokenizer, nil }

// Tokens returns the tokens of a prompt, cut or padded to the length of texts.
func (m *Model) Tokens(prompt string) (ids []int32, truncated bool, err error) {
	defer runner.Recovered("mindalle", &err)
	e, err := m.tokenizer.Encode(prompt, m.Config.TextLength)
	for len(e.IDs) < m.Config.TextLength {
		e.IDs = append(e.IDs, m.tokenizer.PadID())
	}
	return e.IDs, e.Truncated, err
}

// Network is the model as package vqgan runs it.
func (m *Model) Network() vqgan.Network {
	c := m.Config
	return vqgan.Network{Name: "mindalle", Range: vqgan.MinusOneToOne,
		Load: func(s *model.Store, dtype dtypes.DType) error {
			return weights.Load(s.RootScope(), m.set, rules(c), dtype)
		},
		Decoder: func(dtype dtypes.DType) textgen.Decoder {
			return textgen.Decoder{Name: "mindalle/image", Vocab: c.ImageVocab, Positions: c.TextLength + c.ImageLength,
				Forward: func(s *model.Scope, in textgen.Inputs) *graph.Node { return Forward(s, c, in, dtype) }}
		},
		Prompt: func(text []int32) []int32 { return text },
	}
}

// rules is the whole correspondence between a checkpoint and the variables.
func rules(c *Config) []weights.Rule {
	var t weights.Table
	d := c.Width
	t.As("tok_emb_txt.weight", "text/tokens", nil, c.TextVocab, d)
	t.As("pos_emb_txt.weight", "text/positions", nil, c.TextLength, d)
	t.As("tok_emb_img.weight", "image/tokens", nil, c.ImageVocab, d)
	t.As("pos_emb_img.weight", "image/positions", nil, c.ImageLength, d)
	for i := range c.Layers {
		from, to := fmt.Sprintf("blocks.%d.", i), fmt.Sprintf("block_%d/", i)
		t.Norm(from+"ln1", to+"norm1", d)
		t.Norm(from+"ln2", to+"norm2", d)
		for _, name := range [][2]string{{"query", "query"}, {"key", "key"}, {"value", "value"}, {"proj", "out"}} {
			t.Dense(from+"attn."+name[0], to+"attention/"+name[1], d, d)
		}
		t.Dense(from+"mlp.0", to+"mlp/fc1", 4*d, d)
		t.Dense(from+"mlp.2", to+"mlp/fc2", d, 4*d)
	}
	t.Norm("ln_f", "norm", d)
	t.As("head_img.weight", "head/weights", nil, c.ImageVocab, d)
	t.Skip("head_txt.weight")
	return t
}
