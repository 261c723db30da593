package bpe

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, dir string) *Tokenizer {
	t.Helper()
	tok, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func encode(t *testing.T, tok *Tokenizer, text string, limit int) Encoding {
	t.Helper()
	e, err := tok.Encode(text, limit)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestEqualReference compares ids with CLIPTokenizer's, whole and cut to 11 tokens, for texts of 20 scripts, hostile ones
// and random characters (internal/pyref/clip.py).
func TestEqualReference(t *testing.T) {
	for name, dir := range map[string]string{"vocab.json": "testdata", "tokenizer.json": oneFile(t)} {
		t.Run(name, func(t *testing.T) {
			tok := open(t, dir)
			f, err := os.Open(filepath.Join("testdata", "golden.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			lines, cut, unknown := 0, 0, 0
			for s := bufio.NewScanner(f); s.Scan(); lines++ {
				var want struct {
					Text     string
					IDs, Cut []int
				}
				if err := json.Unmarshal(s.Bytes(), &want); err != nil {
					t.Fatal(err)
				}
				got := encode(t, tok, want.Text, 0)
				if !slices.Equal(got.IDs, want.IDs) || got.Pieces != len(want.IDs)-2 {
					t.Errorf("%+q: %v (%d pieces), want %v", want.Text, got.IDs, got.Pieces, want.IDs)
				}
				short := encode(t, tok, want.Text, 11)
				if !slices.Equal(short.IDs, want.Cut) || short.Pieces != got.Pieces || short.Unknown != got.Unknown {
					t.Errorf("%+q cut: %v, want %v", want.Text, short.IDs, want.Cut)
				}
				if len(short.IDs)-2 < short.Pieces {
					cut++
				}
				unknown += got.Unknown
			}
			if lines < 300 || cut < 50 || unknown < 20 {
				t.Errorf("%d lines, %d cut, %d unknown pieces: too few to prove anything", lines, cut, unknown)
			}
		})
	}
}

// oneFile writes the same tokenizer as a tokenizer.json.
func oneFile(t *testing.T) string {
	t.Helper()
	vocab, err := os.ReadFile(filepath.Join("testdata", "vocab.json"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join("testdata", "merges.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var merges []any
	for i, line := range strings.Split(strings.TrimSpace(string(list)), "\n")[1:] {
		merges = append(merges, line)
		if i%2 == 0 {
			merges[i] = strings.Split(line, " ")
		}
	}
	text, err := json.Marshal(map[string]any{
		"added_tokens": []any{map[string]any{"content": Start}},
		"model":        map[string]any{"type": "BPE", "end_of_word_suffix": "</w>", "vocab": json.RawMessage(vocab), "merges": merges},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "tokenizer.json", string(text))
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEncode(t *testing.T) {
	tok := open(t, "testdata")
	if !slices.Equal(encode(t, tok, "a\xff\xfeb", 0).IDs, encode(t, tok, "a\ufffd\ufffdb", 0).IDs) {
		t.Error("invalid bytes are not U+FFFD")
	}
	if e := encode(t, tok, "a photo", 2); len(e.IDs) != 2 || e.IDs[1] != tok.EndID() || e.Pieces == 0 {
		t.Errorf("a limit of 2: %+v", e)
	}
	for _, limit := range []int{-1, 1} {
		_, err := tok.Encode("a", limit)
		checkLine(t, err, "no room for start and end")
	}
	if tok.Size() != tok.EndID()+1 || len(tok.Files()) != 2 {
		t.Errorf("size %d, files %v", tok.Size(), tok.Files())
	}
	start := time.Now()
	long := encode(t, tok, strings.Repeat("catdog", 1<<16), 77)
	if took := time.Since(start); len(long.IDs) != 77 || took > 20*time.Second {
		t.Errorf("a word of 400,000 letters took %v", took)
	}
}

func FuzzEncode(f *testing.F) {
	tok, err := Open("testdata")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("a <|endoftext|> \xff İ")
	f.Fuzz(func(t *testing.T, text string) {
		e := encode(t, tok, text, 0)
		if e.IDs[0] != tok.start || e.IDs[len(e.IDs)-1] != tok.end || e.Pieces != len(e.IDs)-2 || e.Unknown > e.Pieces {
			t.Errorf("%+q: %+v", text, e)
		}
	})
}

func checkLine(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want one line with %q", err, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	const vocab = `{"<|startoftext|>": 0, "<|endoftext|>": 1, "a": 2, "b": 3, "ab": 4}`
	for want, files := range map[string]map[string]string{
		"neither tokenizer.json nor vocab.json":                {},
		`added_tokens.json: the added token "<pad>"`:           {"vocab.json": vocab, "merges.txt": "", "added_tokens.json": `{"<pad>": 5, "<|endoftext|>": 1}`},
		"vocab.json: not readable":                             {"vocab.json": "["},
		"merges.txt: no such file":                             {"vocab.json": vocab},
		`merges.txt: line 2: "ab" is not two tokens`:           {"vocab.json": vocab, "merges.txt": "a b\nab"},
		`merges.txt: merge 2: "a" and "c"`:                     {"vocab.json": vocab, "merges.txt": "#version: 0.2\na b\na c\n"},
		"vocab.json: the token <|endoftext|> is missing":       {"vocab.json": `{"<|startoftext|>": 0}`, "merges.txt": ""},
		`token "x" has the impossible id -1`:                   {"vocab.json": `{"x": -1}`, "merges.txt": ""},
		"tokenizer.json: not readable":                         {"tokenizer.json": "{"},
		`a "WordPiece" model with end_of_word_suffix ""`:       {"tokenizer.json": `{"model": {"type": "WordPiece"}}`},
		`the added token "<mask>" is not supported`:            {"tokenizer.json": `{"added_tokens": [{"content": "<mask>"}], "model": {"end_of_word_suffix": "</w>"}}`},
		`tokenizer.json: merge 1: ["a"] is not two tokens`:     {"tokenizer.json": `{"model": {"end_of_word_suffix": "</w>", "vocab": ` + vocab + `, "merges": [["a"]]}}`},
		`tokenizer.json: the token <|startoftext|> is missing`: {"tokenizer.json": `{"model": {"end_of_word_suffix": "</w>", "vocab": {"<|endoftext|>": 0}}}`},
	} {
		dir := t.TempDir()
		for name, text := range files {
			write(t, dir, name, text)
		}
		tok, err := Open(dir)
		checkLine(t, err, want)
		if tok != nil {
			t.Errorf("%s: an error and a tokenizer", want)
		}
	}
}
