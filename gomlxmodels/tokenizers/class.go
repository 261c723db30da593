package tokenizers

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Version is that of how files are read: the same files may give other ids under another one. Digests of stored results
// cover it.
const Version = 2

// The classes of transformers whose rules are known.
const (
	bertClass    = "BertTokenizer"
	mpnetClass   = "MPNetTokenizer"
	robertaClass = "RobertaTokenizer"
	gpt2Class    = "GPT2Tokenizer"
	clipClass    = "CLIPTokenizer"
	xlmrClass    = "XLMRobertaTokenizer"
	siglipClass  = "SiglipTokenizer"
)

// classes are classes of the same rules, and the model_types of config.json that mean them where a folder names none.
var classes = map[string][]string{
	bertClass: {"DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer", "bert", "distilbert", "electra",
		"blip", "grounding-dino"},
	mpnetClass:   {"mpnet"},
	robertaClass: {"BartTokenizer", "LongformerTokenizer", "roberta", "roberta-prelayernorm", "bart", "longformer"},
	gpt2Class:    {"gpt2", "opt", "blip-2"},
	clipClass:    {"clip", "clip_text_model", "clipseg", "owlv2"},
	xlmrClass:    {"xlm-roberta", "altclip"},
	siglipClass:  {siglip},
}

// class sets the class of the tokenizer: that of tokenizer_config.json, else of config.json, else of its model_type.
func (o *opener) class(set *settings) error {
	name := strings.TrimSuffix(set.class, "Fast")
	if name == "" {
		class, kind, err := o.config()
		if err != nil {
			return err
		}
		name = cmp.Or(strings.TrimSuffix(class, "Fast"), kind)
	}
	set.class = name
	for class, same := range classes {
		if slices.Contains(same, name) {
			set.class = class
		}
	}
	return nil
}

// config returns the tokenizer_class and the model_type of config.json; "" = not stated.
func (o *opener) config() (class, kind string, err error) {
	var config struct {
		Class string `json:"tokenizer_class"`
		Type  string `json:"model_type"`
	}
	err = o.object("config.json", &config)
	return config.Class, config.Type, err
}

// readFor refuses a file whose tokens are not those of the class that the folder names.
func (o *opener) readFor(path string, set *settings, known ...string) error {
	if slices.Contains(known, set.class) {
		return nil
	}
	return fmt.Errorf("%s: not read for the tokenizer_class %q of %s, or the model_type of config.json (only for %s); "+
		"AutoTokenizer.from_pretrained(…).save_pretrained(…) in transformers writes a tokenizer.json", path, set.class,
		filepath.Join(o.dir, "tokenizer_config.json"), strings.Trim(strings.Join(known, ", "), ", "))
}

// rules sets the normalizer and the pre-tokenizer as the class makes them of tokenizer_config.json.
func (f *file) rules(set *settings) {
	switch set.class {
	case bertClass, mpnetClass:
		f.Normalizer = &normalSpec{Type: "BertNormalizer", Lower: &set.lower, Chinese: &set.chinese,
			Accents: set.accents}
		f.PreTokenizer = &preSpec{Type: "BertPreTokenizer"}
	case robertaClass, gpt2Class:
		f.Normalizer, f.PreTokenizer = nil, &preSpec{Type: "ByteLevel", AddPrefixSpace: &set.prefixSpace}
	}
}

// settle lets tokenizer_config.json decide what transformers does not read from tokenizer.json for the class, and
// completes it from there.
func (f *file) settle(set *settings) error {
	if f.Truncation != nil {
		set.cutSide = cmp.Or(set.cutSide, strings.ToLower(f.Truncation.Direction))
	}
	if f.Padding != nil {
		set.padSide = cmp.Or(set.padSide, strings.ToLower(f.Padding.Direction))
		set.roles["pad_token"] = cmp.Or(set.roles["pad_token"], f.Padding.Token)
	}
	if _, known := classes[set.class]; !known {
		return nil
	}
	words := set.class == bertClass || set.class == mpnetClass
	if kind := f.Model.kind(); words && kind == "WordPiece" || !words && kind == "BPE" {
		f.rules(set)
	}
	if len(set.added) == 0 {
		return nil
	}
	named := slices.Collect(maps.Values(set.roles))
	for _, names := range usual {
		named = append(named, names...)
	}
	f.Added = slices.DeleteFunc(f.Added, func(token addedSpec) bool { return !slices.Contains(named, token.Content) })
	return f.putAdded(set)
}

// putAdded puts the tokens of added_tokens_decoder.
func (f *file) putAdded(set *settings) error {
	for id, token := range set.added {
		var err error
		if token.ID, err = strconv.Atoi(id); err != nil {
			return fmt.Errorf("added_tokens_decoder: the id %q is no number", id)
		}
		f.put(token)
	}
	slices.SortFunc(f.Added, func(a, b addedSpec) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}
