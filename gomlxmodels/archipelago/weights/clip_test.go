package weights

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/tokenizers"
	"antipode/internal/near"
	"antipode/internal/testbackend"
)

// answer is what testdata/clip.py says.
type answer struct {
	Texts   []string      `json:"texts"`
	Images  [][]float32   `json:"images"`
	Vectors [][]float32   `json:"vectors"`
	Logits  [][]float32   `json:"logits"`
	Masks   [][][]float32 `json:"masks"`
}

// shippedDir is a model's folder beside this file, or in the folder that ANTIPODE_TRAINED names, where models lie before they are shipped; the test is
// skipped where there is none.
func shippedDir(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("ANTIPODE_TRAINED"), name)
	if _, err := os.Stat(filepath.Join(dir, "training.json")); err != nil {
		testbackend.Missing(t, "weights", fmt.Sprintf("%s is not there: go run ./gomlxmodels/archipelago trains it", name))
	}
	return dir
}

// stored reads an answer of testdata, about its pictures a, b and c.
func stored(t *testing.T, name string) ([]image.Image, answer) {
	t.Helper()
	var want answer
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	var list []image.Image
	for _, picture := range storedPictures() {
		list = append(list, readPNG(t, picture))
	}
	return list, want
}

func storedPictures() []string {
	return []string{filepath.Join("testdata", "a.png"), filepath.Join("testdata", "b.png"), filepath.Join("testdata", "c.png")}
}

// storedTexts are captions of the pictures a, b and c in every language, and shorter texts.
func storedTexts() []string {
	list := []string{"a photo of a lantern", "a figure with a round crest", "boat in Velmora", "the object"}
	for i, it := range archipelago.New(archipelago.Options{Seed: 11, PerCell: 1}).Photos() {
		if i != pictures["a"] && i != pictures["b"] && i != pictures["c"] {
			continue
		}
		p := archipelago.Picture{Island: it.Region, Scene: it.Scene, Object: it.Object, Variant: it.Variant}
		for _, l := range archipelago.Languages() {
			list = append(list, p.CaptionIn(l.Code))
		}
		list = append(list, p.Caption())
	}
	return list
}

// TestCLIPReference compares archipelago-clip with transformers, from pixels and texts on.
func TestCLIPReference(t *testing.T) {
	dir := shippedDir(t, "archipelago-clip")
	list, want := stored(t, "clip.json")
	compareCLIP(t, dir, list, want)
}

// compareCLIP holds vectors to 1e-3 and logits to 1e-3 of their scale.
func compareCLIP(t *testing.T, dir string, pictures []image.Image, want answer) {
	t.Helper()
	m, err := clip.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizers.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := clip.NewEncoder(testbackend.XLA(t), m, clip.Options{Batch: len(pictures)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var pixels [][]float32
	for _, im := range pictures {
		p, err := m.Prepare(im)
		if err != nil {
			t.Fatal(err)
		}
		pixels = append(pixels, p)
	}
	images, err := e.EncodeImages(t.Context(), pixels)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := e.EncodeTokens(t.Context(), ids(t, tok, want.Texts))
	if err != nil {
		t.Fatal(err)
	}
	logits, err := m.Logits(images, texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Images) != len(images) || len(want.Vectors) != len(texts) || len(texts) == 0 {
		t.Fatalf("%d pictures and %d texts, transformers has %d and %d", len(images), len(texts), len(want.Images), len(want.Vectors))
	}
	worst := 0.0
	for i, list := range [][]clip.Embedding{images, texts} {
		for k, em := range list {
			d, _ := near.Worst(em.Unit(), [][][]float32{want.Images, want.Vectors}[i][k])
			worst = max(worst, d)
		}
	}
	apart := 0.0
	for i, row := range logits {
		got := make([]float32, len(row))
		for k, v := range row {
			got[k] = float32(v)
		}
		d, _ := near.Worst(got, want.Logits[i])
		apart = max(apart, d)
	}
	t.Logf("%d pictures, %d texts: worst difference of a vector of length 1 %.2g, of a logit %.2g", len(images), len(texts), worst, apart)
	if worst > 1e-3 || apart > 1e-3*m.LogitScale() {
		t.Errorf("vectors differ by up to %g, logits by up to %g at the factor %g", worst, apart, m.LogitScale())
	}
}

// TestCLIPSegReference compares archipelago-clipseg with transformers, from pixels and texts on.
func TestCLIPSegReference(t *testing.T) {
	dir := shippedDir(t, "archipelago-clipseg")
	list, want := stored(t, "clipseg.json")
	compareCLIPSeg(t, dir, list, want)
}

// compareCLIPSeg holds logits to 1e-3 of their scale.
func compareCLIPSeg(t *testing.T, dir string, pictures []image.Image, want answer) {
	t.Helper()
	m, err := clipseg.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizers.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := clipseg.NewEncoder(testbackend.XLA(t), m, clipseg.Options{Batch: len(pictures)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var asked []clipseg.Picture
	for _, im := range pictures {
		p, err := m.Prepare(im)
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, clipseg.Picture{Pixels: p, Prompts: ids(t, tok, want.Texts)})
	}
	maps, err := e.Segment(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Masks) != len(maps) || len(want.Texts) == 0 {
		t.Fatalf("masks of %d pictures, transformers has %d", len(maps), len(want.Masks))
	}
	worst, scale := 0.0, 0.0
	for i, list := range maps {
		for k, m := range list {
			var got []float32
			for y := 0; y < m.Side; y += 8 {
				for x := 0; x < m.Side; x += 8 {
					got = append(got, m.Logits[y*m.Side+x])
				}
			}
			d, _ := near.Worst(got, want.Masks[i][k])
			worst, scale = max(worst, d), max(scale, near.Scale(want.Masks[i][k]))
		}
	}
	t.Logf("%d pictures, %d texts: worst difference of a logit %.2g at scale %.2g", len(maps), len(want.Texts), worst, scale)
	if worst > 1e-3*scale {
		t.Errorf("logits differ by up to %g at scale %g", worst, scale)
	}
}

// ids are the token ids of texts.
func ids(t *testing.T, tok *tokenizers.Tokenizer, texts []string) [][]int32 {
	t.Helper()
	var out [][]int32
	for _, text := range texts {
		e, err := tok.Encode(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.IDs)
	}
	return out
}

// report reads the held-out scores of a folder's training.json, and looks whether its card was filled in.
func report(t *testing.T, dir string, held any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "training.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &struct {
		HeldOut any `json:"held_out"`
	}{held}); err != nil {
		t.Fatal(err)
	}
	card, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil || strings.Contains(string(card), "{{") || strings.Contains(string(card), "<no value>") {
		t.Errorf("the card was not filled in (%v)", err)
	}
}

// TestCLIPFloor holds archipelago-clip to the floor that other work relies on: a thing's caption is found in every language.
func TestCLIPFloor(t *testing.T) {
	var held struct {
		Pictures, Group int
		Retrieval       map[string]map[string]map[string]float64
	}
	report(t, shippedDir(t, "archipelago-clip"), &held)
	languages := held.Retrieval["thing"]
	if held.Pictures < 500 || held.Group != 32 || len(languages) != 1+len(archipelago.Languages()) {
		t.Errorf("%d pictures in groups of %d, %d languages", held.Pictures, held.Group, len(languages))
	}
	for code, r := range languages {
		if r["text"] < 0.85 || r["picture"] < 0.85 {
			t.Errorf("%s: retrieval below the floor: %v", code, r)
		}
	}
}

// TestCLIPSegFloor holds archipelago-clipseg to the floor that other work relies on: masks of photos by the thing's English name.
func TestCLIPSegFloor(t *testing.T) {
	var held struct {
		Pictures int
		IoU      map[string]float64
	}
	report(t, shippedDir(t, "archipelago-clipseg"), &held)
	if held.IoU[archipelago.English] < 0.8 || held.Pictures < 300 {
		t.Errorf("intersection over union below the floor: %v on %d pictures", held.IoU, held.Pictures)
	}
}
