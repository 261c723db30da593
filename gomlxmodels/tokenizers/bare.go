package tokenizers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// bare is a tokenizer.json in the making, from older files that have none.
type bare struct {
	file
	set   *settings
	vocab map[string]int
	err   error
}

// special gives a role its special token: the one that the files name, else the usual one.
func (b *bare) special(role, usual string) tokenID {
	token, ok := b.set.specs[role]
	if !ok {
		if b.set.roles[role] == "" {
			b.set.roles[role] = usual
		}
		token.Content = b.set.roles[role]
	}
	id, ok := b.vocab[token.Content]
	if !ok && b.err == nil {
		b.err = fmt.Errorf("the special token %q is not in the vocabulary; name the right one in tokenizer_config.json",
			token.Content)
	}
	token.ID, token.Special = id, true
	b.put(token)
	return tokenID(id)
}

// mask gives <mask> its role; it takes the space before it, unless the files say otherwise.
func (b *bare) mask() {
	b.special("mask_token", "<mask>")
	if _, object := b.set.specs["mask_token"]; !object {
		b.Added[len(b.Added)-1].Left = true
	}
}

// put adds a token in the place of one of its name.
func (f *file) put(token addedSpec) {
	f.Added = slices.DeleteFunc(f.Added, func(have addedSpec) bool { return have.Content == token.Content })
	f.Added = append(f.Added, token)
}

// lines reads a vocab.txt: one token a line, BERT's or MPNet's; of a folder that names no class BERT's.
func (o *opener) lines(path string, text []byte, set *settings) (*Tokenizer, error) {
	set.class = cmp.Or(set.class, bertClass)
	if err := o.readFor(path, set, bertClass, mpnetClass); err != nil {
		return nil, err
	}
	ids := map[string]int{}
	rows := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, row := range rows {
		row = strings.TrimSuffix(row, "\r")
		if at, ok := ids[row]; ok {
			return nil, fmt.Errorf("%s: line %d: %q is there already, in line %d; get the file again", path, i+1, row,
				at+1)
		}
		ids[row] = i
	}
	b := &bare{set: set, vocab: ids, file: file{Decoder: &decoderSpec{Type: "WordPiece", Prefix: "##", CleanUp: true}}}
	b.rules(set)
	pad, start, end := "[PAD]", "[CLS]", "[SEP]"
	mpnet := set.class == mpnetClass
	if mpnet {
		pad, start, end = "<pad>", "<s>", "</s>"
	}
	b.special("unk_token", "[UNK]")
	sep := b.special("sep_token", end)
	b.special("pad_token", pad)
	b.PostProcessor = &postSpec{Type: "BertProcessing", Start: b.special("cls_token", start), End: sep}
	if mpnet {
		b.mask()
	} else {
		b.special("mask_token", "[MASK]")
	}
	unknown := set.roles["unk_token"]
	b.Model = modelSpec{Type: "WordPiece", Unknown: &unknown}
	return o.finish(path, b)
}

// pair reads a vocab.json and its merges.txt: CLIP's, GPT-2's or RoBERTa's; of a folder that names no class CLIP's
// where tokens end in </w>, otherwise GPT-2's.
func (o *opener) pair(path string, text []byte, set *settings) (*Tokenizer, error) {
	var ids map[string]int
	if err := json.Unmarshal(text, &ids); err != nil {
		return nil, unreadable(path, err)
	}
	raw, suffix, err := o.merges("merges.txt")
	if err != nil {
		return nil, err
	}
	if set.class == "" {
		if set.class = gpt2Class; suffix != "" {
			set.class = clipClass
		}
	}
	if err := o.readFor(path, set, clipClass, gpt2Class, robertaClass); err != nil {
		return nil, err
	}
	b := &bare{set: set, vocab: ids, file: file{Model: modelSpec{Type: "BPE", Merges: raw},
		Decoder: &decoderSpec{Type: "ByteLevel"}}}
	b.rules(set)
	switch set.class {
	case clipClass:
		b.clip()
	case robertaClass:
		b.special("bos_token", "<s>")
		b.special("eos_token", "</s>")
		b.special("unk_token", "<unk>")
		end := b.special("sep_token", "</s>")
		b.special("pad_token", "<pad>")
		b.PostProcessor = &postSpec{Type: "RobertaProcessing", Start: b.special("cls_token", "<s>"), End: end}
		b.special("mask_token", "<mask>")
	default:
		const end = "<|endoftext|>"
		start := b.special("bos_token", end)
		last := b.special("eos_token", end)
		b.special("unk_token", end)
		for _, role := range roles[3:] { // where the files name one
			if token := set.roles[role]; token != "" {
				b.special(role, token)
			}
		}
		p := &postSpec{Type: "TemplateProcessing", Single: []postItem{{Sequence: &postName{"A"}}},
			Special: map[string]postToken{"bos": {[]int32{int32(start)}}, "eos": {[]int32{int32(last)}}}}
		if set.addBOS {
			p.Single = slices.Insert(p.Single, 0, postItem{SpecialToken: &postName{"bos"}})
		}
		if set.addEOS {
			p.Single = append(p.Single, postItem{SpecialToken: &postName{"eos"}})
		}
		b.PostProcessor = p
	}
	return o.finish(path, b)
}

// merges reads the merges next to a vocabulary as tokenizer.json has them. suffix is that of tokens that end a word, ""
// if there is none.
func (o *opener) merges(name string) (raw []byte, suffix string, err error) {
	list := filepath.Join(o.dir, name)
	text, err := o.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("%s: missing next to vocab.json; get it too", list)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: not readable: %w", list, err)
	}
	var merges []string
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || strings.HasPrefix(line, "#version") {
			continue
		}
		if _, _, ok := strings.Cut(line, " "); !ok {
			return nil, "", fmt.Errorf("%s: line %d: %q is not two tokens; get the file again", list, i+1, line)
		}
		if strings.HasSuffix(line, wordEnd) {
			suffix = wordEnd
		}
		merges = append(merges, line)
	}
	if raw, err = json.Marshal(merges); err != nil {
		return nil, "", fmt.Errorf("%s: %w", list, err)
	}
	return raw, suffix, nil
}

// wordEnd is the suffix of tokens that end a word.
const wordEnd = "</w>"

// clip completes CLIP's tokenizer.
func (b *bare) clip() {
	const end = "<|endoftext|>"
	suffix, white, words := "</w>", `\s+`, `<\|startoftext\|>|<\|endoftext\|>|`+clipWords
	b.Normalizer = &normalSpec{Type: "Sequence",
		Normalizers: []normalSpec{{Type: "NFC"}, {Type: "Replace", Pattern: pattern{Regex: &white}, Content: " "},
			{Type: "Lowercase"}}}
	b.PreTokenizer = &preSpec{Type: "Sequence",
		PreTokenizers: []preSpec{{Type: "Split", Pattern: pattern{Regex: &words}, Behavior: "Removed", Invert: true},
			{Type: "ByteLevel"}}}
	b.PostProcessor = &postSpec{Type: "RobertaProcessing", Start: b.special("bos_token", "<|startoftext|>"),
		End: b.special("eos_token", end)}
	b.special("unk_token", end)
	b.special("pad_token", end)
	unknown := b.set.roles["unk_token"]
	b.Model.End, b.Model.Unknown = &suffix, &unknown
}

// finish reads what was added to the vocabulary and builds the tokenizer.
func (o *opener) finish(path string, b *bare) (*Tokenizer, error) {
	var added map[string]int
	if err := o.object("added_tokens.json", &added); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		if _, ok := b.vocab[name]; !ok {
			return nil, fmt.Errorf("%s: the added token %q is not supported without a tokenizer.json; save the "+
				"tokenizer as one", filepath.Join(o.dir, "added_tokens.json"), name)
		}
	}
	if err := b.putAdded(b.set); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(o.dir, "tokenizer_config.json"), err)
	}
	if b.err != nil {
		return nil, fmt.Errorf("%s: %w", path, b.err)
	}
	if b.Model.Vocab == nil {
		vocab, err := json.Marshal(b.vocab)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		b.Model.Vocab = vocab
	}
	t, err := b.build(b.set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
