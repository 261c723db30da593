package tokenizers

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// file is tokenizer.json.
type file struct {
	Added      []addedSpec `json:"added_tokens"`
	Truncation *struct {
		Direction string `json:"direction"`
	} `json:"truncation"`
	Padding *struct {
		Direction string `json:"direction"`
		Token     string `json:"pad_token"`
	} `json:"padding"`
	Normalizer    *normalSpec  `json:"normalizer"`
	PreTokenizer  *preSpec     `json:"pre_tokenizer"`
	PostProcessor *postSpec    `json:"post_processor"`
	Decoder       *decoderSpec `json:"decoder"`
	Model         modelSpec    `json:"model"`
}

// addedSpec is one of the added_tokens of tokenizer.json.
type addedSpec struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Left       bool   `json:"lstrip"`
	Right      bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// modelSpec is the model of tokenizer.json.
type modelSpec struct {
	Type         string          `json:"type"`
	Vocab        json.RawMessage `json:"vocab"`
	Merges       json.RawMessage `json:"merges"`
	Unknown      *string         `json:"unk_token"`
	UnknownID    *int32          `json:"unk_id"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	End          *string         `json:"end_of_word_suffix"`
	MostChars    *int            `json:"max_input_chars_per_word"`
	Dropout      *float64        `json:"dropout"`
	FuseUnknown  bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
}

// one reads a tokenizer.json.
func (o *opener) one(path string, text []byte, set *settings) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, unreadable(path, err)
	}
	if err := f.settle(set); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(o.dir, "tokenizer_config.json"), err)
	}
	t, err := f.build(set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func (f *file) build(set *settings) (*Tokenizer, error) {
	t := &Tokenizer{special: map[int32]bool{}, ids: map[string]int32{}, cleanUp: set.cleanUp && f.Model.Type != "BPE"}
	var err error
	if f.Normalizer != nil {
		if t.normalize, err = f.Normalizer.build(); err != nil {
			return nil, err
		}
	}
	if f.PreTokenizer != nil {
		if t.pre, err = f.PreTokenizer.build(); err != nil {
			return nil, err
		}
	}
	if t.model, t.tokens, err = f.Model.build(f.PreTokenizer.byteLevel()); err != nil {
		return nil, err
	}
	if err := f.add(t); err != nil {
		return nil, err
	}
	if f.PostProcessor != nil {
		if err := f.PostProcessor.build(t); err != nil {
			return nil, err
		}
	}
	if f.Decoder != nil {
		if t.decode, err = f.Decoder.build(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// byteLevel says whether words come as bytes.
func (s *preSpec) byteLevel() bool {
	return s != nil && (s.Type == "ByteLevel" || slices.ContainsFunc(s.PreTokenizers,
		func(p preSpec) bool { return p.byteLevel() }))
}

// add takes the added tokens in.
func (f *file) add(t *Tokenizer) error {
	for _, a := range f.Added {
		if a.Content == "" {
			continue
		}
		if a.ID < 0 || a.ID > most {
			return fmt.Errorf("the added token %q has the impossible id %d", a.Content, a.ID)
		}
		id := int32(a.ID)
		if own, ok := t.model.id(a.Content); ok && own != id {
			return fmt.Errorf("the added token %q has id %d, but %d in the vocabulary", a.Content, id, own)
		}
		if a.ID < len(t.tokens) && t.tokens[a.ID] != "" && t.tokens[a.ID] != a.Content {
			return fmt.Errorf("the added token %q has the id %d of %q", a.Content, id, t.tokens[a.ID])
		}
		for len(t.tokens) <= a.ID {
			t.tokens = append(t.tokens, "")
		}
		t.tokens[a.ID], t.ids[a.Content] = a.Content, id
		if a.Special {
			t.special[id] = true
		}
		token := addedToken{a.Content, id, a.SingleWord, a.Left, a.Right}
		if !a.Normalized {
			t.raw = append(t.raw, token)
			continue
		}
		if t.normalize != nil {
			token.content = t.normalize(token.content)
		}
		if token.content != "" {
			t.normal = append(t.normal, token)
			t.tokens[a.ID] = token.content // which the library decodes to
		}
	}
	return nil
}

// most is the highest id there may be.
const most = 1 << 22

// kind is the type of the model, which older files do not state.
func (s *modelSpec) kind() string {
	switch {
	case s.Type != "":
	case s.Merges != nil:
		return "BPE"
	case s.UnknownID != nil:
		return "Unigram"
	case s.Prefix != nil:
		return "WordPiece"
	}
	return s.Type
}

// build makes the model and the list of its tokens by id.
func (s *modelSpec) build(bytes bool) (model, []string, error) {
	s.Type = s.kind()
	switch {
	case s.ByteFallback && (s.Type != "BPE" || bytes):
		return nil, nil, fmt.Errorf("a %s model with byte_fallback is not supported", s.Type)
	case s.Dropout != nil && *s.Dropout != 0:
		return nil, nil, fmt.Errorf("a %s model with dropout gives other ids each time; set it to null", s.Type)
	case s.Type == "Unigram":
		return s.unigram()
	case s.Type != "WordPiece" && s.Type != "BPE":
		return nil, nil, fmt.Errorf("a %q model is not supported (WordPiece, BPE and Unigram are)", s.Type)
	}
	var ids map[string]int
	if err := json.Unmarshal(s.Vocab, &ids); err != nil {
		return nil, nil, fmt.Errorf("the vocabulary is not readable: %w", err)
	}
	vocab, tokens, err := number(ids)
	if err != nil {
		return nil, nil, err
	}
	unknown := int32(-1)
	if s.Unknown != nil {
		id, ok := vocab[*s.Unknown]
		if !ok {
			return nil, nil, fmt.Errorf("the unknown token %q is not in the vocabulary", *s.Unknown)
		}
		unknown = id
	}
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	if s.Type == "BPE" {
		m := &bytePair{vocab: vocab, bytes: bytes, unknown: unknown, fuse: s.FuseUnknown, inside: text(s.Prefix),
			end: text(s.End), whole: s.IgnoreMerges}
		if bytes && m.inside != "" {
			return nil, nil, fmt.Errorf("a byte-level BPE model with continuing_subword_prefix %q is not supported",
				m.inside)
		}
		if s.ByteFallback {
			m.fallback = make([]int32, 256)
		}
		merges, err := s.merges()
		if err == nil {
			err = m.prepare(merges)
		}
		return m, tokens, err
	}
	if unknown < 0 {
		return nil, nil, fmt.Errorf("the WordPiece model has no unk_token")
	}
	m := &wordPiece{vocab: vocab, inside: map[string]int32{}, unknown: unknown, most: 100}
	if s.MostChars != nil {
		m.most = *s.MostChars
	}
	prefix := "##"
	if s.Prefix != nil {
		prefix = *s.Prefix
	}
	for token, id := range vocab {
		if rest, ok := strings.CutPrefix(token, prefix); ok && rest != "" {
			m.inside[rest] = id
		}
	}
	return m, tokens, nil
}

// number checks ids and lists the tokens by them.
func number(ids map[string]int) (map[string]int32, []string, error) {
	vocab := make(map[string]int32, len(ids))
	highest := -1
	for token, id := range ids {
		if id < 0 || id > most {
			return nil, nil, fmt.Errorf("the token %q has the impossible id %d", token, id)
		}
		vocab[token] = int32(id)
		highest = max(highest, id)
	}
	tokens := make([]string, highest+1)
	for _, token := range slices.Sorted(maps.Keys(ids)) {
		id := ids[token]
		if tokens[id] != "" {
			return nil, nil, fmt.Errorf("the tokens %q and %q have the same id %d", tokens[id], token, id)
		}
		tokens[id] = token
	}
	return vocab, tokens, nil
}

func (s *modelSpec) unigram() (model, []string, error) {
	var list [][]any // of a token and its score
	if err := json.Unmarshal(s.Vocab, &list); err != nil {
		return nil, nil, fmt.Errorf("the vocabulary is not readable: %w", err)
	}
	tokens, scores := make([]string, len(list)), make([]float64, len(list))
	seen := make(map[string]int, len(list))
	for i, entry := range list {
		ok, scored := false, false
		if len(entry) == 2 {
			tokens[i], ok = entry[0].(string)
			scores[i], scored = entry[1].(float64)
		}
		if !ok || !scored {
			return nil, nil, fmt.Errorf("token %d of the vocabulary is not a token and its score", i)
		}
		if at, ok := seen[tokens[i]]; ok {
			return nil, nil, fmt.Errorf("the token %q occurs twice, as %d and %d", tokens[i], at, i)
		}
		seen[tokens[i]] = i
	}
	if s.UnknownID == nil || *s.UnknownID < 0 || int(*s.UnknownID) >= len(tokens) {
		return nil, nil, fmt.Errorf("the Unigram model has no unk_id within its %d tokens", len(tokens))
	}
	return newUnigram(tokens, scores, *s.UnknownID), tokens, nil
}

// merges are pairs, ["a","b"], or "a b" in older files.
func (s *modelSpec) merges() ([][2]string, error) {
	if s.Merges == nil {
		return nil, nil
	}
	var pairs [][]string
	if json.Unmarshal(s.Merges, &pairs) != nil {
		var lines []string
		if err := json.Unmarshal(s.Merges, &lines); err != nil {
			return nil, fmt.Errorf("the merges are not readable: %w", err)
		}
		pairs = make([][]string, len(lines))
		for i, line := range lines {
			pairs[i] = strings.SplitN(line, " ", 2)
		}
	}
	out := make([][2]string, len(pairs))
	for i, pair := range pairs {
		if len(pair) != 2 {
			return nil, fmt.Errorf("merge %d: %q is not two tokens", i+1, pair)
		}
		out[i] = [2]string(pair)
	}
	return out, nil
}
