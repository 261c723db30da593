package weights

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/decode"
	"antipode/internal/testbackend"
)

const blipName = "archipelago-blip"

// captions is what testdata/blip.py says.
type captions struct {
	Texts    []string `json:"texts"` // prefixes
	Captions [][]struct {
		Tokens []int32 `json:"tokens"`
		Words  string  `json:"words"`
	} `json:"captions"` // by picture and prefix
}

// describedPictures are three of things and two of figures.
func describedPictures() []string {
	return append(storedPictures(), filepath.Join("testdata", "figure-a.png"), filepath.Join("testdata", "figure-b.png"))
}

// TestBLIPReference compares archipelago-blip with transformers, from files to words.
func TestBLIPReference(t *testing.T) {
	dir := shippedDir(t, blipName)
	var want captions
	text, err := os.ReadFile(filepath.Join("testdata", "blip.json"))
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []image.Image
	for _, path := range describedPictures() {
		list = append(list, readPNG(t, path))
	}
	compareCaptions(t, dir, list, want)
}

// compareCaptions holds the captions of pictures to the tokens and words of transformers.
func compareCaptions(t *testing.T, dir string, pictures []image.Image, want captions) {
	t.Helper()
	m, err := blip.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := blip.NewCaptioner(testbackend.XLA(t), m, captioner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if len(want.Captions) != len(pictures) || len(want.Texts) == 0 {
		t.Fatalf("%d pictures, transformers has %d with %d prefixes", len(pictures), len(want.Captions), len(want.Texts))
	}
	different := map[string]bool{}
	for k, prefix := range want.Texts {
		prompt, err := m.Prompt(prefix)
		if err != nil {
			t.Fatal(err)
		}
		var requests []captioner.Request
		for _, im := range pictures {
			pixels, err := m.Prepare(im)
			if err != nil {
				t.Fatal(err)
			}
			requests = append(requests, captioner.Request{Pixels: pixels, Prompt: prompt})
		}
		got, err := c.Caption(t.Context(), requests, decode.Settings{MaxTokens: 48})
		if err != nil {
			t.Fatal(err)
		}
		for i, texts := range got {
			w, ids := want.Captions[i][k], slices.Concat(prompt, texts[0].Tokens)
			if texts[0].Ended {
				ids = append(ids, int32(m.Config().Text.EndToken))
			}
			if !slices.Equal(ids, w.Tokens) {
				t.Errorf("picture %d, prefix %q: tokens %v, transformers writes %v", i, prefix, ids, w.Tokens)
			}
			if words, err := m.Text(prompt, texts[0].Tokens); err != nil || words != w.Words {
				t.Errorf("picture %d, prefix %q: %q, %v; transformers writes %q", i, prefix, words, err, w.Words)
			}
			different[w.Words] = true
		}
	}
	if n := len(pictures) * len(want.Texts); len(different) < n/2 {
		t.Errorf("only %d of %d captions differ", len(different), n)
	}
}

// TestBLIPCard holds the captioner's report to its floors.
func TestBLIPCard(t *testing.T) {
	dir := shippedDir(t, blipName)
	var report struct {
		HeldOut struct {
			Pictures map[string]int                `json:"pictures"`
			Accuracy map[string]map[string]float64 `json:"accuracy"`
		} `json:"held_out"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "training.json"))
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		t.Fatal(err)
	}
	things := report.HeldOut.Accuracy["thing"]
	if things["object"] < 0.9 || things["island"] < 0.8 || report.HeldOut.Pictures["thing"] < 700 {
		t.Errorf("held-out captions below the floor: %v on %v pictures", things, report.HeldOut.Pictures)
	}
}
