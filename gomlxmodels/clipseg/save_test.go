package clipseg

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
)

// TestSave writes models that were read, of both kinds of decoder, and reads the same.
func TestSave(t *testing.T) {
	for _, name := range []string{"refined", "simple-gelu"} {
		m := must.Get(Open(filepath.Join("testdata", name)))(t)
		store := model.NewStore()
		defer store.Finalize()
		rules := weights.Table(append(clip.ImageRules(&m.cfg.Config, prefix), clip.TextRules(&m.cfg.Config, prefix)...))
		reduceRules(&rules, m.cfg)
		rules = append(rules, decoderTable(m.cfg)...)
		rules.Skip(prefix + "logit_scale")
		must.Do(t, weights.Load(store.RootScope(), m.Weights, rules, dtypes.Float32))
		cfg := *m.cfg
		cfg.Side = cfg.Vision.ImageSize
		dir := t.TempDir()
		must.Do(t, Save(dir, &cfg, store.RootScope(), 1.5, preprocess.Default(cfg.Side, cfg.Side), weights.F32))
		got := must.Get(Open(dir))(t)
		if !reflect.DeepEqual(got.cfg, &cfg) {
			t.Errorf("%s: configuration %+v, want %+v", name, got.cfg, cfg)
		}
		for _, tensor := range m.Weights.Names() {
			a, errA := m.Weights.Float32(tensor)
			if strings.HasSuffix(tensor, "position_ids") {
				continue
			}
			if strings.HasSuffix(tensor, "logit_scale") {
				a = []float32{1.5}
			}
			b, errB := got.Weights.Float32(tensor)
			if errA != nil || errB != nil || !slices.Equal(a, b) {
				t.Errorf("%s: %s differs (%v, %v)", name, tensor, errA, errB)
			}
		}
		cfg.Side *= 2
		// images of another size
		pre := preprocess.Default(cfg.Side, cfg.Side)
		must.Fail(Save(dir, &cfg, store.RootScope(), 1.5, pre, weights.F32))(t, "image_size")
	}
}
