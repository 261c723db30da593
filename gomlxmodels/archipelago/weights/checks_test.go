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
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// ask runs a script of testdata, which evaluates the model in a folder with transformers on images and texts. It
// returns the script's output, decoded and as JSON.
func ask[A any](t *testing.T, script, dir string, images, texts []string) (a A, output string) {
	t.Helper()
	question := must.Get(json.Marshal(map[string]any{"pictures": images, "texts": texts}))(t)
	path := filepath.Join(t.TempDir(), "question.json")
	must.Do(t, os.WriteFile(path, question, 0o600))
	output = testbackend.Python(t, []string{"torch", "transformers"}, filepath.Join("testdata", script), dir, path)
	must.Do(t, json.Unmarshal([]byte(output), &a))
	return a, output
}

// TestTransformers compares archipelago-clip and archipelago-clipseg with the installed transformers, on new images of
// every kind and texts about them; -update rewrites the stored answers in testdata.
func TestTransformers(t *testing.T) {
	var files, texts []string
	var list []image.Image
	for i := range 12 {
		p := examples.Random(examples.Stream(examples.HeldOut, 3, i),
			[]string{examples.Thing, examples.Figure, examples.Scenery}[i%3])
		im, _ := examples.World.Paint(p)
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.png", i))
		writePNG(t, file, im)
		files, list = append(files, file), append(list, im)
		for _, code := range examples.Codes() {
			texts = append(texts, p.CaptionIn(code))
		}
	}
	texts = append(texts, archipelago.ConceptNames()...)
	texts = append(texts, "मानचित्र", "", "🙂 boats?", "LANTERN  in\tVelmora")
	for name, model := range map[string]struct {
		file    string
		compare func(*testing.T, string, []image.Image, answer)
	}{"archipelago-clip": {"clip.json", compareCLIP}, "archipelago-clipseg": {"clipseg.json", compareCLIPSeg}} {
		t.Run(name, func(t *testing.T) {
			dir := shippedDir(t, name)
			want, _ := ask[answer](t, "clip.py", dir, files, texts)
			model.compare(t, dir, list, want)
			if !*update || t.Failed() {
				return
			}
			_, output := ask[answer](t, "clip.py", dir, storedImages(), storedTexts())
			must.Do(t, os.WriteFile(filepath.Join("testdata", model.file), []byte(output+"\n"), 0o644))
		})
	}
}
