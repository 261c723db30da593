package mindalle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/vqgan"
)

// Config is the shape of a minDALL-E: the keys of stage2 in config.yaml.
type Config struct {
	TextVocab   int  `json:"vocab_size_txt"`
	ImageVocab  int  `json:"vocab_size_img"`
	Width       int  `json:"embed_dim"`
	Layers      int  `json:"n_layers"`
	Heads       int  `json:"n_heads"`
	ImageLength int  `json:"ctx_len_img"`
	TextLength  int  `json:"ctx_len_txt"`
	MLPBias     bool `json:"mlp_bias"`
	AttnBias    bool `json:"attn_bias"`
	Approximate bool `json:"gelu_use_approx"`
	TextHead    bool `json:"use_head_txt"`
}

// ParseConfig reads a config.yaml and validates it. Missing keys have the values of the released model.
func ParseConfig(text []byte) (*Config, *vqgan.Config, error) {
	c := Config{TextVocab: 16384, ImageVocab: 16384, Width: 1536, Layers: 42, Heads: 24, ImageLength: 256,
		TextLength: 64, MLPBias: true, AttnBias: true, TextHead: true}
	v := vqgan.DefaultConfig()
	stages, err := readYAML(text)
	if err != nil {
		return nil, nil, err
	}
	for name, to := range map[string]any{"stage1": &v, "stage2": &c} {
		values, err := json.Marshal(stages[name])
		if err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(values, to); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		want := map[string]string{"stage1": `"vqgan"`, "stage2": `"transformer1d"`}[name]
		if kind, given := stages[name]["type"]; given && string(kind) != want {
			return nil, nil, fmt.Errorf("%s: type %s is not supported: only %s is", name, kind, want)
		}
	}
	return &c, &v, cmp.Or(hub.In("stage1", v.Validate()), hub.In("stage2", c.Validate(&v)))
}

// readYAML reads the keys of a configuration with their values in JSON, by section. Keys of hparams are those of their
// section. It reads the part of YAML that such files have: nested keys, numbers, words, and lists in brackets.
func readYAML(text []byte) (map[string]map[string]json.RawMessage, error) {
	sections := map[string]map[string]json.RawMessage{}
	section := ""
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch inner := strings.HasPrefix(line, " "); {
		case strings.TrimSpace(line) == "":
		case !ok || inner && section == "" || !inner && value != "":
			return nil, fmt.Errorf("line %d: %q is not read: only keys with values in sections are", i+1, line)
		case !inner:
			section = key
			sections[section] = map[string]json.RawMessage{}
		case value != "": // else hparams
			raw := json.RawMessage(value)
			switch lower := strings.ToLower(value); {
			case lower == "true" || lower == "false" || lower == "null":
				raw = json.RawMessage(lower)
			case !json.Valid(raw):
				raw, _ = json.Marshal(value)
			}
			sections[section][key] = raw
		}
	}
	return sections, nil
}

// Validate returns an error that names an invalid key and its value.
func (c *Config) Validate(v *vqgan.Config) error {
	if err := cmp.Or(hub.Between("vocab_size_txt", c.TextVocab, 1, hub.MaxVocab),
		hub.Between("vocab_size_img", c.ImageVocab, 1, hub.MaxVocab), hub.Between("embed_dim", c.Width, 1, hub.MaxDim),
		hub.Between("n_layers", c.Layers, 1, hub.MaxLayers), hub.Between("n_heads", c.Heads, 1, hub.MaxDim),
		hub.Between("ctx_len_img", c.ImageLength, 1, hub.MaxDim),
		hub.Between("ctx_len_txt", c.TextLength, 1, hub.MaxDim)); err != nil {
		return err
	}
	switch {
	case c.Width%c.Heads != 0:
		return fmt.Errorf("embed_dim %d not divisible by n_heads %d", c.Width, c.Heads)
	case !c.MLPBias || !c.AttnBias:
		return fmt.Errorf("mlp_bias %v, attn_bias %v are not supported: only true is", c.MLPBias, c.AttnBias)
	case c.TextVocab > c.ImageVocab:
		return fmt.Errorf("vocab_size_txt %d above vocab_size_img %d is not supported", c.TextVocab, c.ImageVocab)
	case c.ImageVocab != v.Tokens:
		return fmt.Errorf("vocab_size_img %d is not the VQGAN's n_embed, %d", c.ImageVocab, v.Tokens)
	case c.ImageLength != v.Length():
		return fmt.Errorf("ctx_len_img %d is not the number of the VQGAN's tokens of an image, %d", c.ImageLength,
			v.Length())
	}
	return nil
}

// activation is the name of the MLPs' activation.
func (c *Config) activation() string {
	if c.Approximate {
		return "quick_gelu"
	}
	return "gelu"
}
