//go:build checks

package owlv2

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"

	"github.com/gomlx/compute"
)

// TestReal compares every stage with transformers at real size (owlv2-base-patch16-ensemble's shape) and for shapes
// drawn from ANTIPODE_TEST_SEED, all with random weights, and prints the time of both at real size. ANTIPODE_PYTHON
// names the Python.
func TestReal(t *testing.T) {
	scaled := modeltest.Scaled(1e-4, 1e-4, 0)
	modeltest.Real(t, "owlv2_real.py", 6, func(t *testing.T, xla compute.Backend, folder string) {
		g := openFolder(t, folder)
		if filepath.Base(folder) == "base-patch16" {
			compareTimes(t, g.detector(xla, Options{}), folder)
		}
		for i := range g.cases {
			checkStages(g, xla, i, func(t testing.TB, name string, got, want []float32) {
				t.Helper()
				worst, _ := near.Worst(got, want)
				t.Logf("%s: worst difference %.2g of scale %.2g", name, worst, near.Scale(want))
				scaled(t, name, got, want)
			})
		}
	})
}

// compareTimes prints the least time of five runs of both, and the memory at the peak.
func compareTimes(t *testing.T, d *Detector, dir string) {
	text := must.Get(os.ReadFile(filepath.Join(dir, "times.json")))(t)
	var peer map[string]float64
	must.Do(t, json.Unmarshal(text, &peer))
	must.Do(t, d.Load())
	img := must.Get(d.m.Prepare(modeltest.Image(1024, 683)))(t)
	for name, run := range map[string]func() error{
		"image": func() error { return d.see(img) },
		"text": func() error {
			clear(d.texts)
			_, err := d.text(context.Background(), []int32{523, 515, 524})
			return err
		},
	} {
		wall, cpu := math.Inf(1), math.Inf(1)
		for i := range 6 { // the first compiles
			start, before := time.Now(), processTime(t)
			must.Do(t, run())
			if i > 0 {
				wall, cpu = min(wall, time.Since(start).Seconds()), min(cpu, processTime(t)-before)
			}
		}
		t.Logf("%s: %.3f s (%.3f s of CPU), transformers %.3f s (%.3f s): %.2f times as fast", name, wall, cpu,
			peer[name], peer[name+"_cpu"], peer[name]/wall)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		t.Logf("peak: %s, transformers %.0f kB", regexp.MustCompile(`VmHWM:\s*(.*)`).FindSubmatch(status)[1],
			peer["peak"]/1024)
	}
}

// processTime is the CPU time of this process in seconds.
func processTime(t *testing.T) float64 {
	t.Helper()
	var u syscall.Rusage
	must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
