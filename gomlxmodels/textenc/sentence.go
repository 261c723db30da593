package textenc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels/hub"
)

// lengths are the keys that state the length of the longest text, the first that is there before the others.
var lengths = []string{"processing_kwargs.common.max_length", "processing_kwargs.text.max_length",
	"tokenizer_args.model_max_length", "processor_kwargs.model_max_length", "max_seq_length"}

// sentenceKeys are the other keys of a [hub.SentenceConfigs] with the one value that is supported; nil = any.
var sentenceKeys = map[string]any{
	"do_lower_case": nil, "unpad_inputs": nil, "transformer_task": "feature-extraction",
	"modality_config.text.method": "forward", "modality_config.text.method_output_name": "last_hidden_state",
	"module_output_name": "token_embeddings", "processing_kwargs.text.truncation": true,
	"processing_kwargs.text.padding": true,
}

// sentenceSettings reads the options that sentence-transformers stores in files of their own: the length of the longest
// text, lower-casing, the prompt.
func (m *Model) sentenceSettings(dir string) error {
	all, path := map[string]any{}, ""
	for _, name := range hub.SentenceConfigs {
		path = filepath.Join(m.Dir, name)
		if err := m.readObject(path, &all); err != nil {
			return err
		}
		if len(all) > 0 {
			break
		}
	}
	keys := map[string]any{}
	flatten(keys, "", all)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		only, known := sentenceKeys[key]
		if !known && !slices.Contains(lengths, key) || known && only != nil && keys[key] != only {
			return fmt.Errorf("%s: %s %v is not supported", path, key, keys[key])
		}
	}
	for _, key := range lengths {
		if keys[key] == nil {
			continue
		}
		n, _ := keys[key].(float64)
		if n < 1 || n > float64(m.maxTokens) || n != float64(int(n)) {
			return fmt.Errorf("%s: %s %v is not between 1 and the %d tokens the model has positions for", path,
				key[strings.LastIndexByte(key, '.')+1:], keys[key], m.maxTokens)
		}
		m.maxTokens, m.limited = int(n), true
		break
	}
	m.lower = keys["do_lower_case"] == true
	var st struct {
		Prompts map[string]string `json:"prompts"`
		Default *string           `json:"default_prompt_name"`
	}
	path = filepath.Join(dir, "config_sentence_transformers.json")
	if err := m.readObject(path, &st); err != nil {
		return err
	}
	if st.Default != nil {
		prompt, ok := st.Prompts[*st.Default]
		if !ok {
			return fmt.Errorf("%s: default_prompt_name %q is not among the prompts", path, *st.Default)
		}
		m.prompt = prompt
	}
	return nil
}

// readObject reads a JSON file, if it is there.
func (m *Model) readObject(path string, to any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("%s: not readable: %w", path, err)
	}
	m.Read(path)
	return nil
}

// flatten puts the values within v under their keys, joined by dots, but for null and trust_remote_code, which
// sentence-transformers ignores in a file.
func flatten(into map[string]any, key string, v any) {
	inner, is := v.(map[string]any)
	if !is && v != nil && !strings.HasSuffix(key, ".trust_remote_code") {
		into[key] = v
	}
	for name, v := range inner {
		flatten(into, strings.TrimPrefix(key+"."+name, "."), v)
	}
}
