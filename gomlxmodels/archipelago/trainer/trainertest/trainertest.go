// Package trainertest tests training runs.
package trainertest

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/archipelago/trainer"
)

// Resume runs a job of four steps at once, and again with a stop and an export after two steps. It reports files of the
// exported folder that differ in a byte. It returns the folder of the first run and the loss curves of both.
func Resume(t *testing.T, backend compute.Backend, job *trainer.Job, files ...string) (dir string, once,
	twice []trainer.Point) {
	t.Helper()
	run := func(stops ...int) (string, []trainer.Point) {
		d, out := trainer.Folder(t.TempDir()), filepath.Join(t.TempDir(), "model")
		var curve []trainer.Point
		for _, until := range stops {
			err := d.Open(job.Settings)
			if err == nil {
				_, curve, err = job.RunAndExport(t.Context(), backend, d, until, out)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return out, curve
	}
	dir, once = run(4)
	resumed, twice := run(2, 4)
	for _, name := range files {
		if !Same(t, dir, resumed, name) {
			t.Errorf("%s differs after a stop", name)
		}
	}
	return dir, once, twice
}

// Same reports whether a file is equal in two folders.
func Same(t *testing.T, a, b, name string) bool {
	t.Helper()
	x, errX := os.ReadFile(filepath.Join(a, name))
	y, errY := os.ReadFile(filepath.Join(b, name))
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	return string(x) == string(y)
}

// Pixels checks that the pixels of a training example equal those of the model's preprocessing.
func Pixels(t *testing.T, example string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if math.Abs(float64(got[i]-w)) > 1e-6 {
			t.Fatalf("%s: pixel value %d is %v, preprocessing gives %v", example, i, got[i], w)
		}
	}
}
