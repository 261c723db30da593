//go:build checks

package dig_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/digin"
	"antipode/internal/testbackend"
)

// TestNotebook runs notebooks/decomposed_dig.ipynb through the built command on an archive in the layout of GeoDE, with
// random weights in the architectures of Stable Diffusion and of a ViT, by parameters alone. The photos are rendered
// images of two objects that the built-in segmenter knows; GeoDE's regions stand for the islands.
func TestNotebook(t *testing.T) {
	testbackend.XLA(t)
	evaluator(t)
	dir, regions := t.TempDir(), digin.GeoDERegions()
	reference := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 5}).Reference().
		Where("object", "in", []string{"boat", "drum"})
	f := rows(t, "reference", reference)
	keys := map[string]string{}
	var index strings.Builder
	index.WriteString("file_path,object,region\n")
	for i, island := range f.Texts("region") {
		if keys[island] == "" {
			keys[island] = regions[len(keys)].Key
		}
		data, err := os.ReadFile(f.Images("image")[i].Path)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%03d.png", i)
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&index, "%s,%s,%s\n", name, f.Texts("object")[i], keys[island])
	}
	if err := os.WriteFile(filepath.Join(dir, "index.csv"), []byte(index.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ANTIPODE_PLUGIN", "")
	work, binary := t.TempDir(), filepath.Join(t.TempDir(), "antipode")
	if out, err := exec.Command("go", "build", "-o", binary, "antipode").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	folder := func(name string) string {
		abs, err := filepath.Abs(network(name))
		if err != nil {
			t.Fatal(err)
		}
		return abs
	}
	notebook, err := os.ReadFile("../../notebooks/decomposed_dig.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "n.ipynb"), notebook, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) string {
		args := append([]string{"run", "n.ipynb", "-p", "photos=geode:" + dir, "-p", "objects=boat,drum", "-p", "n=4",
			"-p", "generator=" + folder("diffusion/testdata/sd1"), "-p", "segmenter=archipelago-clipseg",
			"-p", "encoder=" + folder("vit/testdata/hf-bf16-shards")}, more...)
		cmd := exec.Command(binary, args...)
		cmd.Dir = work
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run("-p", "plan=true"); !strings.Contains(out, "generate sd1") || !strings.Contains(out, "plan=true") {
		t.Errorf("the plan:\n%s", out)
	}
	run()
	page, err := os.ReadFile(filepath.Join(work, "n.out.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "the truth is not known") || !strings.Contains(string(page), "WestAsia") {
		t.Error("the page has no findings of GeoDE's regions")
	}
	file, err := os.Open(filepath.Join(work, "decomposed_dig.ledger.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	computed := 0
	for _, r := range records {
		if strings.HasPrefix(r[0], "Table 1, Orig.") && strings.Contains(strings.Join(r, ","), ",48,") {
			computed++
		}
	}
	if computed != 8 {
		t.Errorf("%d of 8 cells of Table 1 are computed from 48 images: %q", computed, records)
	}
}
