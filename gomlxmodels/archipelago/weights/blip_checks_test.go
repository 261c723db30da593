//go:build checks

package weights

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/internal/must"
)

// prefixes are the prefixes of the stored captions.
var prefixes = []string{"", "a picture of", "the crest is"}

// TestTransformersCaptions compares archipelago-blip with the installed transformers, on new images of every kind;
// -update rewrites the stored answer in testdata.
func TestTransformersCaptions(t *testing.T) {
	dir := shippedDir(t, blipName)
	var files []string
	var list []image.Image
	for i := range 48 {
		p := examples.Random(examples.Stream(examples.HeldOut, 3, i),
			[]string{examples.Thing, examples.Figure, examples.Figure, examples.Scenery}[i%4])
		im, _ := examples.World.Paint(p)
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.png", i))
		writePNG(t, file, im)
		files, list = append(files, file), append(list, im)
	}
	want, _ := ask[captions](t, "blip.py", dir, files, prefixes)
	compareCaptions(t, dir, list, want)
	if !*update || t.Failed() {
		return
	}
	_, output := ask[captions](t, "blip.py", dir, describedImages(), prefixes)
	must.Do(t, os.WriteFile(filepath.Join("testdata", "blip.json"), []byte(output+"\n"), 0o644))
}
