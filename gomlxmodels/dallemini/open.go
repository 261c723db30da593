package dallemini

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	gomlx "github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/vqgan"
	"antipode/gomlxmodels/weights"
)

// VQGANFolder is the subfolder with the VQGAN. Of a folder without it, PublishedVQGAN is used, a known model.
const (
	VQGANFolder    = "vqgan"
	PublishedVQGAN = "vqgan-f16-16384"
)

// Model is an opened model folder: its configuration, its tokenizer, its VQGAN, the headers of its weights. It holds no
// weights and no device.
type Model struct {
	Config *Config
	VQGAN  *vqgan.Model
	// Normalizer is what prompts of the model should go through; nil = none
	Normalizer *Normalizer

	dir       string
	set       *weights.Set
	tokenizer *tokenizers.Tokenizer
	empty     []int32 // the empty prompt
	files     []string
}

// Open reads a model folder: config.json, the tokenizer, the headers of the weights, and the folder of the VQGAN:
// [VQGANFolder], else where [PublishedVQGAN] was pulled to. It checks that every tensor the configuration requires
// exists with the right shape and that there are no others. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("dallemini", &err)
	m = &Model{dir: dir}
	var path string
	if m.Config, path, err = hub.ReadConfig(dir, ParseConfig); err != nil {
		return nil, err
	}
	if m.set, err = vqgan.OpenWeights(dir); err != nil {
		return nil, err
	}
	if err := weights.Match(m.set, rules(m.Config, m.set)); err != nil {
		return nil, err
	}
	if m.tokenizer, err = tokenizers.Open(dir); err != nil {
		return nil, err
	}
	if n := m.tokenizer.Size(); n > m.Config.TextVocab {
		return nil, fmt.Errorf("%s: the tokenizer has %d tokens, config.json's encoder_vocab_size is %d: they are of "+
			"two models", dir, n, m.Config.TextVocab)
	}
	if m.tokenizer.PadID() < 0 {
		return nil, fmt.Errorf("%s: the tokenizer has no padding token", dir)
	}
	if m.empty, _, err = m.Tokens(""); err != nil {
		return nil, err
	}
	if m.VQGAN, err = openVQGAN(dir); err != nil {
		return nil, err
	}
	switch v := m.VQGAN.Config; {
	case v.Length() != m.Config.ImageLength:
		return nil, fmt.Errorf("%s: image_length is %d, the VQGAN's images have %d tokens: they are of two models", dir,
			m.Config.ImageLength, v.Length())
	case v.Tokens > m.Config.ImageVocab+1:
		return nil, fmt.Errorf("%s: image_vocab_size is %d, the VQGAN has %d tokens: they are of two models", dir,
			m.Config.ImageVocab, v.Tokens)
	}
	m.files = append(append([]string{path}, m.set.Files()...), append(m.tokenizer.Files(), m.VQGAN.Files()...)...)
	if m.Config.Normalize {
		var files []string
		if m.Normalizer, files, err = openNormalizer(dir); err != nil {
			return nil, err
		}
		m.files = append(m.files, files...)
	}
	return m, nil
}

// openVQGAN opens the VQGAN of a folder, else the one that was pulled.
func openVQGAN(dir string) (*vqgan.Model, error) {
	own := filepath.Join(dir, VQGANFolder)
	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		return vqgan.Open(own)
	}
	published, _ := gomlxmodels.Find(PublishedVQGAN)
	s, err := hub.FindKnown(published)
	if err != nil {
		return nil, fmt.Errorf("%s: the VQGAN is not in the subfolder %s and %w. Fix: antipode models pull %s", dir,
			VQGANFolder, hub.ErrNotPulled, PublishedVQGAN)
	}
	return vqgan.Open(s.Dir)
}

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return m.files }

// Networks returns the weights with their tables.
func (m *Model) Networks() []hub.Network {
	return []hub.Network{{Name: ModelType, Weights: m.set, Rules: rules(m.Config, m.set)}, m.VQGAN.Network(VQGANFolder)}
}

// Tokenizer returns the tokenizer of prompts.
func (m *Model) Tokenizer() (*tokenizers.Tokenizer, error) { return m.tokenizer, nil }

// Tokens returns the tokens of a prompt, with start and end, cut to the length of texts. The prompt is read as it is:
// see [Model.Normalizer].
func (m *Model) Tokens(prompt string) (ids []int32, truncated bool, err error) {
	defer runner.Recovered("dallemini", &err)
	e, err := m.tokenizer.Encode(prompt, m.Config.TextLength)
	return e.IDs, e.Truncated, err
}

// Network is the model as package vqgan runs it. Logits are u + scale·(c − u) of the prompt and the empty prompt; a
// scale of 1 leaves out the empty prompt.
func (m *Model) Network(scale float64) (vqgan.Network, error) {
	if !(scale >= 1 && scale <= 1000) {
		return vqgan.Network{}, errors.New("dallemini: the condition scale must be between 1 and 1000")
	}
	c := m.Config
	return vqgan.Network{Name: "dallemini", Range: vqgan.ZeroToOne,
		Load: func(s *model.Store, dtype dtypes.DType) error {
			return weights.Load(s.RootScope(), m.set, rules(c, m.set), dtype)
		},
		Inputs: func(texts [][]int32) []*gomlx.Tensor { return m.inputs(texts, scale != 1) },
		Encode: func(s *model.Scope, in []*graph.Node, dtype dtypes.DType) []*graph.Node {
			return ForwardContext(s, c, in[0], in[1], GraphOptions{DType: dtype})
		},
		Decoder: func(dtype dtypes.DType) textgen.Decoder {
			return textgen.Decoder{Name: "dallemini/image", Vocab: c.ImageVocab + 1, Positions: c.ImageLength,
				Forward: func(s *model.Scope, in textgen.Inputs) *graph.Node {
					return ForwardImage(s, c, in, scale, GraphOptions{DType: dtype})
				}}
		},
		Prompt: func([]int32) []int32 { return []int32{int32(*c.Start)} },
	}, nil
}

// inputs returns ids and valid of [ForwardContext].
func (m *Model) inputs(texts [][]int32, empty bool) []*gomlx.Tensor {
	s, n := m.Config.TextLength, 1
	if empty {
		n = 2
	}
	ids, valid := make([]int32, len(texts)*n*s), make([]bool, len(texts)*n*s)
	for i := range ids {
		ids[i] = m.tokenizer.PadID()
	}
	for i, text := range texts {
		for k, row := range [][]int32{text, m.empty}[:n] {
			at := (i*n + k) * s
			for j := range copy(ids[at:at+s], row) {
				valid[at+j] = true
			}
		}
	}
	return []*gomlx.Tensor{gomlx.FromFlatDataAndDimensions(ids, len(texts), n, s),
		gomlx.FromFlatDataAndDimensions(valid, len(texts), n, s)}
}
