//go:build checks

package groundingdino

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
)

// TestReal compares every stage with transformers at real size (grounding-dino-tiny's shape, 800×1066 pixels) and for
// shapes drawn from ANTIPODE_TEST_SEED, all with random weights, then the whole network, and prints the time of each
// part next to transformers'. ANTIPODE_PYTHON names the Python.
func TestReal(t *testing.T) {
	modeltest.Real(t, "groundingdino_real.py", 5, func(t *testing.T, xla compute.Backend, folder string) {
		g := openFolders(t, folder, folder)
		g.share = 1e-3
		if filepath.Base(folder) == "tiny" {
			measure(g, xla)
		}
		checkImageStages(g, xla)
		checkJoinStages(g, xla)
		checkInjected(g, xla)
	})
}

// checkInjected compares the whole network: its scores and which positions it selects, and its results from the
// reference's own selection.
func checkInjected(g golden, backend compute.Backend) {
	t := g.T
	img, c := g.prepared(0)
	v := view{g.whole(img.Size), len(c.IDs), 0}
	got := g.network(backend, v, Sigmoids{Epsilon: 1e-5}, []*Image{img}, []Caption{c}, g.batched("references"))
	scores := g.Values("scores")
	near.Check(t, "scores", got.scores, scores, 0, 1e-3*near.Scale(scores))
	last := func(values []float32) float32 { // the lowest score that is selected
		sorted := slices.Sorted(slices.Values(values))
		return sorted[len(sorted)-g.cfg.Queries]
	}
	ours, theirs, equal := last(got.scores), last(scores), 0
	for i, s := range scores {
		if s >= theirs && got.scores[i] >= ours {
			equal++
		}
	}
	if share := float64(equal) / float64(g.cfg.Queries); share < 0.99 {
		t.Errorf("%.4f of the selected positions are the reference's", share)
	}
	logits := g.Values("logits")
	near.Check(t, "logits", got.logits, logits, 0, 2e-3*near.Scale(logits))
	near.Check(t, "boxes", got.boxes, g.Values("boxes"), 0, 1e-3)
	difference := func(name string, got []float32) float64 {
		d, _ := near.Worst(got, g.Values(name))
		return d / near.Scale(g.Values(name))
	}
	t.Logf("differences: scores %.2g and logits %.2g of their scale, boxes %.2g; %d of %d selected positions equal",
		difference("scores", got.scores), difference("logits", got.logits),
		difference("boxes", got.boxes)*near.Scale(g.Values("boxes")), equal, g.cfg.Queries)
}

// measure prints what the three graphs take as the detector runs them: compiling, and the fastest of three runs.
func measure(g golden, backend compute.Backend) {
	t := g.T
	d := g.detector(backend, Options{})
	must.Do(t, d.Load())
	img, c := g.prepared(0)
	bucket, n := g.cfg.bucket(img.Size), g.cfg.length(len(c.IDs))
	pixels := func() *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(place(img, bucket), 1, 3, bucket.Height, bucket.Width)
	}
	run := func(what string, k key, inputs func() []*tensors.Tensor) []float32 {
		var of []shapes.Shape
		for _, x := range inputs() {
			of = append(of, x.Shape())
		}
		before := d.CompileTime()
		must.Do(t, d.graph(k).Ready(of...))
		compile, least := d.CompileTime()-before, time.Hour
		var out [][]float32
		for range 3 {
			in, begin := inputs(), time.Now()
			out = must.Get(d.graph(k).Call(in...))(t)
			least = min(least, time.Since(begin))
		}
		t.Logf("antipode: %s %.2f s, compiled in %.1f s", what, least.Seconds(), compile.Seconds())
		return out[0]
	}
	vision := run("image", key{imagePart, bucket, 0}, func() []*tensors.Tensor {
		return []*tensors.Tensor{pixels(), g.cfg.sizesTensor(img.Size)}
	})
	text := run("text", key{textPart, Size{}, n}, func() []*tensors.Tensor {
		return []*tensors.Tensor{rowTensor(c.IDs, n), rowTensor(c.Positions, n), rowTensor(c.Phrases, n)}
	})
	run("both", key{joinPart, bucket, n}, func() []*tensors.Tensor {
		return []*tensors.Tensor{
			tensors.FromFlatDataAndDimensions(vision, 1, len(vision)/g.cfg.Width, g.cfg.Width),
			tensors.FromFlatDataAndDimensions(text, 1, n, g.cfg.Width), g.cfg.sizesTensor(img.Size),
			rowTensor(c.Phrases, n), rowTensor(c.Positions, n)}
	})
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("no memory figures: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			t.Logf("antipode: %s, weights %d MiB", strings.Join(strings.Fields(line), " "), d.Bytes()>>20)
		}
	}
}
