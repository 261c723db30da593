package vqgan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// Model is an opened checkpoint: its configuration and the headers of its weights. It holds no weights and no device.
type Model struct {
	Config *Config
	set    *weights.Set
	files  []string
}

// FlaxFile is the file of weights that transformers writes for Flax.
const FlaxFile = "flax_model.msgpack"

// OpenWeights reads the headers of a folder's weights: safetensors, else [FlaxFile].
func OpenWeights(dir string) (*weights.Set, error) {
	flax := filepath.Join(dir, FlaxFile)
	if _, err := os.Stat(flax); err == nil {
		if _, err := os.Stat(filepath.Join(dir, weights.SingleFile)); errors.Is(err, fs.ErrNotExist) {
			return weights.OpenFiles(flax)
		}
	}
	return weights.Open(dir)
}

// Open reads the folder of a checkpoint: config.json, and the headers of the weights. It checks that each tensor of the
// decoder that the configuration requires exists with the right shape and that there are no others; values are read
// by [Model.Load]. Errors are one line and name the file.
func Open(dir string) (m *Model, err error) {
	defer runner.Recovered("vqgan", &err)
	c, path, err := hub.ReadConfig(dir, ParseConfig)
	if err != nil {
		return nil, err
	}
	set, err := OpenWeights(dir)
	if err != nil {
		return nil, err
	}
	return New(c, set, path)
}

// New is a model of a configuration and opened weights; files are those that the configuration was read from.
func New(c *Config, set *weights.Set, files ...string) (*Model, error) {
	if err := weights.Match(set, rules(c, set)); err != nil {
		return nil, err
	}
	return &Model{Config: c, set: set, files: append(files, set.Files()...)}, nil
}

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return m.files }

// Networks returns the weights with their table.
func (m *Model) Networks() []hub.Network { return []hub.Network{m.Network("vqgan")} }

// Tokenizer returns nil: there is none.
func (m *Model) Tokenizer() (*tokenizers.Tokenizer, error) { return nil, nil }

// Network returns the weights with their table, under a name.
func (m *Model) Network(name string) hub.Network {
	return hub.Network{Name: name, Weights: m.set, Rules: rules(m.Config, m.set)}
}

// Load fills a store with the variables of [Forward].
func (m *Model) Load(s *model.Store, dtype dtypes.DType) error {
	return weights.Stream(s.RootScope(), m.set, rules(m.Config, m.set), dtype,
		weights.Hooks{Turn: diffusion.TurnKernel})
}
