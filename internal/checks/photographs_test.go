//go:build checks

package checks

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/all"
	"antipode/internal/testbackend"
	"antipode/kernel/client"
	"antipode/metrics"
)

// Crops of real photographs, EXIF-rotated, grey and alpha ones among them: their mirrored and recoloured copies lie inside the
// manifold, noise in the same colours lies outside. ANTIPODE_MODEL names another model than the shipped one.
func TestPhotographs(t *testing.T) {
	testbackend.XLA(t)
	dir := t.TempDir()
	python(t, []string{"skimage", "sklearn", "PIL", "numpy"}, "photographs.py", dir)
	if err := all.Use(filepath.Join(dir, "store")); err != nil {
		t.Fatal(err)
	}
	defer client.Register(nil)
	model := gomlxmodels.ArchipelagoViT
	if m := os.Getenv("ANTIPODE_MODEL"); m != "" {
		model = m
	}
	embedded := func(set string) datasets.Table {
		return gomlxmodels.Embed(model, datasets.Pictures(filepath.Join(dir, set), "subject").Good())
	}
	real := embedded("real")
	scores := map[string][]float64{}
	for _, set := range []string{"near", "noise"} {
		for _, by := range [][]string{nil, {"subject"}} {
			f, err := metrics.PrecisionCoverage(metrics.Sets{Real: real, Generated: embedded(set)}, metrics.By(by...)).Rows(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s:\n%s", set, datasets.Format(f, 0))
			scores[set] = append(scores[set], f.Numbers("precision")...)
			for i, n := range f.Numbers("n_used") {
				if f.Numbers("n_real")[i] != n || n < 60 {
					t.Errorf("%s: %v real and %v generated pictures took part; there are as many of both, 60 of each subject", set, f.Numbers("n_real")[i], n)
				}
			}
		}
	}
	for i := range scores["near"] {
		if near, noise := scores["near"][i], scores["noise"][i]; near < 0.9 || noise > 0.1 {
			t.Errorf("line %d: precision of near-copies %.3f, wanted at least 0.9; of noise %.3f, wanted at most 0.1", i, near, noise)
		}
	}
}
