package owlv2

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
)

// goldens are the folders tools/pyref/owlv2.py makes.
var goldens = []string{"quick-gelu", "gelu-odd-patch", "wide"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
	cases []goldenCase
}

// goldenCase is an image and texts; the tensors of a case begin with its number.
type goldenCase struct {
	Width, Height int
	Texts         []string
	IDs           [][]int32
	Found         []struct {
		Threshold float64
		Patches   []int
		Scores    []float64
		Boxes     [][4]float64
		Labels    []string
	}
}

// folder is a golden folder with its weights.
func folder(t testing.TB, name string) string {
	t.Helper()
	return modeltest.Computed(t, filepath.Join("testdata", name))
}

// openGolden opens a folder of testdata; openFolder one that has its weights.
func openGolden(t testing.TB, name string) golden {
	t.Helper()
	return openFolder(t, folder(t, name))
}

func openFolder(t testing.TB, dir string) golden {
	t.Helper()
	m := must.Get(Open(dir))(t)
	g := golden{Model: m, Golden: modeltest.Open(t, dir)}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "cases.json")))(t), &g.cases))
	return g
}

// prepared are a case's image and texts.
func (g golden) prepared(i int) (*Image, Caption) {
	g.T.Helper()
	img := must.Get(g.Prepare(modeltest.Image(g.cases[i].Width, g.cases[i].Height)))(g.T)
	c := must.Get(g.Caption(g.cases[i].Texts...))(g.T)
	return img, c
}

// detector is a detector that the test closes.
func (g golden) detector(backend compute.Backend, o Options) *Detector {
	g.T.Helper()
	d := must.Get(NewDetector(backend, g.Model, o))(g.T)
	g.T.Cleanup(d.Close)
	return d
}

// run evaluates one graph with its weights loaded.
func (g golden) run(backend compute.Backend, p part, fn func(*model.Scope, []*Node) []*Node, arg any) [][]float32 {
	g.T.Helper()
	return modeltest.Run(g.T, backend, func(s *model.Store) error {
		return weights.Load(s.RootScope(), g.Weights, table(g.cfg, p), dtypes.Float32)
	}, fn, arg)
}

// exactly is the bound of small networks.
func exactly(t testing.TB, stage string, got, want []float32) {
	t.Helper()
	absolute := 1e-5
	switch stage {
	case "logits":
		absolute = 1e-4 * near.Scale(want)
	case "boxes":
		absolute = 5e-5
	}
	near.Check(t, stage, got, want, 1e-4, absolute)
}

// checkGolden compares every stage with transformers, and what a detector returns at two thresholds.
func checkGolden(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	g.T = t
	for i := range g.cases {
		checkStages(g, backend, i, exactly)
	}
	checkDetector(g, backend)
}

// checkStages compares the stages of case i that the golden has, from the image and the texts.
func checkStages(g golden, backend compute.Backend, i int, compare modeltest.Stage) {
	t, side := g.T, g.cfg.Vision.ImageSize
	img, c := g.prepared(i)
	got := map[string][]float32{}
	for k, v := range img.Pixels {
		if y, x := k/side%side, k%side; y%3 == 0 && x%3 == 0 {
			got["pixels"] = append(got["pixels"], v)
		}
	}
	for k, ids := range c.IDs {
		must.EqualSlices(t, ids, g.cases[i].IDs[k], c.Texts[k], "tokens")
	}
	var names []string
	out := g.run(backend, imagePart, func(s *model.Scope, in []*Node) []*Node {
		p := ForwardImage(s, g.cfg, in[0], dtypes.Float32)
		names = []string{"embedded", "features", "classes", "shifts", "scales", "boxes"}
		list := []*Node{p.Embedded, p.Features, p.Classes, p.Shifts, p.Scales, p.Boxes}
		for n, b := range p.Blocks {
			names, list = append(names, fmt.Sprintf("block_%d", n)), append(list, b)
		}
		return list
	}, tensors.FromFlatDataAndDimensions(img.Pixels, 1, 3, side, side))
	for k, name := range names {
		got[name] = out[k]
	}
	for _, ids := range c.IDs {
		padded := append(slices.Clone(ids), make([]int32, g.cfg.Text.Context-len(ids))...)
		text := g.run(backend, textPart, func(s *model.Scope, in []*Node) []*Node {
			return []*Node{ForwardText(s, g.cfg, in[0], dtypes.Float32)}
		}, tensors.FromFlatDataAndDimensions(padded, 1, len(padded)))
		got["texts"] = append(got["texts"], text[0]...)
	}
	tensor := func(name string, dims ...int) *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(got[name], append(dims, len(got[name])/dims[0])...)
	}
	n := len(got["shifts"])
	logits := must.Get(CallOnce(backend, func(in []*Node) *Node {
		return Compare(Patches{Classes: InsertAxes(in[0], 0), Shifts: in[1], Scales: in[2]}, in[3])
	}, tensor("classes", n), tensor("shifts", 1), tensor("scales", 1), tensor("texts", len(c.IDs))))(t)
	got["logits"] = tensors.MustCopyFlatData[float32](logits)
	compared := 0
	for name, values := range got {
		if full := fmt.Sprintf("%d.%s", i, name); g.Set.Has(full) {
			compare(t, name, values, g.Values(full))
			compared++
		}
	}
	if want := 4; compared < want || i == 0 && compared != 8+g.cfg.Vision.Layers {
		t.Errorf("case %d: %d stages compared", i, compared)
	}
}

// checkDetector compares boxes, scores and labels of all cases.
func checkDetector(g golden, backend compute.Backend) {
	t, d := g.T, g.detector(backend, Options{})
	for i, c := range g.cases {
		img, caption := g.prepared(i)
		for _, want := range c.Found {
			got := must.Get(d.Detect(context.Background(), img, caption, DetectOptions{want.Threshold}))(t)
			if len(got) != len(want.Scores) || len(got) == 0 {
				t.Fatalf("case %d above %v: %d boxes, want %d", i, want.Threshold, len(got), len(want.Scores))
			}
			if !slices.IsSortedFunc(got, func(a, b Box) int { return int(1e9 * (b.Score - a.Score)) }) {
				t.Errorf("case %d: not in descending order of scores", i)
			}
			slices.SortFunc(got, func(a, b Box) int { return a.Query - b.Query })
			for k, b := range got {
				near.Check(t, "score", []float64{b.Score}, want.Scores[k:k+1], 1e-4, 1e-5)
				near.Check(t, "box", []float64{b.X0, b.Y0, b.X1, b.Y1}, want.Boxes[k][:], 0,
					1e-4*float64(max(c.Width, c.Height)))
				must.Equal(t, b.Label, want.Labels[k], "case", i, "box", k)
				must.Equal(t, b.Query, want.Patches[k], "case", i, "box", k)
			}
		}
	}
}
