package tokenizers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// role is the token of a role; where the files name none it is the one given, which then has the role.
func (s *settings) role(role, otherwise string) string {
	if s.roles[role] == "" {
		s.roles[role] = otherwise
	}
	return s.roles[role]
}

// addedNames is the part of tokenizer.json that the older files lack: their special tokens, with their ids.
type addedNames struct {
	f     *file
	vocab map[string]int
	err   error
}

// special adds a special token.
func (a *addedNames) special(name string, eatLeft bool) tokenID {
	id, ok := a.vocab[name]
	if !ok && a.err == nil {
		a.err = fmt.Errorf("the special token %q is not in the vocabulary; name the right one in tokenizer_config.json", name)
	}
	if !slices.ContainsFunc(a.f.Added, func(have addedSpec) bool { return have.Content == name }) {
		a.f.Added = append(a.f.Added, addedSpec{ID: id, Content: name, Left: eatLeft, Special: true})
	}
	return tokenID(id)
}

// lines reads a vocab.txt: one token a line, the BERT family's.
func (o *opener) lines(path string, text []byte, set *settings) (*Tokenizer, error) {
	ids := map[string]int{}
	rows := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, row := range rows {
		row = strings.TrimSuffix(row, "\r")
		if at, ok := ids[row]; ok {
			return nil, fmt.Errorf("%s: line %d: %q is there already, in line %d; get the file again", path, i+1, row, at+1)
		}
		ids[row] = i
	}
	f := &file{Normalizer: &normalSpec{Type: "BertNormalizer", Lower: &set.lower, Chinese: &set.chinese, Accents: set.accents},
		PreTokenizer: &preSpec{Type: "BertPreTokenizer"}, Decoder: &decoderSpec{Type: "WordPiece", Prefix: "##", CleanUp: true}}
	mpnet := strings.HasPrefix(set.class, "MPNet")
	pick := func(bert, mp string) string {
		if mpnet {
			return mp
		}
		return bert
	}
	unknown := set.role("unk_token", "[UNK]")
	a := addedNames{f: f, vocab: ids}
	a.special(set.role("pad_token", pick("[PAD]", "<pad>")), false)
	a.special(unknown, false)
	f.PostProcessor = &postSpec{Type: "BertProcessing",
		Start: a.special(set.role("cls_token", pick("[CLS]", "<s>")), false),
		End:   a.special(set.role("sep_token", pick("[SEP]", "</s>")), false)}
	a.special(set.role("mask_token", pick("[MASK]", "<mask>")), mpnet)
	f.Model = modelSpec{Type: "WordPiece", Unknown: &unknown}
	return o.finish(path, f, &a, set)
}

// pair reads a vocab.json and its merges.txt: CLIP's where tokens end in </w>, otherwise GPT-2's or RoBERTa's.
func (o *opener) pair(path string, text []byte, set *settings) (*Tokenizer, error) {
	var ids map[string]int
	if err := json.Unmarshal(text, &ids); err != nil {
		return nil, unreadable(path, err)
	}
	list := filepath.Join(o.dir, "merges.txt")
	text, err := o.read("merges.txt")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: missing beside vocab.json; get it too", list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: not readable: %w", list, err)
	}
	var merges []json.RawMessage
	suffix := ""
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || strings.HasPrefix(line, "#version") {
			continue
		}
		if _, _, ok := strings.Cut(line, " "); !ok {
			return nil, fmt.Errorf("%s: line %d: %q is not two tokens; get the file again", list, i+1, line)
		}
		if strings.HasSuffix(line, "</w>") {
			suffix = "</w>"
		}
		raw, err := json.Marshal(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", list, i+1, err)
		}
		merges = append(merges, raw)
	}
	f := &file{Model: modelSpec{Type: "BPE", Merges: merges}, Decoder: &decoderSpec{Type: "ByteLevel"}}
	a := addedNames{f: f, vocab: ids}
	bytes := preSpec{Type: "ByteLevel", AddPrefixSpace: set.prefixSpace}
	if strings.HasPrefix(set.class, "CLIP") || suffix != "" {
		suffix = "</w>"
		unknown, white, words := set.role("unk_token", "<|endoftext|>"), `\s+`, `<\|startoftext\|>|<\|endoftext\|>|`+clipWords
		f.Model.End, f.Model.Unknown = &suffix, &unknown
		f.Normalizer = &normalSpec{Type: "Sequence", Normalizers: []normalSpec{{Type: "NFC"}, {Type: "Replace", Pattern: pattern{Regex: &white}, Content: " "}, {Type: "Lowercase"}}}
		f.PreTokenizer = &preSpec{Type: "Sequence", PreTokenizers: []preSpec{{Type: "Split", Pattern: pattern{Regex: &words}, Behavior: "Removed", Invert: true}, {Type: "ByteLevel"}}}
		f.PostProcessor = &postSpec{Type: "RobertaProcessing",
			Start: a.special(set.role("bos_token", "<|startoftext|>"), false),
			End:   a.special(set.role("eos_token", "<|endoftext|>"), false)}
		a.special(set.role("pad_token", "<|endoftext|>"), false)
		return o.finish(path, f, &a, set)
	}
	f.PreTokenizer = &bytes
	if strings.HasPrefix(set.class, "Roberta") {
		a.special(set.role("bos_token", "<s>"), false)
		a.special(set.role("eos_token", "</s>"), false)
		a.special(set.role("unk_token", "<unk>"), false)
		f.PostProcessor = &postSpec{Type: "RobertaProcessing",
			Start: a.special(set.role("cls_token", "<s>"), false),
			End:   a.special(set.role("sep_token", "</s>"), false)}
		a.special(set.role("pad_token", "<pad>"), false)
		a.special(set.role("mask_token", "<mask>"), false)
		return o.finish(path, f, &a, set)
	}
	start := a.special(set.role("bos_token", "<|endoftext|>"), false)
	a.special(set.role("eos_token", "<|endoftext|>"), false)
	a.special(set.role("unk_token", "<|endoftext|>"), false)
	if pad := set.roles["pad_token"]; pad != "" {
		a.special(pad, false)
	}
	t, err := o.finish(path, f, &a, set)
	if err == nil && set.addBOS {
		t.before = []int32{int32(start)}
	}
	return t, err
}

// finish reads what was added to the vocabulary and builds the tokenizer.
func (o *opener) finish(path string, f *file, a *addedNames, set *settings) (*Tokenizer, error) {
	var added map[string]int
	if err := o.object("added_tokens.json", &added); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		if _, ok := a.vocab[name]; !ok {
			return nil, fmt.Errorf("%s: the added token %q is not supported without a tokenizer.json; save the tokenizer as one", filepath.Join(o.dir, "added_tokens.json"), name)
		}
	}
	for id, token := range set.added {
		n, err := strconv.Atoi(id)
		if err != nil {
			return nil, fmt.Errorf("%s: added_tokens_decoder: the id %q is no number", filepath.Join(o.dir, "tokenizer_config.json"), id)
		}
		token.ID = n
		f.Added = slices.DeleteFunc(f.Added, func(have addedSpec) bool { return have.Content == token.Content })
		f.Added = append(f.Added, token)
	}
	slices.SortFunc(f.Added, func(a, b addedSpec) int { return a.ID - b.ID })
	if a.err != nil {
		return nil, fmt.Errorf("%s: %w", path, a.err)
	}
	vocab, err := json.Marshal(a.vocab)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.Model.Vocab = vocab
	t, err := f.build(set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
