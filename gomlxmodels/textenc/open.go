package textenc

import (
	"fmt"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// OpenOptions says how a folder is read; the zero value is the default.
type OpenOptions struct {
	// Pooling of a folder that contains a transformer only: mean (default), cls, pooler or another [Mode]. A folder
	// that defines its pooling (sentence-transformers, AltCLIP, M-CLIP) takes none.
	Pooling Mode
}

// Model is an opened model folder: its transformer, and its modules. It holds no weights and no device.
type Model struct {
	hub.Folder // of the transformer
	cfg        *Config
	modules    []Module
	pooled     int           // the module whose vectors are Embedding.Pooled
	dense      []hub.Network // modules with a file of their own
	maxTokens  int
	limited    bool // the folder specifies maxTokens, whatever its tokenizer specifies
	lower      bool
	prompt     string
}

// Open reads the folder of a model: as transformers saves one (config.json, its weights ([weights.Open])), as
// sentence-transformers does (modules.json, and the folders it names), AltCLIP's or M-CLIP's. It checks that
// every tensor that the configuration requires exists in the right shape and that there is no other; values are read by
// [Encoder]. Errors are one line and name the file.
func Open(dir string, o OpenOptions) (m *Model, err error) {
	defer runner.Recovered("textenc", &err)
	transformer, list, sentence, err := readModules(dir)
	if err != nil {
		return nil, err
	}
	m = &Model{}
	var before, base []string
	if sentence {
		before = []string{filepath.Join(dir, "modules.json")}
	} else {
		transformer = dir
	}
	m.Folder, m.cfg, err = hub.OpenFolder("textenc", transformer, func(text []byte) (*Config, error) {
		return ParseConfig(text, func(file string) ([]byte, error) {
			base = append(base, filepath.Join(transformer, file))
			return os.ReadFile(base[0])
		})
	}, before...)
	if err != nil {
		return nil, err
	}
	m.Read(base...)
	m.maxTokens = m.cfg.MaxTokens()
	own := sentence || m.cfg.ProjectDim+m.cfg.NumDims > 0
	switch {
	case own && o.Pooling != "":
		return nil, fmt.Errorf("%s: pooling %s requested, but the model defines its own", dir, o.Pooling)
	case sentence:
		var files []string
		if m.modules, files, err = sentenceModules(dir, list, m.cfg.HiddenSize); err != nil {
			return nil, err
		}
		m.Read(files...)
		err = m.sentenceSettings(dir)
	default:
		if m.modules, err = bare(m.cfg, o.Pooling); err != nil {
			err = fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err != nil {
		return nil, err
	}
	if o.Pooling == ModePooler {
		m.pooled = 1
	}
	if m.cfg.ProjectDim > 0 {
		m.pooled = 2
	}
	if err := m.openWeights(); err != nil {
		return nil, err
	}
	return m, m.openTokenizer()
}

func (m *Model) openWeights() (err error) {
	if err := m.OpenWeights(); err != nil {
		return err
	}
	if err := m.Match(table(m.cfg, m.modules, m.Weights)); err != nil {
		return err
	}
	for i, module := range m.modules {
		if module.dir == "" {
			continue
		}
		set, err := weights.Open(module.dir)
		if err != nil {
			return err
		}
		n := hub.Network{Name: filepath.Base(module.dir), Weights: set, Rules: moduleTable(module, i)}
		if err := n.Match(); err != nil {
			return err
		}
		m.dense = append(m.dense, n)
		m.Read(set.Files()...)
	}
	return nil
}

// Networks returns the transformer and the modules with weights of their own.
func (m *Model) Networks() []hub.Network { return append(m.Folder.Networks(), m.dense...) }

// Config returns the transformer's configuration.
func (m *Model) Config() *Config { return m.cfg }

// Modules returns the steps from tokens to a text's vector.
func (m *Model) Modules() []Module { return append([]Module(nil), m.modules...) }

// Width returns the length of a text's vector.
func (m *Model) Width() int { return m.modules[len(m.modules)-1].Out }

// MaxTokens returns the length of the longest text in tokens, including start and end tokens.
func (m *Model) MaxTokens() int { return m.maxTokens }
