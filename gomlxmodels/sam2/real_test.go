//go:build checks

package sam2

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/sam"
	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestReal compares every stage with transformers at real size (sam2.1-hiera-tiny's shape) and for shapes drawn from
// ANTIPODE_TEST_SEED, all with random weights, from images to logits of the images' own size, and prints how long both
// take and their peak memory. ANTIPODE_PYTHON names the Python.
func TestReal(t *testing.T) {
	scaled := modeltest.Scaled(1e-4, 1e-4, 0)
	modeltest.Real(t, "sam2_real.py", 6, func(t *testing.T, xla compute.Backend, folder string) {
		if filepath.Base(folder) == "hiera-tiny" {
			measure(t, xla, folder)
		}
		g := openFolder(t, folder)
		checkReference(g, xla, scaled)
		checkEncoder(g, xla, scaled)
	})
}

// measure prints the seconds that an image takes and eight boxes of it, as sam2_real.py does.
func measure(t *testing.T, backend compute.Backend, folder string) {
	g := openFolder(t, folder)
	e := must.Get(NewEncoder(backend, g.Model, Options{}))(t)
	defer e.Close()
	p, boxes := g.prepared(0), slices.Repeat([]Box{{62, 21, 437, 375}}, sam.Boxes)
	var images, all []time.Duration
	for range 6 {
		start := time.Now()
		runner.Release(must.Get(e.graphs[imagePart].Image(e.dtype, p.Pixels, int(g.cfg.ImageSize)))(t)...)
		middle := time.Now()
		_ = must.Get(e.Segment(context.Background(), p, boxes))(t)
		images, all = append(images, middle.Sub(start)), append(all, time.Since(middle))
	}
	median := func(list []time.Duration) float64 {
		list = slices.Sorted(slices.Values(list[1:])) // the first compiles
		return list[len(list)/2].Seconds()
	}
	t.Logf("encoder %.3f s; both %.3f s, and so the decoder %.3f s; with compiling %.1f s", median(images), median(all),
		median(all)-median(images), (images[0] + all[0]).Seconds())
	status, err := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			t.Log("peak", strings.Fields(line)[1], "KiB")
		}
	}
	if err != nil {
		t.Log("no memory figures:", err)
	}
}
