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
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// answer is the output of testdata/clip.py.
type answer struct {
	Texts   []string      `json:"texts"`
	Images  [][]float32   `json:"images"`
	Vectors [][]float32   `json:"vectors"`
	Logits  [][]float32   `json:"logits"`
	Masks   [][][]float32 `json:"masks"`
}

// shippedDir returns a model's folder, next to this file or in the folder that ANTIPODE_TRAINED names, and skips the
// test if it is missing.
func shippedDir(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("ANTIPODE_TRAINED"), name)
	if _, err := os.Stat(filepath.Join(dir, "training.json")); err != nil {
		testbackend.Missing(t, "weights", fmt.Sprintf("%s is missing: go run ./gomlxmodels/archipelago trains it",
			name))
	}
	return dir
}

// stored reads an answer in testdata about the images a, b and c.
func stored(t *testing.T, name string) ([]image.Image, answer) {
	t.Helper()
	var want answer
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join("testdata", name)))(t), &want))
	var list []image.Image
	for _, img := range storedImages() {
		list = append(list, readPNG(t, img))
	}
	return list, want
}

func storedImages() []string {
	return []string{filepath.Join("testdata", "a.png"), filepath.Join("testdata", "b.png"),
		filepath.Join("testdata", "c.png")}
}

// storedTexts returns captions of the images a, b and c in every language, and shorter texts.
func storedTexts() []string {
	list := []string{"a photo of a lantern", "a figure with a round crest", "boat in Velmora", "the object"}
	for i, it := range archipelago.New(archipelago.Options{Seed: 11, PerCell: 1}).Reference() {
		if i != images["a"] && i != images["b"] && i != images["c"] {
			continue
		}
		p := archipelago.Image{Island: it.Region, Scene: it.Scene, Object: it.Object, Variant: it.Variant}
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

// compareCLIP compares vectors with tolerance 1e-3 and logits with 1e-3 of their scale.
func compareCLIP(t *testing.T, dir string, images []image.Image, want answer) {
	t.Helper()
	m := must.Get(clip.Open(dir))(t)
	tok := must.Get(tokenizers.Open(dir))(t)
	e := must.Get(clip.NewEncoder(testbackend.Any(t), m, clip.Options{Batch: len(images)}))(t)
	defer e.Close()
	var pixels [][]float32
	for _, im := range images {
		pixels = append(pixels, must.Get(m.Prepare(im))(t))
	}
	embedded := must.Get(e.EncodeImages(t.Context(), pixels))(t)
	texts := must.Get(e.EncodeTokens(t.Context(), ids(t, tok, want.Texts)))(t)
	logits := must.Get(m.Logits(embedded, texts))(t)
	if len(want.Images) != len(embedded) || len(want.Vectors) != len(texts) || len(texts) == 0 {
		t.Fatalf("%d images and %d texts, transformers has %d and %d", len(images), len(texts), len(want.Images),
			len(want.Vectors))
	}
	worst := 0.0
	for i, list := range [][]clip.Embedding{embedded, texts} {
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
	t.Logf("%d images, %d texts: worst difference of a vector of length 1 %.2g, of a logit %.2g", len(images),
		len(texts), worst, apart)
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

// compareCLIPSeg compares logits with a tolerance of 1e-3 of their scale.
func compareCLIPSeg(t *testing.T, dir string, images []image.Image, want answer) {
	t.Helper()
	m := must.Get(clipseg.Open(dir))(t)
	tok := must.Get(tokenizers.Open(dir))(t)
	e := must.Get(clipseg.NewEncoder(testbackend.Any(t), m, clipseg.Options{Batch: len(images)}))(t)
	defer e.Close()
	var asked []clipseg.Image
	for _, im := range images {
		p := must.Get(m.Prepare(im))(t)
		asked = append(asked, clipseg.Image{Pixels: p, Prompts: ids(t, tok, want.Texts)})
	}
	maps := must.Get(e.Segment(t.Context(), asked))(t)
	if len(want.Masks) != len(maps) || len(want.Texts) == 0 {
		t.Fatalf("masks of %d images, transformers has %d", len(maps), len(want.Masks))
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
	t.Logf("%d images, %d texts: worst difference of a logit %.2g at scale %.2g", len(maps), len(want.Texts), worst,
		scale)
	if worst > 1e-3*scale {
		t.Errorf("logits differ by up to %g at scale %g", worst, scale)
	}
}

func ids(t *testing.T, tok *tokenizers.Tokenizer, texts []string) [][]int32 {
	t.Helper()
	var out [][]int32
	for _, text := range texts {
		out = append(out, must.Get(tok.Encode(text, 0))(t).IDs)
	}
	return out
}

// report reads the held-out scores in a folder's training.json, and checks that the model card was filled in.
func report(t *testing.T, dir string, held any) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(dir, "training.json")))(t)
	must.Do(t, json.Unmarshal(text, &struct {
		HeldOut any `json:"held_out"`
	}{held}))
	card, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil || strings.Contains(string(card), "{{") || strings.Contains(string(card), "<no value>") {
		t.Errorf("the card was not filled in (%v)", err)
	}
}

// TestCLIPFloor checks the required accuracy of archipelago-clip: captions of objects are retrieved in every language.
func TestCLIPFloor(t *testing.T) {
	var held struct {
		Images    int `json:"pictures"`
		Group     int
		Retrieval map[string]map[string]map[string]float64
	}
	report(t, shippedDir(t, "archipelago-clip"), &held)
	languages := held.Retrieval["thing"]
	if held.Images < 500 || held.Group != 32 || len(languages) != 1+len(archipelago.Languages()) {
		t.Errorf("%d images in groups of %d, %d languages", held.Images, held.Group, len(languages))
	}
	for code, r := range languages {
		if r["text"] < 0.85 || r["picture"] < 0.85 {
			t.Errorf("%s: retrieval below the floor: %v", code, r)
		}
	}
}

// TestCLIPSegFloor checks the required accuracy of archipelago-clipseg: masks of objects in reference images.
func TestCLIPSegFloor(t *testing.T) {
	var held struct {
		Images int `json:"pictures"`
		IoU    map[string]float64
	}
	report(t, shippedDir(t, "archipelago-clipseg"), &held)
	if held.IoU[archipelago.English] < 0.8 || held.Images < 300 {
		t.Errorf("intersection over union below the floor: %v on %d images", held.IoU, held.Images)
	}
}
