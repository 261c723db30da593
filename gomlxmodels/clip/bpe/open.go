package bpe

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
)

// The special tokens of CLIP. End also stands for what has no token.
const (
	Start = "<|startoftext|>"
	End   = "<|endoftext|>"
)

// wordEnd marks tokens that end a word.
const wordEnd = "</w>"

// Tokenizer turns texts into token ids. It is safe on several goroutines at once.
type Tokenizer struct {
	vocab      map[string]int
	merges     map[[2]int]merge
	start, end int
	files      []string
}

// merge is what a pair of tokens becomes, and how early it does.
type merge struct{ rank, id int }

// Open reads the tokenizer of a model folder: tokenizer.json, else vocab.json and merges.txt. Tokens added to CLIP's own are
// refused. Errors are one line and name the file.
func Open(dir string) (*Tokenizer, error) {
	one := filepath.Join(dir, "tokenizer.json")
	text, err := os.ReadFile(one)
	if err == nil {
		return openOne(one, text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	vocab, list := filepath.Join(dir, "vocab.json"), filepath.Join(dir, "merges.txt")
	if text, err = os.ReadFile(vocab); err != nil {
		return nil, fmt.Errorf("tokenizer: neither tokenizer.json nor vocab.json: %w", err)
	}
	if err := noneAdded(filepath.Join(dir, "added_tokens.json")); err != nil {
		return nil, err
	}
	t := &Tokenizer{files: []string{vocab, list}}
	if err := json.Unmarshal(text, &t.vocab); err != nil {
		return nil, fmt.Errorf("%s: not readable: %w", vocab, err)
	}
	if text, err = os.ReadFile(list); err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	var merges [][2]string
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || strings.HasPrefix(line, "#version") {
			continue
		}
		a, b, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("%s: line %d: %q is not two tokens", list, i+1, line)
		}
		merges = append(merges, [2]string{a, b})
	}
	return t.prepare(vocab, list, merges)
}

// noneAdded refuses a list of added tokens, if it is there, that names others than the special ones.
func noneAdded(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var added map[string]int
	if err == nil {
		err = json.Unmarshal(text, &added)
	}
	if err != nil {
		return fmt.Errorf("%s: not readable: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		if name != Start && name != End {
			return fmt.Errorf(refused, path, name, Start, End)
		}
	}
	return nil
}

const refused = "%s: the added token %q is not supported (%s and %s are)"

// openOne reads a tokenizer.json.
func openOne(path string, text []byte) (*Tokenizer, error) {
	var f struct {
		Added []struct {
			Content string `json:"content"`
		} `json:"added_tokens"`
		Model struct {
			Type   string            `json:"type"`
			End    string            `json:"end_of_word_suffix"`
			Vocab  map[string]int    `json:"vocab"`
			Merges []json.RawMessage `json:"merges"`
		} `json:"model"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: not readable: %w", path, err)
	}
	if (f.Model.Type != "BPE" && f.Model.Type != "") || f.Model.End != wordEnd {
		return nil, fmt.Errorf("%s: a %q model with end_of_word_suffix %q is not CLIP's (BPE, %q)", path, f.Model.Type, f.Model.End, wordEnd)
	}
	for _, a := range f.Added {
		if a.Content != Start && a.Content != End {
			return nil, fmt.Errorf(refused, path, a.Content, Start, End)
		}
	}
	merges := make([][2]string, len(f.Model.Merges))
	for i, raw := range f.Model.Merges { // ["a","b"], or "a b" in older files
		var one string
		ok := true
		if json.Unmarshal(raw, &one) == nil {
			merges[i][0], merges[i][1], ok = strings.Cut(one, " ")
		} else {
			var two []string
			if ok = json.Unmarshal(raw, &two) == nil && len(two) == 2; ok {
				merges[i] = [2]string(two)
			}
		}
		if !ok {
			return nil, fmt.Errorf("%s: merge %d: %s is not two tokens", path, i+1, raw)
		}
	}
	t := &Tokenizer{vocab: f.Model.Vocab, files: []string{path}}
	return t.prepare(path, path, merges)
}

// prepare looks the merges up in the vocabulary.
func (t *Tokenizer) prepare(vocab, list string, merges [][2]string) (*Tokenizer, error) {
	for name, id := range t.vocab {
		if id < 0 || id > 1<<24 {
			return nil, fmt.Errorf("%s: token %q has the impossible id %d", vocab, name, id)
		}
	}
	for _, s := range []struct {
		name string
		id   *int
	}{{Start, &t.start}, {End, &t.end}} {
		id, ok := t.vocab[s.name]
		if !ok {
			return nil, fmt.Errorf("%s: the token %s is missing", vocab, s.name)
		}
		*s.id = id
	}
	t.merges = make(map[[2]int]merge, len(merges))
	for i, m := range merges {
		a, okA := t.vocab[m[0]]
		b, okB := t.vocab[m[1]]
		both, ok := t.vocab[m[0]+m[1]]
		if !okA || !okB || !ok {
			return nil, fmt.Errorf("%s: merge %d: %q and %q, or both together, are not in the vocabulary", list, i+1, m[0], m[1])
		}
		t.merges[[2]int{a, b}] = merge{i, both}
	}
	return t, nil
}

// Files lists the files that were read: what a digest of the model must cover.
func (t *Tokenizer) Files() []string { return t.files }

// EndID is the id of the end-of-text token.
func (t *Tokenizer) EndID() int { return t.end }

// Size is one more than the highest id: what a model's vocab_size must reach.
func (t *Tokenizer) Size() int {
	n := 0
	for _, id := range t.vocab {
		n = max(n, id+1)
	}
	return n
}
