package dallemini

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
)

func readJSON(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNormalize compares texts with the original's TextNormalizer; texts that it transliterates by tables which are not
// here are errors that name the characters.
func TestNormalize(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := &Normalizer{readWords(string(text))}
	var lines [][2]string
	readJSON(t, "normalized.json", &lines)
	refused := 0
	for _, line := range lines {
		got, err := n.Normalize(line[0])
		if err != nil {
			refused++
			modeltest.CheckLine(t, err, "does not support the characters")
		} else if got != line[1] {
			t.Errorf("%q: %q, want %q", line[0], got, line[1])
		}
	}
	if len(lines) < 37 || refused > 3 { // a fraction, ligatures with wide letters, a wide space
		t.Errorf("%d of %d texts are not supported", refused, len(lines))
	}
}

// TestCharacters compares every character that is supported with ftfy and Unidecode.
func TestCharacters(t *testing.T) {
	var want map[string]string
	readJSON(t, "characters.json", &want)
	supported := 0
	for c, w := range want {
		got, err := ascii(c)
		if err != nil {
			continue
		}
		if supported++; got != w {
			t.Errorf("%q (%U): %q, want %q", c, []rune(c), got, w)
		}
	}
	t.Logf("%d of %d characters are supported", supported, len(want))
	if supported < 400 {
		t.Errorf("%d of %d characters are supported", supported, len(want))
	}
}

func TestNormalizeRefuses(t *testing.T) {
	for prompt, want := range map[string]string{"海边的 house 海": `the characters "海边的"`,
		"бабочка": "TextNormalizer", "a 🙂": `"🙂"`, "cafÃ© noir": "wrong encoding"} {
		_, err := (&Normalizer{}).Normalize(prompt)
		modeltest.CheckLine(t, err, want)
	}
	_, err := (&Normalizer{}).Normalize("a #sunset")
	modeltest.CheckLine(t, err, WordsFile)
	if got, err := (&Normalizer{}).Normalize("# a"); err != nil || strings.TrimSpace(got) != "a" {
		t.Errorf("%q, %v", got, err)
	}
}
