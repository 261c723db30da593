package blip

import (
	"path/filepath"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
)

// TestSave: a folder that was written opens as the model it was written from.
func TestSave(t *testing.T) {
	for _, name := range []string{"base", "large"} {
		from := must.Get(Open(filepath.Join("testdata", name)))(t)
		store := model.NewStore()
		defer store.Finalize()
		must.Do(t, weights.Load(store.RootScope(), from.Weights, table(from.cfg), dtypes.Float32))
		dir, side := t.TempDir(), from.cfg.Vision.ImageSize
		pre := preprocess.Default(side, side)
		must.Do(t, Save(dir, from.cfg, store.RootScope(), pre, weights.F32))
		to := must.Get(Open(dir))(t)
		must.Equal(t, *to.cfg, *from.cfg, name, "the configuration was")
		if got := to.Preprocess(); got.Filter != pre.Filter || got.Mean != pre.Mean || got.Resize != pre.Resize ||
			got.Height != side {
			t.Errorf("%s: the preprocessing is %+v", name, got)
		}
		for _, tensor := range to.Weights.Names() {
			want := must.Get(from.Weights.Float32(tensor))(t)
			must.EqualSlices(t, must.Get(to.Weights.Float32(tensor))(t), want, name, tensor, "differs")
		}
	}
	wrong := DefaultConfig()
	wrong.Text.Heads = 7
	must.Fail(Save(t.TempDir(), &wrong, model.NewStore().RootScope(), preprocess.Default(384, 384), weights.F32))(t,
		"not divisible")
}
