//go:build checks

package sam

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestReal compares every stage with transformers at real size (sam-vit-base's shape) and for shapes drawn from
// ANTIPODE_TEST_SEED, all with random weights, from images to logits of the images' own size, and prints the time of
// each part next to transformers'. ANTIPODE_PYTHON names the Python.
func TestReal(t *testing.T) {
	backend := testbackend.XLA(t)
	dir := t.TempDir()
	t.Logf("\n%s", testbackend.Python(t, []string{"torch", "torchvision", "transformers", "PIL"},
		"../../tools/pyref/sam_real.py", dir, fmt.Sprint(near.Seed(t))))
	folders, err := filepath.Glob(filepath.Join(dir, "*", "config.json"))
	if err != nil || len(folders) != 6 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	// A difference counts against the scale of its stage.
	scaled := func(t testing.TB, name string, got, want []float32) {
		t.Helper()
		near.Check(t, name, got, want, 1e-4, 2e-4*near.Scale(want))
	}
	for _, config := range folders {
		folder := filepath.Dir(config)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			g := openFolder(t, folder)
			if filepath.Base(folder) == "vit-base" {
				measure(g, backend)
			}
			checkReference(g, backend, scaled)
			checkEncoder(g, backend, scaled)
		})
	}
}

// measure prints what the two graphs take as the encoder runs them: compiling, and the fastest of three runs.
func measure(g golden, backend compute.Backend) {
	t := g.T
	e := must.Get(NewEncoder(backend, g.Model, Options{}))(t)
	defer e.Close()
	side, grid := g.cfg.Vision.ImageSize, g.cfg.Vision.Grid()
	image := func() []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(make([]float32, 3*side*side), 1, 3, side, side)}
	}
	boxes := func() []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromShape(shapes.Make(dtypes.Float32, 1, grid, grid,
			g.cfg.Decoder.HiddenSize)), tensors.FromFlatDataAndDimensions(make([]float32, 4*Boxes), Boxes, 4)}
	}
	for p, inputs := range map[part]func() []*tensors.Tensor{imagePart: image, masksPart: boxes} {
		before, least := e.CompileTime(), time.Hour
		for range 4 { // the first compiles
			in, begin := inputs(), time.Now()
			_ = must.Get(e.graphs[p].Call(in...))(t)
			least = min(least, time.Since(begin))
		}
		t.Logf("antipode: %s %.2f s, compiled in %.1f s", map[part]string{imagePart: "image", masksPart: "8 boxes"}[p],
			least.Seconds(), (e.CompileTime() - before).Seconds())
	}
}
