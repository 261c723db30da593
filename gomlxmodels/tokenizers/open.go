package tokenizers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// settings are what tokenizer_config.json and special_tokens_map.json say.
type settings struct {
	class   string
	limit   int
	padSide string // "left", "right"; "" = not stated
	cutSide string
	cleanUp bool
	roles   map[string]string // token by role: pad_token, unk_token …

	lower       bool // vocab.txt
	chinese     bool
	accents     *bool
	prefixSpace bool // vocab.json and merges.txt, as the next two
	addBOS      bool
	addEOS      bool
	added       map[string]addedSpec
	specs       map[string]addedSpec // of roles whose token is an object
}

// Open reads the tokenizer of a model folder: tokenizer.json, else vocab.txt (BERT, MPNet), else vocab.json and
// merges.txt (CLIP, GPT-2, RoBERTa, OPT), else a SentencePiece model (sentencepiece.bpe.model, spiece.model or
// tokenizer.model) of an XLMRobertaTokenizer or SiglipTokenizer, with tokenizer_config.json and special_tokens_map.json
// next to it where they are there. The class is that of tokenizer_config.json, else config.json's; of a tokenizer.json
// it decides as in transformers 5, which takes most rules of a known class from tokenizer_config.json. Errors are one
// line that names the file.
func Open(dir string) (*Tokenizer, error) {
	o := opener{dir: dir}
	set, err := o.settings()
	if err != nil {
		return nil, err
	}
	for _, kind := range []struct {
		name string
		read func(path string, text []byte, set *settings) (*Tokenizer, error)
	}{{"tokenizer.json", o.one}, {"vocab.txt", o.lines}, {"vocab.json", o.pair},
		{"sentencepiece.bpe.model", o.pieces}, {"spiece.model", o.pieces}, {"tokenizer.model", o.pieces}} {
		text, err := o.read(kind.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		path := filepath.Join(dir, kind.name)
		if err != nil {
			return nil, fmt.Errorf("%s: not readable: %w", path, err)
		}
		t, err := kind.read(path, text, set)
		if err == nil {
			err = o.siglipLower(t)
		}
		if err != nil {
			return nil, err
		}
		t.set, t.files = *set, o.files
		t.name()
		return t, nil
	}
	return nil, fmt.Errorf("%s: no tokenizer: neither tokenizer.json nor vocab.txt nor vocab.json with merges.txt nor "+
		"sentencepiece.bpe.model; put the model's tokenizer files there", dir)
}

// maxFile bounds the size of a file of a tokenizer. The largest known ones are a tenth of it.
const maxFile = 256 << 20

// opener reads the files of a folder and remembers which.
type opener struct {
	dir   string
	files []string
}

func (o *opener) read(name string) ([]byte, error) {
	path := filepath.Join(o.dir, name)
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if stat.Size() > maxFile {
		return nil, fmt.Errorf("%d bytes are more than a tokenizer's file has (%d)", stat.Size(), maxFile)
	}
	text, err := os.ReadFile(path)
	if err == nil && !slices.Contains(o.files, path) {
		o.files = append(o.files, path)
	}
	return text, err
}

// object reads a JSON file, if it is there.
func (o *opener) object(name string, into any) error {
	text, err := o.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return unreadable(filepath.Join(o.dir, name), err)
	}
	return nil
}

func unreadable(path string, err error) error {
	return fmt.Errorf("%s: not readable: %w; get the file again", path, err)
}

// token reads a role's token: its text, or an object that holds it and how it is looked for.
func (s *settings) token(role string, text []byte) {
	var name string
	var object addedSpec
	if json.Unmarshal(text, &name) == nil && name != "" {
		s.roles[role] = name
		delete(s.specs, role)
	} else if json.Unmarshal(text, &object) == nil && object.Content != "" {
		s.roles[role], s.specs[role] = object.Content, object
	}
}

// roles are the names under which a model knows its special tokens.
var roles = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

func (o *opener) settings() (*settings, error) {
	config := struct {
		Class         string   `json:"tokenizer_class"`
		Limit         *float64 `json:"model_max_length"`
		OlderLimit    *float64 `json:"max_len"`
		PaddingSide   string   `json:"padding_side"`
		TruncateSide  string   `json:"truncation_side"`
		CleanUp       bool     `json:"clean_up_tokenization_spaces"`
		Lower         bool     `json:"do_lower_case"`
		Chinese       bool     `json:"tokenize_chinese_chars"`
		Accents       *bool    `json:"strip_accents"`
		PrefixSpace   bool     `json:"add_prefix_space"`
		AddBeginToken bool     `json:"add_bos_token"`
		AddEndToken   bool     `json:"add_eos_token"`

		Added map[string]addedSpec `json:"added_tokens_decoder"`
	}{Lower: true, Chinese: true}
	set := &settings{roles: map[string]string{}, specs: map[string]addedSpec{}}
	for _, name := range []string{"special_tokens_map.json", "tokenizer_config.json"} {
		var all map[string]json.RawMessage
		if err := o.object(name, &all); err != nil {
			return nil, err
		}
		for _, role := range roles {
			set.token(role, all[role])
		}
		if name == "tokenizer_config.json" && all != nil {
			o.files = o.files[:len(o.files)-1] // read again, with types
			if err := o.object(name, &config); err != nil {
				return nil, err
			}
		}
	}
	set.class, set.cleanUp, set.lower, set.chinese, set.accents = config.Class, config.CleanUp, config.Lower,
		config.Chinese, config.Accents
	set.prefixSpace, set.added = config.PrefixSpace, config.Added
	set.addBOS, set.addEOS = config.AddBeginToken, config.AddEndToken
	set.padSide, set.cutSide = config.PaddingSide, config.TruncateSide
	limit := cmp.Or(config.Limit, config.OlderLimit)
	if limit != nil && *limit >= 1 && *limit <= 1<<30 { // larger: transformers' way to say none
		set.limit = int(*limit)
	}
	return set, o.class(set)
}

// usual are the special tokens of models whose files do not name them, the first that the vocabulary has.
var usual = map[string][]string{
	"pad_token": {"[PAD]", "<pad>"},
	"unk_token": {"[UNK]", "<unk>"},
	"bos_token": {"<s>", "<|startoftext|>"},
	"eos_token": {"</s>", "<|endoftext|>"},
	"cls_token": {"[CLS]"},
	"sep_token": {"[SEP]"},

	"mask_token": {"[MASK]", "<mask>"},
}

// name gives the roles that the files leave open to the usual tokens.
func (t *Tokenizer) name() {
	for role, names := range usual {
		for _, name := range names {
			if t.set.roles[role] == "" && t.ID(name) >= 0 {
				t.set.roles[role] = name
			}
		}
	}
	if m, ok := t.model.(*bytePair); ok && m.end != "" { // CLIP fills up and marks the unknown with the end
		for _, role := range []string{"pad_token", "unk_token"} {
			if t.set.roles[role] == "" {
				t.set.roles[role] = t.set.roles["eos_token"]
			}
		}
	}
}
