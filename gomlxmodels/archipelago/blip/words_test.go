package blip

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/internal/must"
)

var update = flag.Bool("update", false,
	"rewrite testdata/texts.txt and the tokenizer (then run testdata/reference.py)")

// sampleTexts returns the texts on which tokenizers are compared: every word of captions, and captions of training.
func sampleTexts() []string {
	out := append(captions(), "", "A  Round LANTERN,on the\tshore", "a döme umbrella", "two-masted",
		"a café on the shore", "[DEC] a [SEP] shore", "!?")
	for i := range 120 {
		e := randomExample(examples.Stream(7, 0, i), i, 120)
		out = append(out, strings.TrimSpace(e.prefix+" "+e.text))
	}
	return out
}

// TestTokenizer compares tokens and decoded texts with those of transformers' BertTokenizer, opened on the same files.
func TestTokenizer(t *testing.T) {
	if *update {
		must.Do(t, os.WriteFile("testdata/texts.txt", []byte(strings.Join(sampleTexts(), "\n")+"\n"), 0o644))
		must.Do(t, writeTokenizer("testdata/tokenizer"))
		t.Skip("texts written; run testdata/reference.py now")
	}
	tokenizer := must.Get(openTokenizer())(t)
	must.Equal(t, tokenizer.Size(), len(vocabulary), "tokens")
	f := must.Get(os.Open("testdata/tokens.txt"))(t)
	defer f.Close()
	lines, texts := bufio.NewScanner(f), sampleTexts()
	for i := 0; lines.Scan(); i++ {
		want := strings.Split(lines.Text(), "|")
		if i >= len(texts) || len(want) != 2 {
			t.Fatalf("line %d is not of these texts: run with -update", i+1)
		}
		e := must.Get(tokenizer.Encode(texts[i], -1))(t)
		must.Equal(t, strings.Trim(fmt.Sprint(e.IDs), "[]"), want[0], texts[i], "tokens")
		must.Equal(t, tokenizer.Decode(e.IDs, true), want[1], texts[i], "comes back as", "from transformers as")
		if i == len(texts)-1 {
			return
		}
	}
	t.Errorf("tokens.txt has fewer lines than the %d texts: run with -update", len(texts))
}

// TestVocabulary checks that tokens are unique, that the special ones have BLIP's ids, and that no text of training is
// truncated or has an unknown token.
func TestVocabulary(t *testing.T) {
	for i, token := range vocabulary {
		must.Equal(t, slices.Index(vocabulary, token), i, token, "stands twice")
	}
	n := len(vocabulary)
	if !slices.Equal(vocabulary[:5], bertTokens) || vocabulary[n-2] != tokenStart || vocabulary[n-1] != tokenEncode {
		t.Errorf("special tokens: %v … %v", vocabulary[:5], vocabulary[n-2:])
	}
	tokenizer := must.Get(openTokenizer())(t)
	longest := slices.MaxFunc(prefixes, func(a, b string) int { return len(split(a)) - len(split(b)) })
	for i, text := range captions() {
		half, places := &texts{}, figurePlaces
		if read(examples.Thing, text)[partObject] != "" || read(examples.Scenery, text)[partScene] != "" {
			places = thingPlaces
		}
		if err := half.append(tokenizer, example{prefix: longest, text: text}, places); err != nil {
			t.Error(i, err)
		}
	}
	must.Fail((&texts{}).append(tokenizer, example{text: "a zebra"}, thingPlaces))(t) // an unknown word
}

// TestFiles checks that the tokenizer's files are deterministic.
func TestFiles(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		must.Do(t, writeTokenizer(dir))
	}
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "vocab.txt"} {
		x, errX := os.ReadFile(filepath.Join(a, name))
		y, errY := os.ReadFile(filepath.Join(b, name))
		if errX != nil || errY != nil || string(x) != string(y) {
			t.Errorf("%s differs (%v, %v)", name, errX, errY)
		}
	}
}
