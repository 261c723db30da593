//go:build checks

package weights

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/internal/testbackend"
)

// ask lets transformers answer, in a folder's model, about pictures and texts.
func ask(t *testing.T, dir string, pictures, texts []string) (answer, string) {
	t.Helper()
	question, err := json.Marshal(map[string]any{"pictures": pictures, "texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "question.json")
	if err := os.WriteFile(path, question, 0o600); err != nil {
		t.Fatal(err)
	}
	said := testbackend.Python(t, []string{"torch", "transformers"}, filepath.Join("testdata", "clip.py"), dir, path)
	var a answer
	if err := json.Unmarshal([]byte(said), &a); err != nil {
		t.Fatal(err)
	}
	return a, said
}

// TestTransformers compares archipelago-clip and archipelago-clipseg with the transformers that is installed, on fresh pictures of every kind and
// what is said of them; -update writes the stored answers of testdata again.
func TestTransformers(t *testing.T) {
	var files, texts []string
	var list []image.Image
	for i := range 12 {
		p := examples.Random(examples.Stream(examples.HeldOut, 3, i), []string{examples.Thing, examples.Figure, examples.Scenery}[i%3])
		im, _ := examples.World.Paint(p)
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.png", i))
		writePNG(t, file, im)
		files, list = append(files, file), append(list, im)
		for _, code := range examples.Codes() {
			texts = append(texts, p.CaptionIn(code))
		}
	}
	for _, c := range archipelago.ConceptNames() {
		texts = append(texts, c)
	}
	texts = append(texts, "मानचित्र", "", "🙂 boats?", "LANTERN  in\tVelmora")
	for name, model := range map[string]struct {
		file    string
		compare func(*testing.T, string, []image.Image, answer)
	}{"archipelago-clip": {"clip.json", compareCLIP}, "archipelago-clipseg": {"clipseg.json", compareCLIPSeg}} {
		t.Run(name, func(t *testing.T) {
			dir := shippedDir(t, name)
			want, _ := ask(t, dir, files, texts)
			model.compare(t, dir, list, want)
			if !*update || t.Failed() {
				return
			}
			_, said := ask(t, dir, storedPictures(), storedTexts())
			if err := os.WriteFile(filepath.Join("testdata", model.file), []byte(said+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
