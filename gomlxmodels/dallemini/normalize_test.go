package dallemini

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mozillazg/go-unidecode"

	"antipode/internal/ftfy"
	"antipode/internal/must"
)

func readJSON(t *testing.T, name string, to any) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join("testdata", name)))(t), to))
}

// normalizer splits hashtags by the words of the goldens.
func normalizer(t *testing.T) *Normalizer {
	t.Helper()
	return &Normalizer{readWords(string(must.Get(os.ReadFile(filepath.Join("testdata", "words.txt")))(t)))}
}

// TestNormalize compares prompts in 41 languages with the original's TextNormalizer.
func TestNormalize(t *testing.T) {
	n := normalizer(t)
	var lines [][2]string
	readJSON(t, "normalized.json", &lines)
	if len(lines) < 470 {
		t.Errorf("%d texts", len(lines))
	}
	for _, line := range lines {
		if got, _, err := n.Normalize(line[0]); err != nil || got != line[1] {
			t.Errorf("%q: %q, %v, want %q", line[0], got, err, line[1])
		}
	}
}

// digests are checksums of what the reference libraries make of their own tables and of released prompts.
type digests struct {
	Characters                map[string]string // by block of 256 characters
	Emoji, CoCoCroLa, ENTIGEN string
}

func digestOf(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:16]
}

// TestCharacters compares every character of Unicode with ftfy, emoji and Unidecode.
func TestCharacters(t *testing.T) {
	var want digests
	readJSON(t, "digests.json", &want)
	if len(want.Characters) < 180 {
		t.Errorf("%d blocks", len(want.Characters))
	}
	for block := range 0x1100 {
		if block >= 0xd8 && block < 0xe0 { // surrogates
			continue
		}
		made := make([]string, 256)
		for i := range made {
			made[i] = unidecode.Unidecode(demojize(must.Get(ftfy.FixText(string(rune(block<<8 | i))))(t)))
		}
		name, got := fmt.Sprintf("%02x", block), ""
		if strings.Join(made, "") != "" {
			got = digestOf(made)
		}
		must.Equal(t, got, want.Characters[name], "characters", name, "in hexadecimal:", made)
	}
}

// TestEmoji compares every emoji of Emoji 14.0 with the original.
func TestEmoji(t *testing.T) {
	var want digests
	readJSON(t, "digests.json", &want)
	n := normalizer(t)
	var lines []string
	for emoji, name := range emojiNames() {
		if name == "" {
			continue
		}
		text, lost, err := n.Normalize(emoji + " x")
		if err != nil || len(lost) > 0 {
			t.Errorf("%s: lost %q, %v", emoji, lost, err)
		}
		lines = append(lines, emoji+" "+text)
	}
	slices.Sort(lines)
	must.Equal(t, len(lines), 4702)
	must.Equal(t, digestOf(lines), want.Emoji)
}

// TestReleasedPrompts compares all prompts of CoCo-CroLa, in seven languages, and of ENTIGEN with the original.
func TestReleasedPrompts(t *testing.T) {
	var want digests
	readJSON(t, "digests.json", &want)
	n := normalizer(t)
	shared := filepath.Join("..", "..", "..", "shared", "data")
	open := func(name ...string) *os.File {
		f, err := os.Open(filepath.Join(append([]string{shared}, name...)...))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("the released data are not in ../shared/data")
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	check := func(name, want string, prompts []string) {
		for i, p := range prompts {
			text, lost, err := n.Normalize(p)
			if err != nil || len(lost) > 0 || strings.TrimSpace(text) == "" {
				t.Errorf("%s: %q: %q, lost %q, %v", name, p, text, lost, err)
			}
			prompts[i] = text
		}
		must.Equal(t, digestOf(prompts), want, name, "the normalized prompts differ from those of the original")
	}
	var templates map[string]string
	must.Do(t, json.NewDecoder(open("cococrola", "benchmark", "v0-1", "prompts.json")).Decode(&templates))
	rows := func(f *os.File) [][]string {
		return must.Get(csv.NewReader(f).ReadAll())(t)
	}
	var prompts []string
	concepts := rows(open("cococrola", "benchmark", "v0-1", "concepts.csv"))
	for _, row := range concepts[1:] {
		for _, l := range slices.Sorted(maps.Keys(templates)) {
			prompts = append(prompts, strings.ReplaceAll(templates[l], "$$$", row[slices.Index(concepts[0], l)]))
		}
	}
	check("CoCo-CroLa", want.CoCoCroLa, prompts)
	prompts = nil
	sentences := rows(open("entigen", "prompt.csv"))
	for _, row := range sentences[1:] {
		prompts = append(prompts, row[slices.Index(sentences[0], "Sentence")])
	}
	check("ENTIGEN", want.ENTIGEN, prompts)
}

// TestNormalizeLost: words without a transliteration are named.
func TestNormalizeLost(t *testing.T) {
	for prompt, want := range map[string][]string{
		"a photo of ᱥᱮᱛᱟ by the river": {"ᱥᱮᱛᱟ"}, "ꯂꯥꯏꯔꯤꯛ ꯇꯜ": {"ꯂꯥꯏꯔꯤꯛ", "ꯇꯜ"}, "a 🫨 ∮ b": {"🫨", "∮"},
		"שלום 海 दुनिया, ᱥx 🙂 ❤️ …": nil, "": nil, "\u200d ́": nil,
	} {
		text, lost := must.Get2((&Normalizer{}).Normalize(prompt))(t)
		must.EqualSlices(t, lost, want, prompt, text, "lost")
	}
}

func TestNormalizeRefuses(t *testing.T) {
	// UTF-8, read as Windows-1252
	for _, prompt := range []string{"cafÃ© noir", "Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "æµ·å²¸", "à¤˜à¤°", "itâ€™s"} {
		must.Fail((&Normalizer{}).Normalize(prompt))(t, "wrong encoding")
	}
	must.Fail((&Normalizer{}).Normalize("a #sunset"))(t, WordsFile)
	if got, _, err := (&Normalizer{}).Normalize("# a"); err != nil || strings.TrimSpace(got) != "a" {
		t.Errorf("%q, %v", got, err)
	}
}
