package tokenizers

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// CharBPE are the files of a CharBPETokenizer of the tokenizers library: byte-pair encoding of characters, in words
// that white space and punctuation end. Its settings are in the program that uses it, not in the files.
type CharBPE struct {
	Vocab, Merges string // paths, in one folder
	Lower         bool   // texts are converted to lower case
	Unknown, Pad  string // special tokens
}

// OpenCharBPE reads the files. Errors are one line and name the file.
func OpenCharBPE(c CharBPE) (*Tokenizer, error) {
	o := opener{dir: filepath.Dir(c.Vocab)}
	text, err := o.read(filepath.Base(c.Vocab))
	if err != nil {
		return nil, fmt.Errorf("%s: not readable: %w", c.Vocab, err)
	}
	var ids map[string]int
	if err := json.Unmarshal(text, &ids); err != nil {
		return nil, unreadable(c.Vocab, err)
	}
	merges, _, err := o.merges(filepath.Base(c.Merges))
	if err != nil {
		return nil, err
	}
	off, end := false, wordEnd
	set := &settings{roles: map[string]string{}, specs: map[string]addedSpec{}}
	b := &bare{set: set, vocab: ids, file: file{PreTokenizer: &preSpec{Type: "BertPreTokenizer"},
		Normalizer: &normalSpec{Type: "BertNormalizer", Lower: &off},
		Decoder:    &decoderSpec{Type: "BPEDecoder", Suffix: wordEnd},
		Model:      modelSpec{Type: "BPE", Merges: merges, End: &end, Unknown: &c.Unknown}}}
	if c.Lower {
		b.Normalizer = &normalSpec{Type: "Sequence", Normalizers: []normalSpec{*b.Normalizer, {Type: "Lowercase"}}}
	}
	b.special("unk_token", c.Unknown)
	b.special("pad_token", c.Pad)
	t, err := o.finish(c.Vocab, b)
	if err != nil {
		return nil, err
	}
	t.set, t.files = *set, o.files
	t.name()
	return t, nil
}
