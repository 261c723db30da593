package vit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// randomFolder saves a model of random weights in transformers' layout and opens it again.
func randomFolder(t testing.TB, cfg Config) *Model {
	t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range table(&cfg, HuggingFace, "", heads{}) {
		if r.Variable == "" || r.Part > 0 {
			continue
		}
		shape := append([]int(nil), r.Shape...)
		if r.As != nil {
			shape = append([]int(nil), r.As...)
		}
		if r.Parts > 1 {
			shape[0] *= r.Parts
		}
		n := 1
		for _, d := range shape {
			n *= d
		}
		scale := 1 / math.Sqrt(float64(shape[len(shape)-1]))
		flat := make([]float32, n)
		for i := range flat {
			flat[i] = float32(random.NormFloat64() * scale)
		}
		at, name := model.SplitPath("/" + r.Variable)
		_ = must.Get(store.Scope(at).CreateVariable(name, tensors.FromFlatDataAndDimensions(flat, shape...)))(t)
	}
	dir := t.TempDir()
	must.Do(t, Save(dir, &cfg, store.RootScope(), preprocess.Default(cfg.ImageSize[0], cfg.ImageSize[1]), 0, nil,
		weights.F32))
	return must.Get(Open(dir))(t)
}

// randomImages prepares n images of noise, with masks of random patches where masks.
func randomImages(cfg *Config, n int, masks bool, seed uint64) []*Prepared {
	random := rand.New(rand.NewPCG(seed, 3))
	out := make([]*Prepared, n)
	for i := range out {
		p := &Prepared{Pixels: make([]float32, cfg.NumChannels*cfg.ImageSize[0]*cfg.ImageSize[1])}
		for k := range p.Pixels {
			p.Pixels[k] = float32(random.NormFloat64())
		}
		if masks {
			p.Object = make([]bool, cfg.Patches())
			for k := range p.Object {
				p.Object[k] = random.IntN(2) == 0
			}
			p.Object[0], p.Object[1] = true, false
		}
		out[i] = p
	}
	return out
}

// BenchmarkEncode times embedding on the device, compiled before; img/s counts images, with full, object-only and
// background-only vectors in "masked".
func BenchmarkEncode(b *testing.B) {
	tiny := DefaultConfig()
	tiny.HiddenSize, tiny.Layers, tiny.Heads, tiny.IntermediateSize, tiny.ImageSize = 64, 2, 2, 128, Pair{64, 64}
	type size struct {
		name  string
		cfg   Config
		batch int
	}
	sizes := []size{{"tiny", tiny, 8}, {"ViT-B16", DefaultConfig(), 4}, {"ViT-B16", DefaultConfig(), 8},
		{"ViT-B16", DefaultConfig(), 16}}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, c := range sizes {
		for _, masks := range []bool{false, true} {
			kind := map[bool]string{false: "full", true: "masked"}[masks]
			b.Run(fmt.Sprintf("%s/%s/batch%d", c.name, kind, c.batch), func(b *testing.B) {
				m := randomFolder(b, c.cfg)
				e := must.Get(NewEncoder(testbackend.XLA(b), m, Options{Batch: c.batch}))(b)
				defer e.Close()
				images := randomImages(m.Config(), c.batch, masks, 4)
				_ = must.Get(e.Encode(context.Background(), images))(b)
				b.ResetTimer()
				for range b.N {
					_ = must.Get(e.Encode(context.Background(), images))(b)
				}
				b.ReportMetric(float64(b.N*c.batch)/b.Elapsed().Seconds(), "img/s")
				b.ReportMetric(e.CompileTime().Seconds(), "compile-s")
			})
		}
	}
}
