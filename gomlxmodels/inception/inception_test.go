package inception

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// small makes the widths those of tools/pyref/inception.py.
func small(t testing.TB) {
	narrow = 16
	t.Cleanup(func() { narrow = 1 })
}

// TestEqualReference compares both variants with torch-fidelity and torchvision, on maps of 75 pixels.
func TestEqualReference(t *testing.T) {
	small(t)
	testbackend.Each(t, []string{"fid", "torchvision"}, checkReference)
}

func checkReference(t *testing.T, backend compute.Backend, name string) {
	dir := filepath.Join("testdata", name)
	m, g := must.Get(Open(dir))(t), modeltest.Open(t, dir)
	if cfg := m.cfg; cfg.FID != (name == "fid") || cfg.Classes != g.Shape("logits")[1] || !Is(dir) {
		t.Errorf("%+v", cfg)
	}
	got := modeltest.Run(t, backend, func(s *model.Store) error {
		return load(s.RootScope(), m.Weights, &m.cfg, dtypes.Float32)
	}, func(s *model.Scope, in []*Node) []*Node {
		pooled, logits := Forward(s, &m.cfg, in[0], dtypes.Float32)
		return []*Node{pooled, logits}
	}, texture(75))
	near.Check(t, "pooled", got[0], g.Values("pooled"), 1e-4, 1e-5)
	near.Check(t, "logits", got[1], g.Values("logits"), 1e-4, 1e-5)
	for i, what := range []string{"pooled", "logits"} {
		worst, _ := near.Worst(got[i], g.Values(what))
		t.Logf("%s: worst difference %.2g at scale %.3g", what, worst, near.Scale(g.Values(what)))
	}
}

// texture is the pixels of the reference, [2,3,side,side].
func texture(side int) *tensors.Tensor {
	var flat []float32
	for i := range 2 * 3 * side * side {
		x, y, c, b := i%side, i/side%side, i/side/side%3, i/side/side/3
		flat = append(flat, float32((3*x*x+5*x*y+7*y+91*c+57*b)%256-128)/128)
	}
	return tensors.FromFlatDataAndDimensions(flat, 2, 3, side, side)
}

// TestPrepare compares TensorFlow 1's resizing with torch-fidelity's, to the last bit.
func TestPrepare(t *testing.T) {
	small(t)
	dir := filepath.Join("testdata", "fid")
	m, g := must.Get(Open(dir))(t), modeltest.Open(t, dir)
	pixels := must.Get(m.Prepare(g.Image("picture")))(t)
	var some []float32
	for ch := range 3 {
		for y := 0; y < Side; y += 23 {
			for x := 0; x < Side; x += 29 {
				some = append(some, pixels[(ch*Side+y)*Side+x])
			}
		}
	}
	near.Check(t, "processed", some, g.Values("processed"), 0, 0)
	must.Fail(m.Prepare(nil))(t, "inception: no image")
}

func TestSuite(t *testing.T) {
	small(t)
	damaged := func(change func([]weights.Tensor) []weights.Tensor) func(testing.TB, string) {
		return func(t testing.TB, dir string) {
			path := filepath.Join(dir, "inception_v3_google-0cc3c7bd.pth")
			list := change(modeltest.TensorsOf(t, path))
			must.Do(t, weights.Save(path, list, nil, weights.F32))
		}
	}
	drop := func(name string) func(list []weights.Tensor) []weights.Tensor {
		return func(list []weights.Tensor) (out []weights.Tensor) {
			for _, w := range list {
				if w.Name != name {
					out = append(out, w)
				}
			}
			return out
		}
	}
	modeltest.Suite(t, modeltest.Model{
		Folder: "torchvision",
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
config.json<{ => config.json: not readable as JSON
config.json<{"architecture": "resnet50"} => architecture "resnet50" is not inception_v3
config.json<{"architecture": "inception_v3"} => holds no weights
config.json<{"architecture": "inception_v3", "pretrained_cfg": {"crop_mode": "border"}} => crop_mode "border" is not supported
inception_v3_google-0cc3c7bd.pth<abc => inception_v3_google-0cc3c7bd.pth: neither safetensors nor a file of torch.save
pt_inception-2015-12-05-6726825d.pth<abc => 2 files of an Inception v3
rm inception_v3_google-0cc3c7bd.pth => 0 files of an Inception v3 (pt_inception-*.pth, weights-inception-*.pth, inception_v3*.pth), not one, and no config.json`,
		Others: map[string]func(testing.TB, string){
			"1 tensor missing: Mixed_7c.branch3x3_2b.bn.bias": damaged(drop("Mixed_7c.branch3x3_2b.bn.bias")),
			"1 tensor missing: fc.bias":                       damaged(drop("fc.bias")),
			"no tensor fc.weight":                             damaged(drop("fc.weight")),
			`"Conv2d_1a_3x3.conv.weight" has shape [1 3 3 3]`: damaged(func(list []weights.Tensor) []weights.Tensor {
				for i := range list {
					if list[i].Name == "Conv2d_1a_3x3.conv.weight" {
						list[i].Shape, list[i].Data = []int{1, 3, 3, 3}, list[i].Data[:27]
					}
				}
				return list
			}),
			"1 tensor the model does not use: more": damaged(func(list []weights.Tensor) []weights.Tensor {
				return append(list, weights.Tensor{Name: "more", Shape: []int{1}, Data: []float32{1}})
			}),
		},
		Optimized: func(t *testing.T, xla compute.Backend) { checkReference(t, xla, "fid") },
	})
}

func TestEncoder(t *testing.T) {
	small(t)
	m := must.Get(Open(filepath.Join("testdata", "torchvision")))(t)
	e := must.Get(NewEncoder(testbackend.Go(t), m, Options{Batch: 2}))(t)
	defer e.Close()
	must.Fail(e.Encode(context.Background(), [][]float32{{1}}))(t, "image 1: 1 pixel values, the model takes 268203")
	must.Fail(NewEncoder(testbackend.Go(t), m, Options{DType: dtypes.Int32}))(t, "dtype Int32")
	must.Fail(NewEncoder(nil, m, Options{}))(t, "needs a backend")
	if e.Bytes() == 0 {
		t.Error("no weights are loaded")
	}
}
