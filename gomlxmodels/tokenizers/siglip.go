package tokenizers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// siglip is the model_type of SigLIP and SigLIP 2.
const siglip = "siglip"

// siglipLower makes the texts of a SigLIP 2 small, as they were in its training: its tokenizer is Gemma's, and of
// transformers' classes for it Siglip2Tokenizer does so, GemmaTokenizer, which the published folders name, does not.
func (o *opener) siglipLower(t *Tokenizer) error {
	m, is := t.model.(*bytePair)
	if !is || m.fallback == nil {
		return nil
	}
	_, kind, err := o.config()
	if err == nil && kind == siglip {
		t.Lower()
	}
	return err
}

// siglip makes the tokenizer of a SigLIP: SentencePiece's own normalization and Unigram of a text in small letters
// without ASCII's punctuation, with </s> behind it.
func (o *opener) siglip(path string, b *bare, m *sentencePiece) (*Tokenizer, error) {
	fail := func(err error) (*Tokenizer, error) {
		return nil, fmt.Errorf("%s: %w; save the tokenizer as a tokenizer.json", path, err)
	}
	if err := m.check(); err != nil {
		return fail(err)
	}
	unknown := int32(slices.IndexFunc(m.pieces, func(p piece) bool { return p.kind == pieceUnknown }))
	var list [][2]any
	b.vocab = make(map[string]int, len(m.pieces))
	for id, p := range m.pieces {
		list = append(list, [2]any{p.text, float64(p.score)})
		b.vocab[p.text] = id
	}
	vocab, err := json.Marshal(list)
	if err != nil {
		return fail(err)
	}
	b.Model = modelSpec{Type: "Unigram", Vocab: vocab, UnknownID: &unknown}
	b.Decoder = &decoderSpec{Type: "Metaspace", Replacement: "▁", Scheme: "always"}
	for _, role := range [][2]string{{"unk_token", "<unk>"}, {"pad_token", "</s>"}, {"eos_token", "</s>"}} {
		end := b.special(role[0], role[1])
		b.PostProcessor = &postSpec{Type: "TemplateProcessing", Single: []postItem{{Sequence: &postName{"A"}},
			{SpecialToken: &postName{"end"}}}, Special: map[string]postToken{"end": {[]int32{int32(end)}}}}
		if _, object := b.set.specs[role[0]]; !object {
			last := &b.Added[len(b.Added)-1]
			last.Left, last.Right = true, true
		}
	}
	t, err := o.finish(path, b)
	if err != nil {
		return nil, err
	}
	var chars *charsMap
	if len(m.charsmap) > 0 {
		if chars, err = newCharsMap(m.charsmap); err != nil {
			return fail(err)
		}
	}
	t.begin = func(text string) string {
		text = strings.ReplaceAll(text, "▁", " ")
		start := strings.TrimLeftFunc(text, unicode.IsSpace)
		if slices.ContainsFunc(t.raw, func(a addedToken) bool { return strings.HasPrefix(start, a.content) }) {
			return text
		}
		return "▁" + text
	}
	t.normalize = func(text string) string {
		text = chars.sentencePiece(siglipCanonical(text))
		return strings.TrimRight(strings.ReplaceAll(text, " ", "▁"), "▁")
	}
	return t, nil
}

// siglipCanonical is SigLIP's form of a text: small letters, no punctuation of ASCII, single spaces.
func siglipCanonical(text string) string {
	text = without(PythonLower(text), func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r))
	})
	return strings.TrimFunc(spaces(text, " "), unicode.IsSpace)
}

// PythonLower is a text in small letters as Python's str.lower makes them.
func PythonLower(text string) string { return lowercase(finalSigma(text)) }

// finalSigma makes Σ at the end of a word ς, as Python's str.lower does.
func finalSigma(text string) string {
	const sigma = "Σ"
	if !strings.Contains(text, sigma) {
		return text
	}
	skip := func(r rune) bool {
		return unicode.In(r, unicode.M, unicode.Cf) || strings.ContainsRune("'.:^`·’", r)
	}
	cased := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }
	var b strings.Builder
	for i, r := range text {
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text[:i], skip))
		after, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text[i+utf8.RuneLen(r):], skip))
		if r == 'Σ' && cased(before) && !cased(after) {
			r = 'ς'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sentencePiece normalizes as SentencePiece itself does: it replaces the longest sequences of its character map over
// the whole text, where the library of transformers goes by grapheme clusters and takes the shortest. Of a run of
// spaces one remains, at the end none.
func (m *charsMap) sentencePiece(text string) string {
	var b strings.Builder
	for text != "" {
		_, size := utf8.DecodeRuneInString(text)
		to := text[:size]
		if m != nil {
			for n, s := range m.matches(text) {
				size, to = n, s
			}
		}
		b.WriteString(to)
		text = text[size:]
	}
	words := strings.FieldsFunc(b.String(), func(r rune) bool { return r == ' ' })
	if len(words) > 0 && b.String()[0] == ' ' {
		words = slices.Insert(words, 0, "")
	}
	return strings.Join(words, " ")
}
