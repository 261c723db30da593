//go:build checks

package checks

import (
	"context"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/metrics"
	"antipode/metrics/disparity"
	"antipode/test/testbackend"
)

// Crops of real photographs, EXIF-rotated, gray and alpha ones among them: their mirrored and slightly recolored
// copies are inside the manifold, recolored noise outside, for a ViT-B/16 with random weights. The shipped model
// was trained on drawings only and does not reliably separate noise from photographs, so its bound only requires that
// the two differ.
func TestPhotographs(t *testing.T) {
	testbackend.XLA(t)
	dir := t.TempDir()
	testbackend.Python(t, []string{"skimage", "sklearn", "PIL", "numpy", "torch", "transformers"}, "photographs.py",
		dir)
	must.Do(t, all.Use(filepath.Join(dir, "store")))
	defer client.Register(nil)
	for _, m := range []struct {
		model      string
		near, most float64 // least precision of near-copies, highest of noise
		by         [][]string
	}{
		{filepath.Join(dir, "vit"), 0.9, 0.1, [][]string{nil, {"subject"}}},
		{gomlxmodels.ArchipelagoViT, 0.9, 0.6, [][]string{nil}},
	} {
		embedded := func(set string) datasets.Table {
			return gomlxmodels.Embed(m.model,
				datasets.Images(filepath.Join(dir, set), datasets.ImagesOptions{By: "subject"}).Good())
		}
		for _, by := range m.by {
			near, noise := photographScores(t, embedded("real"), embedded("near"), by),
				photographScores(t, embedded("real"), embedded("noise"), by)
			for i := range near {
				if near[i] < m.near || noise[i] > m.most {
					t.Errorf("%s, line %d: precision of near-copies %.3f, wanted at least %.1f; of noise %.3f, "+
						"wanted at most %.1f", m.model, i, near[i], m.near, noise[i], m.most)
				}
			}
		}
	}
}

// photographScores returns the precision of each group and checks that no image was lost.
func photographScores(t *testing.T, real, generated datasets.Table, by []string) []float64 {
	t.Helper()
	f := must.Get(disparity.PrecisionCoverage(metrics.Sets{Real: real, Generated: generated},
		disparity.PrecisionCoverageOptions{By: by}).Rows(context.Background()))(t)
	t.Logf("by %v:\n%s", by, datasets.Format(f, 0))
	for i, n := range f.Numbers("n_used") {
		if f.Numbers("n_real")[i] != n || n < 60 {
			t.Errorf("%v real and %v generated images took part; there are as many of both, 60 of each subject",
				f.Numbers("n_real")[i], n)
		}
	}
	return f.Numbers("precision")
}
