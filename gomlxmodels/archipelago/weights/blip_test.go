package weights

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

const blipName = "archipelago-blip"

// captions is the output of testdata/blip.py.
type captions struct {
	Texts    []string `json:"texts"` // prefixes
	Captions [][]struct {
		Tokens []int32 `json:"tokens"`
		Words  string  `json:"words"`
	} `json:"captions"` // by image and prefix
}

// describedImages returns three images of objects and two of figures.
func describedImages() []string {
	return append(storedImages(), filepath.Join("testdata", "figure-a.png"),
		filepath.Join("testdata", "figure-b.png"))
}

// TestBLIPReference compares the captions of archipelago-blip with those of transformers.
func TestBLIPReference(t *testing.T) {
	dir := shippedDir(t, blipName)
	var want captions
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join("testdata", "blip.json")))(t), &want))
	var list []image.Image
	for _, path := range describedImages() {
		list = append(list, readPNG(t, path))
	}
	compareCaptions(t, dir, list, want)
}

// compareCaptions compares the captions of images with the tokens and words of transformers.
func compareCaptions(t *testing.T, dir string, images []image.Image, want captions) {
	t.Helper()
	m := must.Get(blip.Open(dir))(t)
	c := must.Get(blip.NewCaptioner(testbackend.Any(t), m, textgen.CaptionerOptions{}))(t)
	defer c.Close()
	if len(want.Captions) != len(images) || len(want.Texts) == 0 {
		t.Fatalf("%d images, transformers has %d with %d prefixes", len(images), len(want.Captions),
			len(want.Texts))
	}
	different := map[string]bool{}
	for k, prefix := range want.Texts {
		prompt := must.Get(m.Prompt(prefix))(t)
		var requests []textgen.ImageRequest
		for _, im := range images {
			pixels := must.Get(m.Prepare(im))(t)
			requests = append(requests, textgen.ImageRequest{Pixels: pixels, Prompt: prompt})
		}
		got := must.Get(c.Caption(t.Context(), requests, textgen.Options{MaxTokens: 48}))(t)
		for i, texts := range got {
			w, ids := want.Captions[i][k], slices.Concat(prompt, texts[0].Tokens)
			if texts[0].Ended {
				ids = append(ids, int32(m.Config().Text.EndToken))
			}
			must.EqualSlices(t, ids, w.Tokens, "image", i, "prefix", prefix, "tokens")
			must.Equal(t, must.Get(m.Text(prompt, texts[0].Tokens))(t), w.Words, "image", i, "prefix", prefix)
			different[w.Words] = true
		}
	}
	if n := len(images) * len(want.Texts); len(different) < n/2 {
		t.Errorf("only %d of %d captions differ", len(different), n)
	}
}

// TestBLIPCard checks the model card and the required accuracy.
func TestBLIPCard(t *testing.T) {
	dir := shippedDir(t, blipName)
	var held struct {
		Images   map[string]int                `json:"pictures"`
		Accuracy map[string]map[string]float64 `json:"accuracy"`
	}
	report(t, dir, &held)
	things := held.Accuracy["thing"]
	if things["object"] < 0.9 || things["island"] < 0.8 || held.Images["thing"] < 700 {
		t.Errorf("held-out captions below the required accuracy: %v on %v images", things, held.Images)
	}
}
