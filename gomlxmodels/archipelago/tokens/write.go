package tokens

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"antipode/gomlxmodels/tokenizers"
)

// Context is the maximum number of tokens of a text, including Start and End. Captions of figures with nine or more
// attributes are truncated.
const Context = 32

// Size returns the number of tokens, a model's vocab_size.
func Size() int { return len(learned().tokens) }

// StartID returns the id of [Start].
func StartID() int { return Size() - 2 }

// EndID returns the id of [End], the highest id.
func EndID() int { return Size() - 1 }

// Files returns the names of the files that [Write] writes.
func Files() []string {
	return []string{"merges.txt", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.json"}
}

// Open returns the tokenizer.
func Open() (*tokenizers.Tokenizer, error) {
	dir, err := os.MkdirTemp("", "antipode-tokens")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := Write(dir); err != nil {
		return nil, err
	}
	return tokenizers.Open(dir)
}

// opened returns the tokenizer of [Rows].
var opened = sync.OnceValues(Open)

// Rows returns the token ids of texts, truncated or padded with [End] to length tokens.
//
// Shapes: → [texts,length].
func Rows(texts []string, length int) ([]int32, error) {
	t, err := opened()
	if err != nil {
		return nil, err
	}
	out := make([]int32, 0, len(texts)*length)
	for _, text := range texts {
		e, err := t.Encode(text, length)
		if err != nil {
			return nil, err
		}
		out = append(append(out, e.IDs...), slices.Repeat([]int32{int32(EndID())}, length-len(e.IDs))...)
	}
	return out, nil
}

// object is a JSON object.
type object = map[string]any

// Write writes the tokenizer's files to an existing folder.
func Write(dir string) error {
	v := learned()
	vocab := v.json()
	merges, lines := [][2]string{}, "#version: 0.2\n"
	for _, m := range v.merges {
		merges, lines = append(merges, m), lines+m[0]+" "+m[1]+"\n"
	}
	added := v.addedTokens()
	byID := object{}
	for _, a := range added {
		of := object{}
		for key, value := range a {
			if key != "id" {
				of[key] = value
			}
		}
		byID[fmt.Sprint(a["id"])] = of
	}
	regex := func(of string) object { return object{"Regex": of} }
	byteLevel := func(prefix bool) object {
		return object{"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": true}
	}
	roles := object{"bos_token": Start, "eos_token": End, "pad_token": End, "unk_token": End}
	config := object{"tokenizer_class": "CLIPTokenizer", "model_max_length": Context, "added_tokens_decoder": byID}
	for role, token := range roles {
		config[role] = token
	}
	for name, content := range map[string]any{
		"vocab.json":              vocab,
		"merges.txt":              lines,
		"special_tokens_map.json": roles,
		"tokenizer_config.json":   config,
		"tokenizer.json": object{
			"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
			"normalizer": object{"type": "Sequence",
				"normalizers": []object{{"type": "NFC"}, {"type": "Replace", "pattern": regex(`\s+`), "content": " "},
					{"type": "Lowercase"}}},
			"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []object{
				{"type": "Split", "pattern": regex(strings.NewReplacer("|", `\|`).Replace(Start) + "|" +
					strings.NewReplacer("|", `\|`).Replace(End) + "|" + words), "behavior": "Removed",
					"invert": true},
				byteLevel(false)}},
			"post_processor": object{"type": "RobertaProcessing", "sep": []any{End, EndID()},
				"cls": []any{Start, StartID()}, "trim_offsets": false, "add_prefix_space": false},
			"decoder": byteLevel(true),
			"model": object{"type": "BPE", "dropout": nil, "unk_token": End, "continuing_subword_prefix": "",
				"end_of_word_suffix": wordEnd,
				"fuse_unk":           false, "byte_fallback": false, "ignore_merges": false, "vocab": vocab,
				"merges": merges},
		},
	} {
		text, plain := content.(string)
		if !plain {
			var err error
			if text, err = encode(content); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// json returns the vocabulary as a JSON object in the order of ids.
func (v *vocabulary) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for id, token := range v.tokens {
		if id > 0 {
			b.WriteByte(',')
		}
		name, _ := encode(token) // strings always encode
		fmt.Fprintf(&b, "%s:%d", strings.TrimSpace(name), id)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// addedTokens returns the entries of the added words and special tokens in tokenizer.json.
func (v *vocabulary) addedTokens() []object {
	var out []object
	for id := len(v.tokens) - len(v.added) - 2; id < len(v.tokens); id++ {
		special := id >= StartID()
		out = append(out, object{"id": id, "content": v.tokens[id], "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": !special, "special": special})
	}
	return out
}

// encode returns a value as JSON in which < and > are not escaped.
func encode(content any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(content)
	return b.String(), err
}
