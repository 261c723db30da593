package modeltest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/preprocess"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// Stage compares the values of a stage of a network with the reference's.
type Stage func(t testing.TB, stage string, got, want []float32)

// Within wants every |got − want| ≤ absolute + relative·|want|.
func Within(relative, absolute float64) Stage {
	return func(t testing.TB, stage string, got, want []float32) {
		t.Helper()
		near.Check(t, stage, got, want, relative, absolute)
	}
}

// Scaled is [Within] with the absolute bound as a part of the scale of the wanted values, which is least or more.
func Scaled(relative, absolute, least float64) Stage {
	return func(t testing.TB, stage string, got, want []float32) {
		t.Helper()
		near.Check(t, stage, got, want, relative, absolute*max(least, near.Scale(want)))
	}
}

// Stages returns a function that compares a stage with the golden's tensor of its name, and logs the worst difference
// of all stages when the test ends.
func (g Golden) Stages(compare Stage) func(stage string, got []float32) {
	worst, at := 0.0, ""
	g.T.Cleanup(func() { g.T.Logf("worst difference of any stage: %.2g of its scale (%s)", worst, at) })
	return func(stage string, got []float32) {
		g.T.Helper()
		want := g.Values(stage)
		compare(g.T, stage, got, want)
		d, _ := near.Worst(got, want)
		if d /= near.Scale(want); d > worst {
			worst, at = d, stage
		}
	}
}

// Image is an image of a size, as tools/pyref/groundingdino.py computes it.
func Image(width, height int) *preprocess.RGB {
	p := preprocess.NewRGB(width, height)
	for i := range width * height {
		x, y := i%width, i/width
		p.Pix[3*i], p.Pix[3*i+1], p.Pix[3*i+2] = uint8(x*5+y*3), uint8(x*y), uint8((x*x+7*y)%251)
	}
	return p
}

// Real runs a script of tools/pyref, which makes n folders of models and their goldens at real size and of shapes drawn
// from the seed, and a test of each. ANTIPODE_PYTHON names the Python.
func Real(t *testing.T, script string, n int, test func(t *testing.T, xla compute.Backend, folder string)) {
	xla, dir := testbackend.XLA(t), t.TempDir()
	t.Logf("\n%s", testbackend.Python(t, []string{"torch", "torchvision", "transformers", "PIL"},
		filepath.Join("..", "..", "tools", "pyref", script), dir, fmt.Sprint(near.Seed(t))))
	folders, err := filepath.Glob(filepath.Join(dir, "*", "config.json"))
	if err != nil || len(folders) != n {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	for _, config := range folders {
		folder := filepath.Dir(config)
		t.Run(filepath.Base(folder), func(t *testing.T) { test(t, xla, folder) })
	}
}

// Canceled is a context that ended.
func Canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
