//go:build checks

package weights

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/internal/testbackend"
)

// askCaptions lets transformers describe pictures, after each of some prefixes.
func askCaptions(t *testing.T, dir string, pictures []string) (captions, string) {
	t.Helper()
	question, err := json.Marshal(map[string]any{"pictures": pictures, "texts": []string{"", "a picture of", "the crest is"}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "question.json")
	if err := os.WriteFile(path, question, 0o600); err != nil {
		t.Fatal(err)
	}
	said := testbackend.Python(t, []string{"torch", "transformers"}, filepath.Join("testdata", "blip.py"), dir, path)
	var a captions
	if err := json.Unmarshal([]byte(said), &a); err != nil {
		t.Fatal(err)
	}
	return a, said
}

// TestTransformersCaptions compares archipelago-blip with the transformers that is installed, on fresh pictures of every kind; -update
// writes the stored answer of testdata again.
func TestTransformersCaptions(t *testing.T) {
	dir := shippedDir(t, blipName)
	var files []string
	var list []image.Image
	for i := range 48 {
		p := examples.Random(examples.Stream(examples.HeldOut, 3, i), []string{examples.Thing, examples.Figure, examples.Figure, examples.Scenery}[i%4])
		im, _ := examples.World.Paint(p)
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.png", i))
		writePNG(t, file, im)
		files, list = append(files, file), append(list, im)
	}
	want, _ := askCaptions(t, dir, files)
	compareCaptions(t, dir, list, want)
	if !*update || t.Failed() {
		return
	}
	_, said := askCaptions(t, dir, describedPictures())
	if err := os.WriteFile(filepath.Join("testdata", "blip.json"), []byte(said+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
