package tokenizers

import (
	"archive/zip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"antipode/internal/must"
)

// entries reads the files of a golden (tools/pyref/tokens.py).
func entries(t testing.TB, path string) map[string][]byte {
	t.Helper()
	z := must.Get(zip.OpenReader(path))(t)
	defer z.Close()
	out := map[string][]byte{}
	for _, f := range z.File {
		r := must.Get(f.Open())(t)
		out[f.Name] = must.Get(io.ReadAll(r))(t)
		r.Close()
	}
	return out
}

// lines are the 2,000 texts.
func lines(t testing.TB) []string {
	t.Helper()
	var raw [][]byte
	must.Do(t, json.Unmarshal(entries(t, "testdata/texts.zip")["texts.json"], &raw))
	out := make([]string, len(raw))
	for i, b := range raw {
		out[i] = string(b)
	}
	return out
}

// unpack writes a golden's tokenizer into a folder.
func unpack(t testing.TB, name string) (dir string, all map[string][]byte) {
	t.Helper()
	all = entries(t, filepath.Join("testdata", name+".zip"))
	dir = t.TempDir()
	for name, text := range all {
		if name != "ids.txt" && name != "cut.txt" && name != "decoded.json" {
			write(t, dir, name, string(text))
		}
	}
	return dir, all
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func mustOpen(t testing.TB, dir string) *Tokenizer {
	t.Helper()
	return must.Get(Open(dir))(t)
}

func encode(t testing.TB, tok *Tokenizer, text string, limit int) Encoding {
	t.Helper()
	return must.Get(tok.Encode(text, limit))(t)
}

// rows reads ids, a text's in each line.
func rows(t testing.TB, text []byte) [][]int32 {
	t.Helper()
	var out [][]int32
	for row := range strings.Lines(string(text)) {
		ids := []int32{}
		for _, f := range strings.Fields(row) {
			ids = append(ids, int32(must.Get(strconv.ParseInt(f, 10, 32))(t)))
		}
		out = append(out, ids)
	}
	return out
}

// names are the goldens: every family, from each kind of file.
var names = []string{"bert", "bert-vocab", "mpnet", "mpnet-vocab", "xlmr", "unigram-old", "roberta", "roberta-old",
	"opt", "clip", "clip-old", "gemma", "siglip"}

func TestEqualReference(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir, all := unpack(t, name)
			compare(t, mustOpen(t, dir), all)
		})
	}
}

// compare encodes and decodes all lines and compares them with the reference's.
func compare(t *testing.T, tok *Tokenizer, all map[string][]byte) {
	t.Helper()
	const limit = 9 // CUT in tokens.py
	whole, short, texts := rows(t, all["ids.txt"]), rows(t, all["cut.txt"]), lines(t)
	if len(texts) != 2000 || len(whole) != len(texts) || len(short) != len(texts) {
		t.Fatalf("%d texts, %d and %d rows of ids", len(texts), len(whole), len(short))
	}
	wrong, cut, special := 0, 0, 0
	for i, text := range texts {
		e := encode(t, tok, text, -1)
		if !slices.Equal(e.IDs, whole[i]) {
			if wrong++; wrong <= 5 {
				t.Errorf("line %d %+q:\n got %v\nwant %v", i, text, e.IDs, whole[i])
			}
			continue
		}
		around := len(tok.before) + len(tok.after)
		if e.Truncated || e.Tokens != len(e.IDs)-around || e.Unknown+e.Special > e.Tokens {
			t.Errorf("line %d %+q: %+v", i, text, e)
		}
		c := encode(t, tok, text, limit)
		must.EqualSlices(t, c.IDs, short[i], "line", i, text, "cut")
		if c.Tokens != e.Tokens || c.Unknown != e.Unknown || c.Words != e.Words ||
			c.Truncated != (len(whole[i]) > limit) {
			t.Errorf("line %d %+q: cut %+v, whole %+v", i, text, c, e)
		}
		if c.Truncated {
			cut++
		}
		special += e.Special
	}
	if wrong > 0 || cut < 500 || special < 50 && tok.begin == nil {
		t.Errorf("%d of %d lines differ; %d were cut, %d special tokens in texts", wrong, len(texts), cut, special)
	}
	var decoded []struct {
		Line       int
		Keep, Skip string
	}
	must.Do(t, json.Unmarshal(all["decoded.json"], &decoded))
	for _, d := range decoded {
		for skip, want := range map[bool]string{false: d.Keep, true: d.Skip} {
			must.Equal(t, tok.Decode(whole[d.Line], skip), want, "line", d.Line, "decoded, skip", skip)
		}
	}
	if len(decoded) < 400 && tok.begin == nil {
		t.Errorf("%d decoded lines", len(decoded))
	}
}

// TestFolders compares what becomes of other keys and missing files with the reference (tools/pyref/tokens_folders.py).
func TestFolders(t *testing.T) {
	var golden struct {
		Texts   []string
		Folders []struct {
			Base  string
			Files map[string]map[string]any
			IDs   [][]int32
			Limit int
			Left  bool
			Pad   int32
		}
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/folders.json"))(t), &golden))
	for i, f := range golden.Folders {
		dir, _ := unpack(t, f.Base)
		for name, keys := range f.Files {
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			if must.Do(t, os.RemoveAll(path)); keys == nil {
				continue
			}
			file := map[string]any{}
			if err == nil {
				must.Do(t, json.Unmarshal(text, &file))
			}
			maps.Copy(file, keys)
			maps.DeleteFunc(file, func(_ string, v any) bool { return v == nil })
			write(t, dir, name, string(must.Get(json.Marshal(file))(t)))
		}
		tok := mustOpen(t, dir)
		got := [][]int32{encode(t, tok, golden.Texts[0], -1).IDs, encode(t, tok, golden.Texts[1], -1).IDs,
			encode(t, tok, golden.Texts[0], 6).IDs}
		for j, want := range f.IDs {
			must.EqualSlices(t, got[j], want, i, f.Base, f.Files, "text", j)
		}
		if tok.Limit() != f.Limit || tok.PadLeft() != f.Left || f.Pad >= 0 && tok.PadID() != f.Pad {
			t.Errorf("%d: %s with %v: limit %d, padding on the left %v by %d, want %d, %v, %d", i, f.Base, f.Files,
				tok.Limit(), tok.PadLeft(), tok.PadID(), f.Limit, f.Left, f.Pad)
		}
	}
}

// TestRealTokenizer does the same with the tokenizer of a real model: ANTIPODE_TOKENIZER names its folder, and in it
// golden.zip (tokens.py --folder).
func TestRealTokenizer(t *testing.T) {
	dir := os.Getenv("ANTIPODE_TOKENIZER")
	if dir == "" {
		t.Skip("ANTIPODE_TOKENIZER names no folder with a tokenizer and its golden.zip")
	}
	compare(t, mustOpen(t, dir), entries(t, filepath.Join(dir, "golden.zip")))
}
