package blip

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

// TestSave: a folder that was written opens as the model it was written from.
func TestSave(t *testing.T) {
	for _, name := range []string{"base", "large"} {
		from, err := Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		store := model.NewStore()
		defer store.Finalize()
		if err := weights.Load(store.RootScope(), from.Weights, table(from.cfg), dtypes.Float32); err != nil {
			t.Fatal(err)
		}
		dir, side := t.TempDir(), from.cfg.Vision.ImageSize
		pre := preprocess.Default(side, side)
		if err := Save(dir, from.cfg, store.RootScope(), pre, weights.F32); err != nil {
			t.Fatal(err)
		}
		to, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if *to.cfg != *from.cfg {
			t.Errorf("%s: the configuration was %+v, is %+v", name, *from.cfg, *to.cfg)
		}
		if got := to.Preprocess(); got.Filter != pre.Filter || got.Mean != pre.Mean || got.Resize != pre.Resize ||
			got.Height != side {
			t.Errorf("%s: the preprocessing is %+v", name, got)
		}
		for _, tensor := range to.Weights.Names() {
			want, err := from.Weights.Float32(tensor)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := to.Weights.Float32(tensor); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s differs (%v)", name, tensor, err)
			}
		}
	}
	wrong := DefaultConfig()
	wrong.Text.Heads = 7
	err := Save(t.TempDir(), &wrong, model.NewStore().RootScope(), preprocess.Default(384, 384), weights.F32)
	modeltest.CheckLine(t, err, "not divisible")
}
