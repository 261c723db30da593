package tokens

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/tokenizers"
	"antipode/internal/must"
)

func mustOpen(t *testing.T) *tokenizers.Tokenizer {
	t.Helper()
	return must.Get(Open())(t)
}

func encodeText(t *testing.T, tok *tokenizers.Tokenizer, text string) tokenizers.Encoding {
	t.Helper()
	return must.Get(tok.Encode(text, -1))(t)
}

// odd are texts outside of the world.
var odd = []string{"", " ", "A  Round LANTERN\non the shore,Velmora", "Zürich isn't far: 42 km!", "मानचित्र",
	"خريطة العالم", "世界地图", "🙂", "e\u0301 é", "<|startoftext|>drum<|endoftext|>drum",
	"lantern's they're", "İstanbul ẞ ǅ"}

// texts returns the texts whose ids are stored: the odd ones, words of the lexicon with adjacent characters, and all
// texts of the world.
func texts() []string {
	out := slices.Clone(odd)
	for i, w := range archipelago.Lexicon() {
		out = append(out, strings.ToUpper(w.Word)+"x", "1"+w.Word+w.Word[:i%len(w.Word)])
	}
	for i, s := range out {
		out[i] = strings.ToValidUTF8(s, "")
	}
	return append(out, Texts()...)
}

// golden contains the ids of texts from testdata/reference.py; checks_test.go writes it.
const golden = "testdata/ids.json.gz"

// TestEqualReference compares the ids of all texts with those of transformers.
func TestEqualReference(t *testing.T) {
	f := must.Get(os.Open(golden))(t)
	defer f.Close()
	z := must.Get(gzip.NewReader(f))(t)
	var want [][]int32
	must.Do(t, json.NewDecoder(z).Decode(&want))
	compare(t, want)
}

func compare(t *testing.T, want [][]int32) {
	t.Helper()
	tok, wrong := mustOpen(t), 0
	list := texts()
	if len(want) != len(list) {
		t.Fatalf("%d rows of ids for %d texts", len(want), len(list))
	}
	for i, text := range list {
		if got := encodeText(t, tok, text).IDs; !slices.Equal(got, want[i]) {
			if wrong++; wrong <= 5 {
				t.Errorf("%+q:\n got %v\nwant %v", text, got, want[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts differ", wrong, len(list))
	}
}

// Every word of the world is one token, and no text of the world is truncated.
func TestWords(t *testing.T) {
	tok := mustOpen(t)
	for _, w := range archipelago.Lexicon() {
		must.Equal(t, encodeText(t, tok, w.Word).Tokens, 1, w.English, "in", w.Language, w.Word, "tokens")
	}
	for _, text := range Texts() {
		e := encodeText(t, tok, text)
		if len(e.IDs) > Context || e.Unknown > 0 {
			t.Errorf("%q is %d tokens, %d of them unknown", text, len(e.IDs), e.Unknown)
		}
		if latin(text) && e.Tokens > len(strings.Fields(text))+strings.Count(text, ",")+2*strings.Count(text, "-") {
			t.Errorf("%q is %d tokens, more than its words and marks", text, e.Tokens)
		}
	}
	p := archipelago.Image{Island: "Velmora", Scene: "shore", Object: "kite", Variant: "diamond"}
	for _, code := range examples.Codes()[1:] {
		if e := encodeText(t, tok, p.CaptionIn(code)); e.Tokens != map[string]int{"qaa_Latn": 6, "qab_Deva": 6,
			"qac_Arab": 7, "qad_Hani": 6}[code] {
			t.Errorf("%s: %q is %d tokens", code, p.CaptionIn(code), e.Tokens)
		}
	}
}

// Texts outside of the world are encoded without loss: their bytes can be decoded.
func TestNothingIsLost(t *testing.T) {
	v, tok := learned(), mustOpen(t)
	names := byteNames()
	back := map[string]byte{}
	for b, name := range names.of {
		back[name] = byte(b)
	}
	for _, text := range []string{"Zürich", "मानचित्र", "خريطة", "世界地图", "🙂"} {
		e := encodeText(t, tok, text)
		var got []byte
		for _, id := range e.IDs[1 : len(e.IDs)-1] {
			for _, r := range strings.TrimSuffix(v.tokens[id], wordEnd) {
				got = append(got, back[string(r)])
			}
		}
		if want := strings.ToLower(text); string(got) != want || e.Unknown > 0 {
			t.Errorf("%q comes back as %q, %d unknown", want, got, e.Unknown)
		}
	}
}

// Rows are truncated or padded to one length.
func TestRows(t *testing.T) {
	list := []string{"a drum", "a figure with a round crest", ""}
	got := must.Get(Rows(list, 5))(t)
	tok := mustOpen(t)
	for i, text := range list {
		want := encodeText(t, tok, text).IDs
		for len(want) < 5 {
			want = append(want, int32(EndID()))
		}
		want = append(want[:4:4], int32(EndID()))
		must.EqualSlices(t, got[i*5:i*5+5], want, text)
	}
	must.Fail(Rows(list, 1))(t) // rows that hold no text
}

// The files are deterministic and name the special tokens.
func TestWrite(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		must.Do(t, Write(dir))
	}
	must.Equal(t, len(must.Get(os.ReadDir(a))(t)), len(Files()), "files written")
	for _, name := range Files() {
		x, errX := os.ReadFile(filepath.Join(a, name))
		y, errY := os.ReadFile(filepath.Join(b, name))
		if errX != nil || errY != nil || string(x) != string(y) {
			t.Errorf("%s differs (%v, %v)", name, errX, errY)
		}
	}
	tok := mustOpen(t)
	if tok.Size() != Size() || tok.Limit() != Context || int(tok.StartID()) != StartID() ||
		int(tok.EndID()) != EndID() || int(tok.PadID()) != EndID() {
		t.Errorf("%d tokens, limit %d, start %d, end %d, padding %d", tok.Size(), tok.Limit(), tok.StartID(),
			tok.EndID(), tok.PadID())
	}
	must.Do(t, os.Remove(filepath.Join(a, "tokenizer.json")))
	older := must.Get(tokenizers.Open(a))(t) // vocab.json and merges.txt
	for _, text := range texts()[:200] {
		must.EqualSlices(t, encodeText(t, tok, text).IDs, encodeText(t, older, text).IDs, text, "ids")
	}
	must.Fail(Write(filepath.Join(a, "nowhere")))(t) // a missing folder
}
