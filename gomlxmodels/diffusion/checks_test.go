//go:build checks

package diffusion

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"

	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// modules are what the scripts of tools/pyref import.
var modules = []string{"torch", "transformers", "diffusers", "safetensors"}

// python runs a script of tools/pyref.
func python(t *testing.T, script string, args ...string) string {
	return testbackend.Python(t, modules, filepath.Join("..", "..", "tools", "pyref", script), args...)
}

// TestFresh compares folders freshly saved by diffusers, of shapes sampled from ANTIPODE_TEST_SEED, one for each
// scheduler.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	t.Logf("\n%s", python(t, "diffusion_fresh.py", dir, fmt.Sprint(near.Seed(t))))
	folders, err := filepath.Glob(filepath.Join(dir, "*", "model_index.json"))
	if err != nil || len(folders) != 5 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	for i, index := range folders {
		folder := filepath.Dir(index)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			g, backend := openGolden(t, folder), testbackend.Go(t)
			if i == int(near.Seed(t)%5) { // XLA takes seconds to compile each
				backend = testbackend.XLA(t)
			}
			checkReference(g, backend)
			checkImages(g, backend)
		})
	}
}

// TestFreshAlt is the first half of TestFresh for AltDiffusion's pipelines; the images are compared through the
// command, in package generate.
func TestFreshAlt(t *testing.T) {
	dir := t.TempDir()
	t.Logf("\n%s", testbackend.Python(t, append(modules, "sentencepiece"),
		filepath.Join("..", "..", "tools", "pyref", "altdiffusion_fresh.py"), dir, fmt.Sprint(near.Seed(t))))
	for i, name := range []string{"two", "nine", "plain", "pieces2", "pieces9"} {
		t.Run(name, func(t *testing.T) {
			backend := testbackend.Go(t)
			if i == int(near.Seed(t)%5) {
				backend = testbackend.XLA(t)
			}
			checkReference(openGolden(t, filepath.Join(dir, name)), backend)
		})
	}
}

// TestReal compares Stable Diffusion 1.5's shape with random weights: text tower, a step of the UNet and a decoding
// of 512×512. It needs 15 GiB of memory and 2 GiB of disk. ANTIPODE_DIFFUSION_REAL names a folder that
// tools/pyref/diffusion_real.py made; without it one is made.
func TestReal(t *testing.T) {
	backend := testbackend.XLA(t)
	dir := os.Getenv("ANTIPODE_DIFFUSION_REAL")
	if dir == "" {
		dir = t.TempDir()
		t.Logf("diffusers: %s", python(t, "diffusion_real.py", dir, fmt.Sprint(near.Seed(t)), "3"))
	}
	g := openGolden(t, dir)
	s := newSampler(t, backend, g.Model, Options{})
	scale := g.want.Tensor("z")
	must.Do(t, tensors.MutableFlatData(scale, func(flat []float32) {
		for i := range flat {
			flat[i] *= float32(g.vae.ScalingFactor)
		}
	}))
	// The sampler's UNet takes one timestep and answers for prompt and negative prompt at once: guidance 1 gives the
	// answer to the prompt alone, 0 the other.
	sample, context := g.want.Values("sample"), g.want.Values("context")
	half := len(sample) / 2
	shape := g.want.Shape("sample")
	for _, c := range []struct {
		name   string
		part   part
		inputs []*tensors.Tensor
		want   []float32
	}{
		{"text", textPart, []*tensors.Tensor{g.want.IntTensor("ids")}, g.want.Values("text")},
		{"unet", unetPart, []*tensors.Tensor{
			tensors.FromFlatDataAndDimensions(sample[half:], 1, shape[1], shape[2], shape[3]),
			tensors.FromFlatDataAndDimensions([]float32{g.want.Values("t")[1], 1}, 2),
			tensors.FromFlatDataAndDimensions(context, 2, 77, g.unet.ContextDim),
			tensors.FromFlatDataAndDimensions([]float32{1}, 1),
		}, g.want.Values("unet")[half:]},
		{"decoder", decoderPart, []*tensors.Tensor{scale}, g.want.Values("decoder")},
	} {
		best, first := 0.0, 0.0
		var got []float32
		for i := range 3 {
			begin := time.Now()
			out := must.Get(s.graphs[c.part].Results(c.inputs...))(t)
			got = tensors.MustCopyFlatData[float32](out[0])
			runner.Release(out...)
			switch seconds := time.Since(begin).Seconds(); {
			case i == 0:
				first = seconds
			case best == 0 || seconds < best:
				best = seconds
			}
		}
		runner.Release(c.inputs...)
		d, _ := near.Worst(got, c.want)
		size := near.Scale(c.want)
		t.Logf("%s: %.2f s (loading, compiling and the first run %.1f s), peak of the process so far %s; worst "+
			"difference %.2g at scale %.3g: %.2g of it",
			c.name, best, first, peak(), d, size, d/size)
		if d > 1e-3*size {
			t.Errorf("%s: worst difference %.3g is more than 1e-3 of the scale %.3g", c.name, d, size)
		}
	}
	report, _ := json.Marshal(map[string]any{"weights_MiB": s.Bytes() >> 20})
	t.Logf("%s", report)
}

// peak is the most memory the process has held, where the system reports it.
func peak() string {
	text, _ := os.ReadFile("/proc/self/status")
	if m := regexp.MustCompile(`VmHWM:\s*(\d+ kB)`).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "unknown"
}

// TestHalfPrecision samples in 16 bits: near the same image, and not the same.
func TestHalfPrecision(t *testing.T) {
	for _, name := range []string{"sd2", "alt9"} { // sd2's attention stays in float32
		g := openGolden(t, filepath.Join("testdata", name))
		g.withoutChecker()
		list := []Request{{Prompt: prompt, Seed: 3, Steps: 3, Guidance: 2, Width: 16, Height: 16}}
		want := must.Get(newSampler(t, testbackend.Go(t), g.Model, Options{}).Generate(t.Context(), list, nil))(t)
		got := must.Get(newSampler(t, testbackend.XLA(t), g.Model,
			Options{DType: dtypes.BFloat16}).Generate(t.Context(), list, nil))(t)
		sum := 0.0
		for i, v := range want[0].Image.Pix {
			sum += math.Abs(float64(v) - float64(got[0].Image.Pix[i]))
		}
		mean := sum / float64(len(want[0].Image.Pix))
		t.Logf("%s: mean difference %.2f/255", name, mean)
		if mean == 0 || mean > 8 {
			t.Errorf("%s: mean difference %.3g/255 is not between 0 and 8", name, mean)
		}
	}
}

// TestFreshFile compares single files of shapes sampled from ANTIPODE_TEST_SEED with what diffusers makes of them: all
// tensors of the written folder, and images of the file and of the folder.
func TestFreshFile(t *testing.T) {
	dir := t.TempDir()
	t.Logf("\n%s", python(t, "ldm.py", "fresh", dir, fmt.Sprint(near.Seed(t))))
	for i, name := range []string{"one", "two", "vee"} {
		t.Run(name, func(t *testing.T) {
			theirs := filepath.Join(dir, name)
			file, kind := theirs+".safetensors", map[string]string{"one": "epsilon: a 1.x model",
				"two": "epsilon: its global_step is 875000", "vee": "v_prediction: the standard deviation"}[name]
			if name == "two" {
				file = theirs + ".ckpt"
			}
			m := must.Get(OpenFile(file, FileOptions{ConfigFrom: theirs}))(t)
			if notes := m.Corrections(); len(notes) != 1 || !strings.HasPrefix(notes[0], "prediction type "+kind) {
				t.Errorf("notes %q", notes)
			}
			own := filepath.Join(dir, "own", name)
			must.Do(t, m.SaveFolder(t.Context(), own))
			want := must.Get(Open(theirs, OpenOptions{}))(t)
			folder := must.Get(Open(own, OpenOptions{}))(t)
			tensors := 0
			for p, set := range want.sets {
				if set == nil {
					continue
				}
				for _, tensor := range set.Names() {
					mine := tensor
					if part(p) == textPart && !strings.HasPrefix(tensor, "text_model.") {
						mine = "text_model." + tensor
					}
					a := must.Get(folder.sets[p].Float32(mine))(t)
					must.EqualSlices(t, a, must.Get(set.Float32(tensor))(t), tensor, "differs")
					tensors++
				}
				must.Equal(t, len(folder.sets[p].Names()), len(set.Names()), "part", p, "tensors")
			}
			golden := must.Get(weights.OpenFiles(filepath.Join(theirs, "reference.safetensors")))(t)
			backend := testbackend.Go(t)
			if i == int(near.Seed(t)%3) {
				backend = testbackend.XLA(t)
			}
			for _, model := range []*Model{m, folder} {
				worst := 0.0
				for k, text := range []string{prompt, "the sea, the sea"} {
					out, err := newSampler(t, backend, model, Options{}).Generate(t.Context(), []Request{{Prompt: text,
						Negative: "blurry", Seed: 5, Steps: 8, Guidance: 7.5, Width: 40, Height: 32}}, nil)
					if err != nil {
						t.Fatal(err)
					}
					values := must.Get(golden.Float32(fmt.Sprintf("image_%d", k)))(t)
					pix := out[0].Image.Pix
					if len(pix)/4 != len(values)/3 {
						t.Fatalf("%d pixels, want %d", len(pix)/4, len(values)/3)
					}
					for j, v := range values {
						worst = max(worst, math.Abs(float64(v)-float64(pix[j/3*4+j%3])))
					}
				}
				t.Logf("%d tensors equal; images: worst difference %.2f/255", tensors, worst)
				if worst > 2 {
					t.Errorf("worst difference %.2f/255", worst)
				}
			}
		})
	}
}
