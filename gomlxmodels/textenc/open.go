package textenc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// OpenOptions says how a folder is read; the zero value is the default.
type OpenOptions struct {
	// Pooling of a folder that holds a bare transformer: mean (default), cls, pooler or another [Mode]. A folder that says
	// its own pooling (sentence-transformers, AltCLIP, M-CLIP) takes none.
	Pooling Mode
}

// Model is an opened model folder: its configuration, its modules, the headers of its weights. It holds no weights and no
// device.
type Model struct {
	dir       string // of the transformer
	cfg       *Config
	modules   []Module
	pooled    int // the module whose vectors are Embedding.Pooled
	set       *weights.Set
	sets      map[int]*weights.Set // of modules with a file of their own
	files     []string
	maxTokens int
	limited   bool // the folder says maxTokens, whatever its tokenizer says
	lower     bool
	prompt    string

	tokenizer   *tokenizers.Tokenizer
	noTokenizer error
}

// Open reads the folder of a model: as transformers saves one (config.json, model.safetensors or its shards), as
// sentence-transformers does (modules.json, and the folders it names), AltCLIP's or M-CLIP's. It checks that every tensor the
// configuration asks for is there in the right shape and no other; values are read by [Encoder]. Errors are one line and name
// the file.
func Open(dir string, o OpenOptions) (m *Model, err error) {
	defer runner.Recovered("textenc", &err)
	transformer, list, sentence, err := readModules(dir)
	if err != nil {
		return nil, err
	}
	m = &Model{dir: dir, sets: map[int]*weights.Set{}}
	if sentence {
		m.dir = transformer
		m.files = append(m.files, filepath.Join(dir, "modules.json"))
	}
	path := filepath.Join(m.dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	}
	m.files = append(m.files, path)
	m.cfg, err = ParseConfig(text, func(file string) ([]byte, error) {
		base := filepath.Join(m.dir, file)
		m.files = append(m.files, base)
		return os.ReadFile(base)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.maxTokens = m.cfg.MaxTokens()
	own := sentence || m.cfg.ProjectDim+m.cfg.NumDims > 0
	switch {
	case own && o.Pooling != "":
		return nil, fmt.Errorf("%s: pooling %s asked for, but the model says its own", dir, o.Pooling)
	case sentence:
		var files []string
		if m.modules, files, err = sentenceModules(dir, list, m.cfg.HiddenSize); err != nil {
			return nil, err
		}
		m.files = append(m.files, files...)
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
	m.openTokenizer()
	return m, nil
}

// sentenceSettings reads what sentence-transformers keeps apart: the longest text, small letters, the prompt.
func (m *Model) sentenceSettings(dir string) error {
	var bert struct {
		Max   *int `json:"max_seq_length"`
		Lower bool `json:"do_lower_case"`
	}
	var st struct {
		Prompts map[string]string `json:"prompts"`
		Default *string           `json:"default_prompt_name"`
	}
	for _, f := range []struct {
		path string
		to   any
	}{{filepath.Join(m.dir, "sentence_bert_config.json"), &bert}, {filepath.Join(dir, "config_sentence_transformers.json"), &st}} {
		text, err := os.ReadFile(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, f.to)
		}
		if err != nil {
			return fmt.Errorf("%s: not readable: %w", f.path, err)
		}
		m.files = append(m.files, f.path)
	}
	if bert.Max != nil {
		if *bert.Max < 1 || *bert.Max > m.maxTokens {
			return fmt.Errorf("%s: max_seq_length %d is not between 1 and the %d tokens the model has positions for", filepath.Join(m.dir, "sentence_bert_config.json"), *bert.Max, m.maxTokens)
		}
		m.maxTokens, m.limited = *bert.Max, true
	}
	m.lower = bert.Lower
	if st.Default != nil {
		prompt, ok := st.Prompts[*st.Default]
		if !ok {
			return fmt.Errorf("%s: default_prompt_name %q is not among the prompts", filepath.Join(dir, "config_sentence_transformers.json"), *st.Default)
		}
		m.prompt = prompt
	}
	return nil
}

func (m *Model) openWeights() (err error) {
	if m.set, err = weights.Open(m.dir); err != nil {
		return err
	}
	m.files = append(m.files, m.set.Files()...)
	if err := weights.Match(m.set, table(m.cfg, m.modules, m.set)); err != nil {
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
		if err := weights.Match(set, moduleTable(module, i)); err != nil {
			return err
		}
		m.sets[i] = set
		m.files = append(m.files, set.Files()...)
	}
	return nil
}

// Config is the transformer's shape.
func (m *Model) Config() *Config { return m.cfg }

// Modules are the steps from tokens to a text's vector.
func (m *Model) Modules() []Module { return append([]Module(nil), m.modules...) }

// Width is the length of a text's vector.
func (m *Model) Width() int { return m.modules[len(m.modules)-1].Out }

// MaxTokens is the longest text, in tokens, start and end tokens included.
func (m *Model) MaxTokens() int { return m.maxTokens }

// Files lists the files that were read: what a digest of the model must cover.
func (m *Model) Files() []string { return append([]string(nil), m.files...) }
