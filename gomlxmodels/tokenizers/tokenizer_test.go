package tokenizers

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"antipode/internal/must"
)

// TestOlderFiles rewrites tokenizer.json files as older versions of the library wrote them; the ids stay.
func TestOlderFiles(t *testing.T) {
	for name, change := range map[string]func(f map[string]any){
		"xlmr": func(f map[string]any) { // Metaspace by add_prefix_space
			f["pre_tokenizer"] = map[string]any{"type": "Sequence", "pretokenizers": []any{
				map[string]any{"type": "WhitespaceSplit"},
				map[string]any{"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": true}}}
			f["decoder"] = map[string]any{"type": "Metaspace", "replacement": "▁", "add_prefix_space": true}
			delete(f["model"].(map[string]any), "type")
		},
		"clip": func(f map[string]any) { // merges as "a b"
			m := f["model"].(map[string]any)
			for i, pair := range m["merges"].([]any) {
				p := pair.([]any)
				m["merges"].([]any)[i] = p[0].(string) + " " + p[1].(string)
			}
			delete(m, "type")
		},
		"bert": func(f map[string]any) {
			delete(f["model"].(map[string]any), "type")
			f["post_processor"] = map[string]any{"type": "BertProcessing", "cls": []any{"[CLS]", 2},
				"sep": []any{"[SEP]", 3}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, all := unpack(t, name)
			var f map[string]any
			must.Do(t, json.Unmarshal(all["tokenizer.json"], &f))
			change(f)
			text := must.Get(json.Marshal(f))(t)
			write(t, dir, "tokenizer.json", string(text))
			compare(t, mustOpen(t, dir), all)
		})
	}
}

func TestAccessors(t *testing.T) {
	for name, want := range map[string]struct {
		pad, unknown, start, end string
		limit                    int
		left                     bool
		files                    int
	}{
		"bert":        {"[PAD]", "[UNK]", "[CLS]", "[SEP]", 24, false, 2},
		"mpnet-vocab": {"<pad>", "[UNK]", "<s>", "</s>", 32, false, 2},
		"mpnet":       {"<pad>", "[UNK]", "<s>", "</s>", 32, true, 2},
		"xlmr":        {"<pad>", "<unk>", "<s>", "</s>", 40, false, 2},
		"unigram-old": {"<pad>", "<unk>", "<s>", "</s>", 0, false, 1},
		"opt":         {"<pad>", "</s>", "</s>", "</s>", 0, false, 3},
		"clip":        {"<|endoftext|>", "<|endoftext|>", "<|startoftext|>", "<|endoftext|>", 77, false, 2},
	} {
		dir, _ := unpack(t, name)
		tok := mustOpen(t, dir)
		for what, pair := range map[string][2]any{
			"pad":     {tok.PadID(), tok.ID(want.pad)},
			"unknown": {tok.UnknownID(), tok.ID(want.unknown)},
			"start":   {tok.StartID(), tok.ID(want.start)},
			"end":     {tok.EndID(), tok.ID(want.end)},
			"limit":   {tok.Limit(), want.limit},
			"left":    {tok.PadLeft(), want.left},
			"files":   {len(tok.Files()), want.files},
		} {
			if pair[0] != pair[1] || pair[0] == int32(-1) {
				t.Errorf("%s: %s is %v, want %v", name, what, pair[0], pair[1])
			}
		}
		if n := tok.Size(); n < 500 || int(tok.EndID()) >= n || tok.ID("no such token") != -1 {
			t.Errorf("%s: size %d", name, n)
		}
		if e := encode(t, tok, strings.Repeat("house ", 300), 0); want.limit > 0 &&
			(len(e.IDs) != want.limit || !e.Truncated) {
			t.Errorf("%s: %d ids of a long text, limit %d", name, len(e.IDs), want.limit)
		}
	}
}

func TestCounts(t *testing.T) {
	dir, _ := unpack(t, "bert")
	tok := mustOpen(t, dir)
	e := encode(t, tok, "a house [SEP]  \u2f00\u3042\u3044 東京  by", -1)
	if e.Words != 6 || e.Special != 1 || e.Unknown != 1 || e.Truncated {
		t.Errorf("%+v", e)
	}
	around := len(tok.before) + len(tok.after)
	if e := encode(t, tok, "a house", around); len(e.IDs) != around || e.Tokens == 0 || !e.Truncated {
		t.Errorf("a limit of the special tokens alone: %+v", e)
	}
	_, err := tok.Encode("a", around-1)
	checkLine(t, err, "below the number of special tokens (2)")
}

// TestInvalid compares what becomes of broken UTF-8 with what Python's decode(errors="replace") gives.
func TestInvalid(t *testing.T) {
	for text, want := range map[string]string{
		"a\xffb": "a\ufffdb", "\xe2\x82": "\ufffd", "\xe2\x82a": "\ufffda", "\xe2\x28\xa1": "\ufffd(\ufffd",
		"\xf0\x9f\x98": "\ufffd", "\xf0\x9f\x98\xf0\x9f\x98\x80": "\ufffd😀",
		"\xed\xa0\x80": "\ufffd\ufffd\ufffd", "\xc0\xaf": "\ufffd\ufffd", "\xf5\x80": "\ufffd\ufffd",
		"\xe0\x80\x80": "\ufffd\ufffd\ufffd", "\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd", "\xc3": "\ufffd",
		"\ufffd": "\ufffd",
	} {
		must.Equal(t, valid(text), want, text)
	}
}

// TestLong: the time a text takes grows with its length, not with its square.
func TestLong(t *testing.T) {
	for _, name := range names {
		dir, _ := unpack(t, name)
		tok := mustOpen(t, dir)
		for _, unit := range []string{"catdog", "क्ष", "東", "a\u0301", " ", "[", "\xff", "a b ", "👩\u200d", "\u0300",
			"<mask>"} {
			start := time.Now()
			e := encode(t, tok, strings.Repeat(unit, 100_000/len(unit)), 16)
			if took := time.Since(start); took > 10*time.Second || len(e.IDs) > 16 {
				t.Errorf("%s: 100,000 bytes of %q took %v", name, unit, took)
			}
		}
	}
}

func FuzzEncode(f *testing.F) {
	var all []*Tokenizer
	for _, name := range names {
		dir, _ := unpack(f, name)
		all = append(all, mustOpen(f, dir))
	}
	for _, text := range []string{"", "a <|endoftext|> \xff İ", "<mask> x\u200d", "\u0600\u0301\r\n", "न\u093f 東京 ﬁ"} {
		f.Add(text, 7)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		for i, tok := range all {
			e, err := tok.Encode(text, limit)
			if limit < 0 || limit > 2 {
				if err != nil {
					t.Fatal(err)
				}
			}
			if err != nil {
				continue
			}
			for _, id := range e.IDs {
				if id < 0 || int(id) >= tok.Size() {
					t.Errorf("%s: id %d", names[i], id)
				}
			}
			if limit > 0 && len(e.IDs) > limit || e.Unknown+e.Special > e.Tokens ||
				!utf8.ValidString(tok.Decode(e.IDs, true)) {
				t.Errorf("%s: %+q: %+v", names[i], text, e)
			}
		}
	})
}

// FuzzOpen changes a tokenizer.json: an error or a tokenizer, never a panic.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{
		`{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["", 0], ["a", -3], ["ab", -1]]}, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAA="}}`,
		`{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "added_tokens": [{"id": 5, "content": "a a", "lstrip": true, "rstrip": true, "normalized": true}], "pre_tokenizer": {"type": "ByteLevel"}}`,
		`{"model": {"type": "BPE", "vocab": {"a": 0, "o": 1, "ao": 2, "##o": 3}, "merges": ["a ##o"], "unk_token": "a", "fuse_unk": true, "continuing_subword_prefix": "##", "end_of_word_suffix": ""}, "decoder": {"type": "BPEDecoder", "suffix": "o"}}`,
		`{"model": {"unk_token": "a", "continuing_subword_prefix": "##", "max_input_chars_per_word": 2, "vocab": {"a": 0, "##h": 1}}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true}, {"type": "Punctuation"}]},
		"normalizer": {"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": true}, {"type": "Prepend", "prepend": "x"}, {"type": "StripAccents"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}]},
		"post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "a"}}, {"Sequence": {"id": "A"}}], "special_tokens": {"a": {"ids": [0]}}}, "decoder": {"type": "Sequence", "decoders": [{"type": "Metaspace", "replacement": "▁"}, {"type": "Fuse"}]}}`,
		`{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["u", 0], ["▁a", -1], ["▁", -2]]}, "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false}, "truncation": {"max_length": 3}}`,
	} {
		dir := f.TempDir()
		write(f, dir, "tokenizer.json", text)
		if _, err := Open(dir); err != nil {
			f.Error(err)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		write(t, dir, "tokenizer.json", string(text))
		tok, err := Open(dir)
		if err != nil {
			must.Err(t, err)
			return
		}
		e, err := tok.Encode("a house 東 \xff a a\u0301", 9)
		if err == nil {
			tok.Decode(e.IDs, false)
		}
	})
}

func checkLine(t *testing.T, err error, want string) {
	t.Helper()
	must.Fail(err)(t, want)
}

func TestOpenRefuses(t *testing.T) {
	const clip = `{"<|startoftext|>": 0, "<|endoftext|>": 1, "a": 2, "b": 3, "ab</w>": 4, "b</w>": 5}`
	one := func(rest string) map[string]string { return map[string]string{"tokenizer.json": "{" + rest + "}"} }
	const words = `"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1}}`
	for want, files := range map[string]map[string]string{
		"neither tokenizer.json nor vocab.txt nor vocab.json": {},
		`not read for the tokenizer_class ""`:                 {"sentencepiece.bpe.model": "x"},
		"merges.txt: missing next to vocab.json":              {"vocab.json": clip},
		`merges.txt: line 2: "ab" is not two tokens`:          {"vocab.json": clip, "merges.txt": "a b</w>\nab"},
		`merge 1: "a" and "c</w>", or both`: {"vocab.json": clip,
			"merges.txt": "#version: 0.2\na c</w>\n"},
		`not read for the tokenizer_class "BertJapaneseTokenizer"`: {"vocab.txt": "a",
			"tokenizer_config.json": `{"tokenizer_class": "BertJapaneseTokenizer"}`},
		`not read for the tokenizer_class "HerbertTokenizer"`: {"vocab.json": clip, "merges.txt": "",
			"tokenizer_config.json": `{"tokenizer_class": "HerbertTokenizerFast"}`},
		`not read for the tokenizer_class "luke"`: {"vocab.json": clip, "merges.txt": "",
			"config.json": `{"model_type": "luke"}`},
		"Metaspace with add_prefix_space false and prepend_scheme \"always\" is not": one(
			`"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": false}`),
		"vocab.json: not readable": {"vocab.json": "[", "merges.txt": ""},
		`the special token "<|endoftext|>" is not in`: {"vocab.json": `{"<|startoftext|>": 0}`,
			"merges.txt": ""},
		`added_tokens.json: the added token "<x>"`: {"vocab.json": clip, "merges.txt": "",
			"added_tokens.json": `{"<x>": 9}`},
		`vocab.txt: line 3: "a" is there already`:     {"vocab.txt": "[UNK]\na\na\n"},
		`vocab.txt: the special token "[SEP]" is not`: {"vocab.txt": "[UNK]\n"},
		"tokenizer_config.json: not readable": {"vocab.txt": "a",
			"tokenizer_config.json": `{"model_max_length": "x"}`},
		"special_tokens_map.json: not readable": {"vocab.txt": "a",
			"special_tokens_map.json": `{"a`},
		"tokenizer.json: not readable":         {"tokenizer.json": `{"model": {"type": "Word`},
		`a "WordLevel" model is not supported`: one(`"model": {"type": "WordLevel"}`),
		`the normalizer "Nmt" is not supported`: one(
			`"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}]}`),
		`the normalizer Replace with the pattern "[0-9]+" is`: one(
			`"normalizer": {"type": "Replace", "pattern": {"Regex": "[0-9]+"}}`),
		"broken precompiled_charsmap": one(
			`"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}`),
		`the pre_tokenizer "UnicodeScripts" is not supported`: one(`"pre_tokenizer": {"type": "UnicodeScripts"}`),
		`the pre_tokenizer Split by "x" (behavior Removed) is not`: one(
			`"pre_tokenizer": {"type": "Split", "pattern": {"String": "x"}, "behavior": "Removed"}`),
		`the post_processor "New" is not supported`: one(words + `, "post_processor": {"type": "New"}`),
		"token id 7 is beyond the 2 of the vocabulary": one(words +
			`, "post_processor": {"type": "BertProcessing", "cls": ["a", 7], "sep": ["a", 1]}`),
		"template has the text 0 times": one(words +
			`, "post_processor": {"type": "TemplateProcessing", "single": []}`),
		`the decoder "CTC" is not supported`: one(words + `, "decoder": {"type": "CTC"}`),
		`the tokens "a" and "b" have the same id 1`: one(
			`"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 1, "b": 1}}`),
		`the token "a" has the impossible id -1`: one(
			`"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": -1}}`),
		`the unknown token "[UNK]" is not in the vocabulary`: one(
			`"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"a": 1}}`),
		`the added token "b" has the id 1 of "a"`: one(words +
			`, "added_tokens": [{"id": 1, "content": "b"}]`),
		`the added token "a" has id 2, but 1 in the vocabulary`: one(words +
			`, "added_tokens": [{"id": 2, "content": "a"}]`),
		"no unk_id within its 1 tokens": one(
			`"model": {"type": "Unigram", "vocab": [["a", 0]]}`),
		`the token "a" occurs twice, as 0 and 1`: one(
			`"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0], ["a", 1]]}`),
		"a Unigram model with byte_fallback is " +
			"not supported": one(`"model": {"type": "Unigram", "byte_fallback": true}`),
		`merge 1: ["a"] is not two tokens`: one(
			`"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]}`),
		"a BPE model with dropout gives other ids each time": one(`"model": {"type": "BPE", "dropout": 0.1}`),
		`added_tokens_decoder: the id "x" is no number`: {"vocab.json": clip, "merges.txt": "",
			"tokenizer_config.json": `{"added_tokens_decoder": {"x": {"content": "y"}}}`},
		`the pre_tokenizer Metaspace with prepend_scheme "last" is`: one(
			`"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "last"}`),
	} {
		dir := t.TempDir()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			write(t, dir, name, files[name])
		}
		tok, err := Open(dir)
		checkLine(t, err, want)
		if tok != nil {
			t.Errorf("%s: an error and a tokenizer", want)
		}
		if err != nil && !strings.Contains(err.Error(), dir) {
			t.Errorf("%q names no file", err)
		}
	}
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "tokenizer.json"), 0o700))
	_, err := Open(dir)
	checkLine(t, err, "not readable")
}

// BenchmarkEncode gives ids a second over the 2,000 lines on one goroutine; tokens.py --speed is the reference.
func BenchmarkEncode(b *testing.B) {
	texts := lines(b)
	for _, name := range []string{"bert", "xlmr", "roberta", "clip"} {
		dir, _ := unpack(b, name)
		tok := mustOpen(b, dir)
		b.Run(name, func(b *testing.B) {
			ids := 0
			for b.Loop() {
				for _, text := range texts {
					ids += len(encode(b, tok, text, -1).IDs)
				}
			}
			b.ReportMetric(float64(ids)/b.Elapsed().Seconds(), "ids/s")
		})
	}
}
