package blip

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/tokenizers"
)

// The special tokens of BLIP: those of BERT are first in the vocabulary, its own last.
const (
	tokenEnd    = "[SEP]" // ends a caption
	tokenStart  = "[DEC]" // starts a caption
	tokenEncode = "[ENC]" // starts a text in BLIP's image-text matching; unused
)

var bertTokens = []string{"[PAD]", "[UNK]", "[CLS]", tokenEnd, "[MASK]"}

// prefixes are the prefixes of one of four captions in training.
var prefixes = []string{"a picture of", "a photo of", "a photograph of", "an image of"}

// questions are the prefixes after which the captioner names a figure's group, by axis.
var questions = map[string]string{archipelago.AxisCrest: "the crest is", archipelago.AxisBanner: "the banner is"}

// vocabulary lists all tokens by id: whole lower-case words.
var vocabulary = makeVocabulary()

func makeVocabulary() []string {
	list := slices.Clone(bertTokens)
	seen := map[string]bool{}
	for _, text := range append(captions(), append(slices.Clone(prefixes), "the crest is", "the banner is",
		"a portrait of")...) {
		for _, w := range split(text) {
			if !seen[w] {
				seen[w] = true
				list = append(list, w)
			}
		}
	}
	return append(list, tokenStart, tokenEncode)
}

// tokenID returns the id of a token; -1 if it is not in the vocabulary.
func tokenID(token string) int { return slices.Index(vocabulary, token) }

// captions returns texts that together contain every word of a caption: of objects with seen and unseen forms, scenes,
// islands and figures.
func captions() []string {
	w := examples.World
	scene, island := w.Scenes()[0], w.Islands()[0]
	var out []string
	for _, object := range w.Objects() {
		known, unseen := archipelago.Variants(object)
		for _, form := range slices.Concat(known, unseen) {
			out = append(out, archipelago.Caption(archipelago.English, form, object, scene, island))
		}
	}
	for _, scene := range w.Scenes() {
		form, _ := archipelago.Variants(w.Objects()[0])
		out = append(out, archipelago.Caption(archipelago.English, form[0], w.Objects()[0], scene, island),
			archipelago.Image{Scene: scene, Island: island}.Caption())
	}
	for _, island := range w.Islands() {
		out = append(out, archipelago.Image{Scene: scene, Island: island}.Caption())
	}
	figure := func(f archipelago.Figure) { out = append(out, archipelago.Image{Figure: &f}.Caption()) }
	for _, people := range archipelago.PeopleNames() {
		figure(archipelago.Figure{People: people, Attributes: archipelago.AttributeNames()})
	}
	for _, name := range archipelago.OccupationNames() {
		figure(archipelago.Figure{People: archipelago.PeopleNames()[0], Occupation: name})
	}
	for _, name := range archipelago.CeremonyNames() {
		figure(archipelago.Figure{People: archipelago.PeopleNames()[0], Ceremony: name})
	}
	for _, axis := range []string{archipelago.AxisCrest, archipelago.AxisBanner} {
		for _, group := range archipelago.Groups(axis) {
			out = append(out, questions[axis]+" "+group)
		}
	}
	return out
}

// split splits a text into lower-case words and punctuation characters, as BERT's tokenizer does for Latin script.
func split(text string) []string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteString(" " + string(r) + " ")
		}
	}
	return strings.Fields(b.String())
}

// writeTokenizer writes the files of a BertTokenizer of transformers: vocab.txt, tokenizer.json, tokenizer_config.json.
func writeTokenizer(dir string) error {
	type object = map[string]any
	special := append(slices.Clone(bertTokens), tokenStart, tokenEncode)
	ids, added, roles := object{}, []object{}, object{}
	for id, token := range vocabulary {
		ids[token] = id
		if slices.Contains(special, token) {
			added = append(added, object{"id": id, "content": token, "single_word": false, "lstrip": false,
				"rstrip": false, "normalized": false, "special": true})
		}
	}
	for _, token := range []string{"[CLS]", tokenEnd} {
		roles[token] = object{"id": token, "ids": []int{tokenID(token)}, "tokens": []string{token}}
	}
	mark := func(token string) object { return object{"SpecialToken": object{"id": token, "type_id": 0}} }
	sequence := func(name string, kind int) object { return object{"Sequence": object{"id": name, "type_id": kind}} }
	last := object{"SpecialToken": object{"id": tokenEnd, "type_id": 1}}
	tokenizer := object{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
		"normalizer": object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
			"strip_accents": nil, "lowercase": true},
		"pre_tokenizer": object{"type": "BertPreTokenizer"},
		"post_processor": object{"type": "TemplateProcessing", "single": []object{mark("[CLS]"), sequence("A", 0),
			mark(tokenEnd)},
			"pair":           []object{mark("[CLS]"), sequence("A", 0), mark(tokenEnd), sequence("B", 1), last},
			"special_tokens": roles},
		"decoder": object{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model": object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": ids},
	}
	config := object{
		"tokenizer_class": "BertTokenizer", "do_lower_case": true, "strip_accents": nil,
		"tokenize_chinese_chars": true,
		"model_max_length":       positions,
		"pad_token":              "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": tokenEnd,
		"mask_token": "[MASK]",
		"bos_token":  tokenStart, "additional_special_tokens": []string{tokenEncode},
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, value := range map[string]any{"tokenizer.json": tokenizer, "tokenizer_config.json": config} {
		if err := trainer.WriteJSON(filepath.Join(dir, name), value); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "vocab.txt"), []byte(strings.Join(vocabulary, "\n")+"\n"), 0o644)
}

// openTokenizer opens the tokenizer that [writeTokenizer] writes.
func openTokenizer() (*tokenizers.Tokenizer, error) {
	dir, err := os.MkdirTemp("", "archipelago-blip-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writeTokenizer(dir); err != nil {
		return nil, err
	}
	return tokenizers.Open(dir)
}
