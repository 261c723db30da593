//go:build checks

package sam

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestReal compares every stage with transformers at real size (sam-vit-base's shape) and for shapes drawn from
// ANTIPODE_TEST_SEED, all with random weights, from images to logits of the images' own size, and prints the time of
// each part next to transformers'. ANTIPODE_PYTHON names the Python.
func TestReal(t *testing.T) {
	scaled := modeltest.Scaled(1e-4, 2e-4, 0)
	modeltest.Real(t, "sam_real.py", 6, func(t *testing.T, xla compute.Backend, folder string) {
		g := openFolder(t, folder)
		if filepath.Base(folder) == "vit-base" {
			measure(g, xla)
		}
		checkReference(g, xla, scaled)
		checkEncoder(g, xla, scaled)
	})
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
