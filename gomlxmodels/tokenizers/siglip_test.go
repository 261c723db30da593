package tokenizers

import (
	"encoding/json"
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestSiglip2Lower: folders of SigLIP 2 name GemmaTokenizer, whose file does not make letters small; texts become small
// all the same, in no other model's folder.
func TestSiglip2Lower(t *testing.T) {
	dir, all := unpack(t, "gemma")
	modeltest.Edit(t, dir+"/tokenizer_config.json", map[string]any{"tokenizer_class": "GemmaTokenizer"})
	modeltest.Edit(t, dir+"/tokenizer.json", map[string]any{"normalizer": map[string]any{"type": "Replace",
		"pattern": map[string]any{"String": " "}, "content": "▁"}})
	as := func(kind string) *Tokenizer {
		write(t, dir, "config.json", `{"model_type": "`+kind+`"}`)
		return mustOpen(t, dir)
	}
	compare(t, as(siglip), all)
	if texts := lines(t); slices.Equal(encode(t, as("gemma"), texts[1], -1).IDs, rows(t, all["ids.txt"])[1]) {
		t.Error("a Gemma's texts become small")
	}
	write(t, dir, "config.json", "{")
	must.Fail(Open(dir))(t, "config.json: not readable")
	modeltest.Edit(t, dir+"/tokenizer.json", map[string]any{"model": map[string]any{"vocab": map[string]int{"<unk>": 0},
		"merges": []string{}}, "added_tokens": nil})
	must.Fail(Open(dir))(t, "byte_fallback needs the token <0x00>, which is not in the vocabulary")
}

// TestSiglipPieces: damaged models of SigLIP's tokenizer are refused, and a folder that names no class is known by its
// configuration.
func TestSiglipPieces(t *testing.T) {
	dir, all := unpack(t, "siglip")
	write(t, dir, "tokenizer_config.json", `{"model_max_length": 64}`)
	write(t, dir, "config.json", `{"model_type": "siglip"}`)
	compare(t, mustOpen(t, dir), all)
	write(t, dir, "tokenizer_config.json", `{"tokenizer_class": "SiglipTokenizer", "pad_token": "<none>"}`)
	must.Fail(Open(dir))(t, `the special token "<none>" is not in the vocabulary`)
	write(t, dir, "spiece.model", "a")
	must.Fail(Open(dir))(t, "not a SentencePiece model")
}

// TestReplaceClass: regular expressions of characters are those of the library, others are refused.
func TestReplaceClass(t *testing.T) {
	replaced := func(expression string) (string, error) {
		text := must.Get(json.Marshal(map[string]any{"type": "Replace", "content": "",
			"pattern": map[string]string{"Regex": expression}}))(t)
		var s normalSpec
		must.Do(t, json.Unmarshal(text, &s))
		n, err := s.build()
		if err != nil {
			return "", err
		}
		return n("a!b\"c#d&e-f]g[h\\i~jékΣ’"), nil
	}
	const punctuation = `[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` + "`" + `{|}~]`
	must.Equal(t, must.Get(replaced(punctuation))(t), "abcdefghijékΣ’")
	for _, other := range []string{`[a&&b]`, `[\s]`, `[a[b]]`, `[z-a]`, `[]`, `a`, `[^a]`, `[é]`} {
		must.Fail(replaced(other))(t)
	}
}
