package clip

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
)

// TestSave writes a model that was read, and reads the same.
func TestSave(t *testing.T) {
	m := must.Get(Open(filepath.Join("testdata", "gelu-odd-patch")))(t)
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, weights.Load(store.RootScope(), m.Weights, table(m.cfg, m.Weights, imageTower, textTower),
		dtypes.Float32))
	side := m.cfg.Vision.ImageSize
	pre := preprocess.Config{Resize: preprocess.ShortestEdge, Edge: side, CropHeight: side, CropWidth: side,
		Filter: preprocess.Bicubic, Torchvision: true,
		Scale: 1.0 / 255, Mean: preprocess.Half, Std: preprocess.ImageNetStd, Source: "preprocessor_config.json"}
	dir := t.TempDir()
	must.Do(t, Save(dir, m.cfg, store.RootScope(), 1.5, pre, weights.F32))
	got := must.Get(Open(dir))(t)
	if !reflect.DeepEqual(got.cfg, m.cfg) || got.Preprocess() != pre {
		t.Errorf("configuration %+v and preprocessing %+v, want %+v and %+v", got.cfg, got.Preprocess(), m.cfg, pre)
	}
	for _, name := range m.Weights.Names() {
		a, errA := m.Weights.Float32(name)
		b, errB := got.Weights.Float32(name)
		if name == logitScale {
			a = []float32{1.5}
		}
		if strings.HasSuffix(name, "position_ids") {
			continue
		}
		if errA != nil || errB != nil || !slices.Equal(a, b) {
			t.Errorf("%s differs (%v, %v)", name, errA, errB)
		}
	}
	pre.Resize, pre.Height, pre.Width, pre.CropHeight, pre.CropWidth = preprocess.Stretch, side, side, 0, 0
	must.Fail(Save(dir, m.cfg, store.RootScope(), 1.5, pre, weights.F32))(t, "CLIPImageProcessor") // stretching
}
