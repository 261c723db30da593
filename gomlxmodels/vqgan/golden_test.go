package vqgan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// goldens are the folders tools/pyref/vqgan.py makes.
var goldens = []string{"taming", "flax"}

// folder is a golden's folder with its weights.
func folder(t testing.TB, name string) string {
	t.Helper()
	return modeltest.Computed(t, filepath.Join("testdata", name))
}

// TestImages compares images with torch's: in float32, and as pixels within 1/255.
func TestImages(t *testing.T) {
	testbackend.Each(t, goldens, checkImages)
}

func checkImages(t *testing.T, backend compute.Backend, name string) {
	dir := folder(t, name)
	m := must.Get(Open(dir))(t)
	g := modeltest.Open(t, dir)
	load := func(s *model.Store) error { return m.Load(s, dtypes.Float32) }
	got := modeltest.Run(t, backend, load, func(s *model.Scope, in []*Node) []*Node {
		return []*Node{Forward(s, m.Config, in[0], diffusion.GraphOptions{})}
	}, g.IntTensor("codes"))[0]
	want := g.Values("image")
	near.Check(t, "image", got, want, 1e-4, 1e-4*near.Scale(want))
	side := m.Config.Resolution
	for _, r := range []Range{ZeroToOne, MinusOneToOne} {
		seen := map[uint8]bool{}
		for b := range 2 {
			flat := got[b*side*side*3 : (b+1)*side*side*3]
			img := r.Image(flat, side)
			for i := range side * side * 3 {
				v := float64(want[b*side*side*3+i])
				if r == MinusOneToOne {
					v = 0.5*v + 0.5
				}
				exact := min(max(v, 0), 1) * 255
				pixel := img.Pix[i/3*4+i%3]
				seen[pixel] = true
				if d := float64(pixel) - exact; d > 0.1 || d < -1.1 {
					t.Fatalf("image %d, value %d: %d, want %v rounded down", b, i, pixel, exact)
				}
			}
		}
		if len(seen) < 20 || !seen[0] || !seen[255] {
			t.Errorf("only %d values of pixels", len(seen))
		}
	}
}

func TestRefuses(t *testing.T) {
	for want, change := range map[string]map[string]any{
		"config.json: ch 33 not divisible by 32":               {"ch": 33},
		"config.json: out_ch 1 is not supported":               {"out_ch": 1},
		"config.json: resolution 9 is not":                     {"resolution": 9},
		"config.json: give_pre_end true is not supported":      {"give_pre_end": true},
		"config.json: resamp_with_conv false is not supported": {"resamp_with_conv": false},
		"config.json: ch_mult: 0 levels":                       {"ch_mult": []int{}},
		"config.json: not readable as JSON":                    {"ch": "x"},
		"requires [25 32]":                                     {"n_embed": 25},
		"missing: decoder.up.0.attn.0":                         {"attn_resolutions": []int{4, 8}},
		"the model does not use: decoder.up.1.attn":            {"attn_resolutions": []int{}},
	} {
		dir := folder(t, "taming")
		modeltest.Edit(t, filepath.Join(dir, "config.json"), change)
		must.Fail(Open(dir))(t, want)
	}
	dir := folder(t, "flax")
	must.Do(t, os.Truncate(filepath.Join(dir, "model.safetensors"), 5000))
	must.Fail(Open(dir))(t, "model.safetensors")
	must.Fail(Open(t.TempDir()))(t, "config.json")
}

// TestSuite: what every network has.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Optimized: func(t *testing.T, xla compute.Backend) { checkImages(t, xla, "flax") },
	})
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
