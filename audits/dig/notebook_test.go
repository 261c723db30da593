//go:build checks

package dig_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/digin"
	"antipode/internal/must"
	"antipode/test/testbackend"
	"antipode/test/testengine"
	"antipode/test/testnotebook"
)

// TestNotebook runs notebooks/decomposed_dig.ipynb through the built command on an archive in the layout of GeoDE, with
// random weights in the architectures of Stable Diffusion and of a ViT, by parameters alone. The photos are rendered
// images of two objects that the built-in segmenter knows; GeoDE's regions stand for the islands.
func TestNotebook(t *testing.T) {
	testbackend.XLA(t)
	testengine.Use(t)
	dir, regions := t.TempDir(), digin.GeoDERegions()
	reference := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 5}).Reference().
		Where("object", "in", []string{"boat", "drum"})
	f := testengine.Rows(t, "reference", reference)
	keys := map[string]string{}
	var index strings.Builder
	index.WriteString("file_path,object,region\n")
	for i, island := range f.Texts("region") {
		if keys[island] == "" {
			keys[island] = regions[len(keys)].Key
		}
		data := must.Get(os.ReadFile(f.Images("image")[i].Path))(t)
		name := fmt.Sprintf("%03d.png", i)
		must.Do(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		fmt.Fprintf(&index, "%s,%s,%s\n", name, f.Texts("object")[i], keys[island])
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "index.csv"), []byte(index.String()), 0o600))
	notebook := testnotebook.Open(t, "decomposed_dig")
	other := filepath.Join(t.TempDir(), "other") // the same model under another name
	must.Do(t, os.CopyFS(other, os.DirFS(network("diffusion/testdata/sd1"))))
	parameters := []string{"photos=geode:" + dir, "objects=boat,drum", "n=4",
		"generator=" + testnotebook.Folder(t, network("diffusion/testdata/sd1")) + "," + other,
		"segmenter=archipelago-clipseg",
		"encoder=" + testnotebook.Folder(t, network("vit/testdata/hf-bf16-shards"))}
	if out := notebook.Run(append(parameters, "plan=true")...); !strings.Contains(out, "generate sd1") ||
		!strings.Contains(out, "plan=true") {
		t.Errorf("the plan:\n%s", out)
	}
	notebook.Run(parameters...)
	page := notebook.Page()
	if !strings.Contains(page, "the truth is not known") || !strings.Contains(page, "WestAsia") ||
		!strings.Contains(page, "Gaps in coverage") || !strings.Contains(page, "Low-realism backgrounds: other") {
		t.Error("the page has no findings of GeoDE's regions")
	}
	computed := 0
	for item, row := range notebook.Ledger() {
		if strings.HasPrefix(item, "Table 1, Orig.") && strings.Contains(strings.Join(row, ","), ",48,") {
			computed++
		}
	}
	must.Equal(t, computed, 8, "of 8 cells of Table 1 are computed from 48 images")
}
