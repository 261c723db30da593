package textenc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels/hub"
)

// Kind is what a [Module] does.
type Kind string

// The modules after the transformer. The first is always Pooling, which makes one vector of a text's tokens.
const (
	Pooling   Kind = "Pooling"
	Dense     Kind = "Dense"
	LayerNorm Kind = "LayerNorm"
	Normalize Kind = "Normalize" // to length 1; zeros stay zeros
)

// Mode is a way of pooling, by the names sentence-transformers uses.
type Mode string

// The modes of pooling. Weights add up to 1 in all but ModeSqrtMean and ModeMax.
const (
	ModeCLS          Mode = "cls"                  // the first token
	ModeMax          Mode = "max"                  // the largest value of each number
	ModeMean         Mode = "mean"                 // of all tokens, start and end tokens included
	ModeSqrtMean     Mode = "mean_sqrt_len_tokens" // the sum divided by the square root of the number of tokens
	ModeWeightedMean Mode = "weightedmean"         // token i, from 1, weighs i
	ModeLastToken    Mode = "lasttoken"
	// ModePooler is a bare folder's own pooler: the first token through a dense layer and tanh. No mode of a Pooling
	// module.
	ModePooler Mode = "pooler"
)

// modes in the order vectors are joined in, with their keys in older files.
var modes = []struct {
	mode Mode
	key  string
}{{ModeCLS, "pooling_mode_cls_token"}, {ModeMax, "pooling_mode_max_tokens"}, {ModeMean, "pooling_mode_mean_tokens"},
	{ModeSqrtMean, "pooling_mode_mean_sqrt_len_tokens"}, {ModeWeightedMean, "pooling_mode_weightedmean_tokens"},
	{ModeLastToken, "pooling_mode_lasttoken"}}

// Module is one step from tokens to the vector of a text.
type Module struct {
	Kind       Kind
	Modes      []Mode  // Pooling: joined in this order
	In, Out    int     // widths
	Bias       bool    // Dense
	Activation string  // Dense: a name of package nn; "" = none
	Epsilon    float64 // LayerNorm

	dir    string // where its weights lie; "" = with the transformer's
	tensor string // what their names begin with
}

func pooling(width int, list ...Mode) Module {
	return Module{Kind: Pooling, Modes: list, In: width, Out: width * len(list)}
}

// bare are the modules of a folder that is no sentence-transformers folder.
func bare(c *Config, mode Mode) ([]Module, error) {
	d := c.HiddenSize
	switch c.ModelType {
	case "altclip", "altclip_text_model":
		prefix := ""
		if c.ModelType == "altclip" {
			prefix = "text_model."
		}
		list := []Module{pooling(d, ModeCLS), {Kind: LayerNorm, In: d, Out: d, Epsilon: c.LayerNormEps,
			tensor: prefix + "pre_LN"},
			{Kind: Dense, In: d, Out: c.ProjectDim, Bias: true, tensor: prefix + "transformation"}}
		if c.ModelType == "altclip" {
			list = append(list, Module{Kind: Dense, In: c.ProjectDim, Out: c.ProjectionDim, tensor: "text_projection"})
		}
		return list, nil
	case "M-CLIP":
		return []Module{pooling(d, ModeMean), {Kind: Dense, In: d, Out: c.NumDims, Bias: true,
			tensor: "LinearTransformation"}}, nil
	}
	switch {
	case mode == "":
		return []Module{pooling(d, ModeMean)}, nil
	case mode == ModePooler && c.Family() == DistilBERT:
		return nil, errors.New("pooling pooler: DistilBERT has none")
	case mode == ModePooler:
		return []Module{pooling(d, ModeCLS), {Kind: Dense, In: d, Out: d, Bias: true, Activation: "tanh",
			tensor: "pooler.dense"}}, nil
	case known(mode):
		return []Module{pooling(d, mode)}, nil
	}
	return nil, fmt.Errorf("pooling %q is not known (mean, cls, max, mean_sqrt_len_tokens, weightedmean, "+
		"lasttoken, pooler)", mode)
}

func known(mode Mode) bool {
	for _, m := range modes {
		if m.mode == mode {
			return true
		}
	}
	return false
}

// entry is one line of modules.json.
type entry struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

// readModules reads modules.json: the folder of the transformer, the folders of the rest. ok is false where there is
// none.
func readModules(dir string) (transformer string, rest []entry, ok bool, err error) {
	path := filepath.Join(dir, "modules.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, false, nil
	}
	if err != nil {
		return "", nil, false, err
	}
	var list []entry
	if err := json.Unmarshal(text, &list); err != nil {
		return "", nil, false, fmt.Errorf("%s: not readable: %w", path, err)
	}
	for i := range list {
		list[i].Type = list[i].Type[strings.LastIndexByte(list[i].Type, '.')+1:]
		if p := list[i].Path; p != "" && !filepath.IsLocal(p) {
			return "", nil, false, fmt.Errorf("%s: path %q leads out of the folder", path, p)
		}
	}
	if len(list) < 2 || list[0].Type != "Transformer" || list[1].Type != string(Pooling) {
		return "", nil, false, fmt.Errorf("%s: the modules do not begin with Transformer and Pooling", path)
	}
	return filepath.Join(dir, list[0].Path), list[1:], true, nil
}

// activations of Dense modules, by the last part of their names.
var activations = map[string]string{"Identity": "", "Tanh": "tanh", "ReLU": "relu", "GELU": "gelu", "SiLU": "silu"}

// sentenceModules reads the modules after the transformer, whose width is given.
func sentenceModules(dir string, list []entry, width int) (modules []Module, files []string, err error) {
	for _, e := range list {
		path := filepath.Join(dir, e.Path, "config.json")
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && e.Type == string(Normalize) {
			text = []byte("{}") // older folders hold nothing
		} else if err != nil {
			return nil, nil, err
		} else {
			files = append(files, path)
		}
		if e.Type == "Dropout" { // of training
			continue
		}
		m, err := parseModule(e.Type, text, width)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(modules) > 0 && m.Kind == Pooling {
			return nil, nil, fmt.Errorf("%s: a second Pooling", path)
		}
		if m.tensor != "" {
			m.dir = filepath.Join(dir, e.Path)
		}
		modules, width = append(modules, *m), m.Out
	}
	return modules, files, nil
}

// parseModule reads the config.json of a module that takes vectors of the given width.
func parseModule(kind string, text []byte, width int) (*Module, error) {
	var f struct {
		Mode          json.RawMessage `json:"pooling_mode"`
		IncludePrompt *bool           `json:"include_prompt"`
		Embedding     *int            `json:"embedding_dimension"`
		Word          *int            `json:"word_embedding_dimension"`
		In            *int            `json:"in_features"`
		Out           *int            `json:"out_features"`
		Bias          *bool           `json:"bias"`
		Activation    *string         `json:"activation_function"`
		Dimension     *int            `json:"dimension"`
		Residual      bool            `json:"use_residual"`
		Input         string          `json:"module_input_name"`
		Output        string          `json:"module_output_name"`
	}
	var keys map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &f), json.Unmarshal(text, &keys)); err != nil {
		return nil, fmt.Errorf("not readable: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	for _, name := range []string{f.Input, f.Output} {
		if name != "" && name != "sentence_embedding" {
			return nil, fmt.Errorf("a module that reads or writes %q is not supported", name)
		}
	}
	fits := func(name string, value *int) error {
		if value != nil && *value != width {
			return fmt.Errorf("%s %d, but what comes before gives %d", name, *value, width)
		}
		return nil
	}
	m := &Module{Kind: Kind(kind), In: width, Out: width}
	switch m.Kind {
	case Pooling:
		if err := errors.Join(fits("embedding_dimension", f.Embedding),
			fits("word_embedding_dimension", f.Word)); err != nil {
			return nil, err
		}
		if f.IncludePrompt != nil && !*f.IncludePrompt {
			return nil, errors.New("include_prompt false (pooling without the prompt) is not supported")
		}
		list, err := poolingModes(f.Mode, keys)
		if err != nil {
			return nil, err
		}
		*m = pooling(width, list...)
	case Dense:
		if err := fits("in_features", f.In); err != nil {
			return nil, err
		}
		if f.Out == nil || *f.Out < 1 || *f.Out > hub.MaxDim {
			return nil, fmt.Errorf("out_features is not between 1 and %d", hub.MaxDim)
		}
		if f.Residual {
			return nil, errors.New("use_residual is not supported")
		}
		name := "Tanh"
		if f.Activation != nil {
			name = (*f.Activation)[strings.LastIndexByte(*f.Activation, '.')+1:]
		}
		act, ok := activations[name]
		if !ok {
			return nil, fmt.Errorf("activation_function %q is not known (Identity, Tanh, ReLU, GELU, SiLU)", name)
		}
		m.Out, m.Activation, m.Bias, m.tensor = *f.Out, act, f.Bias == nil || *f.Bias, "linear"
	case LayerNorm:
		if err := fits("dimension", f.Dimension); err != nil {
			return nil, err
		}
		m.Epsilon, m.tensor = 1e-5, "norm"
	case Normalize:
	default:
		return nil, fmt.Errorf("module %q is not known (Pooling, Dense, LayerNorm, Normalize, Dropout)", kind)
	}
	return m, nil
}

// poolingModes reads pooling_mode (a name or a list), or the flags of older files.
func poolingModes(raw json.RawMessage, keys map[string]json.RawMessage) (list []Mode, err error) {
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &list); err != nil {
			list = make([]Mode, 1)
			if err := json.Unmarshal(raw, &list[0]); err != nil {
				return nil, fmt.Errorf("pooling_mode: %w", err)
			}
		}
		if i := slices.IndexFunc(list, func(m Mode) bool { return !known(m) }); i >= 0 {
			return nil, fmt.Errorf("pooling_mode %q is not known", list[i])
		}
	} else {
		for _, m := range modes {
			var on bool
			if v, ok := keys[m.key]; ok {
				if err := json.Unmarshal(v, &on); err != nil {
					return nil, fmt.Errorf("%s: %w", m.key, err)
				}
			}
			if on {
				list = append(list, m.mode)
			}
		}
	}
	if len(list) == 0 {
		list = []Mode{ModeMean}
	}
	return list, nil
}
