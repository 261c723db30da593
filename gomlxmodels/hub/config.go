package hub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"antipode/gomlxmodels/nn"
	"antipode/internal/plaintext"
)

// Upper bounds of the sizes in a configuration, so that a damaged file cannot request all memory.
const (
	MaxDim    = 1 << 16
	MaxLayers = 1 << 10
	MaxVocab  = 1 << 21
	MaxSide   = 1 << 14 // of an image or a patch, and patches of an image
)

// Given reports whether a JSON value is present and not null.
func Given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// Part is an object of a configuration and its destination.
type Part struct {
	Name string // for errors: text_config
	Raw  json.RawMessage
	To   any // a pointer to the defaults
}

// ReadParts decodes the parts that are given; a key that is missing keeps its default.
func ReadParts(parts ...Part) error {
	for _, p := range parts {
		if !Given(p.Raw) {
			continue
		}
		if err := json.Unmarshal(p.Raw, p.To); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// Between reports a number of a configuration that is not between low and high.
func Between(name string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("%s %d is not between %d and %d", name, value, low, high)
	}
	return nil
}

// FixedKeys reports a key of a configuration whose value is not the only one that is supported, in JSON; null and a
// missing key always are.
func FixedKeys(all map[string]json.RawMessage, table map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value := all[key]
		if Given(value) && string(value) != table[key] && string(value) != table[key]+".0" {
			return fmt.Errorf("%s %s is not supported: only %s is", key, plaintext.OneLine(string(value)), table[key])
		}
	}
	return nil
}

// Token reports a token that a vocabulary of so many does not have.
func Token(name string, id, vocabulary int) error {
	if id < 0 || id >= vocabulary {
		return fmt.Errorf("%s %d is not a token (vocab_size %d)", name, id, vocabulary)
	}
	return nil
}

// In prefixes an error, unless it is nil, with the part of a configuration that it is about.
func In(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", part, err)
}

// Transformer is the shape of a transformer's blocks: the keys that most configurations of Hugging Face share.
type Transformer struct {
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	Layers           int     `json:"num_hidden_layers"`
	Heads            int     `json:"num_attention_heads"`
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
}

// CheckTransformer checks the shape, naming fields and numbers.
func (t *Transformer) CheckTransformer() error {
	if err := cmp.Or(Between("hidden_size", t.HiddenSize, 1, MaxDim),
		Between("intermediate_size", t.IntermediateSize, 1, MaxDim),
		Between("num_hidden_layers", t.Layers, 1, MaxLayers),
		Between("num_attention_heads", t.Heads, 1, MaxDim)); err != nil {
		return err
	}
	switch {
	case t.HiddenSize%t.Heads != 0:
		return fmt.Errorf("hidden_size %d not divisible by num_attention_heads %d", t.HiddenSize, t.Heads)
	case !(t.LayerNormEps > 0) || math.IsInf(t.LayerNormEps, 0):
		return fmt.Errorf("layer_norm_eps %v is not a positive number", t.LayerNormEps)
	}
	return In("hidden_act", nn.KnownActivation(t.HiddenAct))
}

// ModelType returns the model_type of a config.json, which must be one of the given; what names them for the error.
func ModelType(text []byte, what string, types ...string) (string, error) {
	var f struct {
		ModelType *string `json:"model_type"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return "", fmt.Errorf("not readable as JSON: %w", err)
	}
	switch {
	case f.ModelType == nil:
		return "", errors.New(`has no "model_type"`)
	case !slices.Contains(types, *f.ModelType):
		return "", WrongType(*f.ModelType, what)
	}
	return *f.ModelType, nil
}

// WrongType is the error of a folder whose model_type is not the one required; what names that one.
func WrongType(modelType, what string) error {
	return fmt.Errorf("model_type %q is not %s; \"antipode models\" lists models and the columns they add",
		modelType, what)
}

// ReadConfig reads the config.json of a model folder with parse, whose errors get the file's name.
func ReadConfig[C any](dir string, parse func(text []byte) (C, error)) (config C, path string, err error) {
	path = filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return config, path, fmt.Errorf("model folder: %w", err)
	}
	if config, err = parse(text); err != nil {
		return config, path, fmt.Errorf("%s: %w", path, err)
	}
	return config, path, nil
}

// Architecture returns the model_type of the folder's config.json; "" in a timm folder, which has none.
func Architecture(dir string) (string, error) {
	name, _, err := ReadConfig(dir, func(text []byte) (string, error) {
		var c struct {
			ModelType string `json:"model_type"`
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return "", fmt.Errorf("not readable: %w", err)
		}
		return c.ModelType, nil
	})
	return name, err
}
