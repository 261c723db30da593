package diffusion

import (
	"context"
	"errors"
	"image"
	"math"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/must"
	"antipode/test/testbackend"
)

// The prompts and seeds of tools/pyref/diffusion.py.
const (
	prompt   = "a small house by the sea"
	negative = "blurry"
)

var seeds = []uint64{7, 1<<40 + 3}

func newSampler(t testing.TB, backend compute.Backend, m *Model, o Options) *Sampler {
	t.Helper()
	s := must.Get(NewSampler(backend, m, o))(t)
	t.Cleanup(s.Close)
	return s
}

// apart is the largest difference of two images' values, in 1/255.
func apart(t testing.TB, a, b *image.NRGBA) (worst int) {
	t.Helper()
	if a == nil || b == nil || a.Rect != b.Rect {
		t.Fatalf("images of different sizes, or none: %v, %v", a, b)
	}
	for i := range a.Pix {
		worst = max(worst, int(a.Pix[i])-int(b.Pix[i]), int(b.Pix[i])-int(a.Pix[i]))
	}
	return worst
}

// requests are the golden's images.
func (g golden) requests() (list []Request) {
	shape, guidance := g.want.Shape("image"), 7.5
	if _, alt := g.text.(*AltTextConfig); alt {
		guidance = 50 // GUIDANCE of tools/pyref/altdiffusion.py
	}
	for _, seed := range seeds {
		list = append(list, Request{Prompt: prompt, Negative: negative, Seed: seed, Steps: 20, Guidance: guidance,
			Height: shape[1], Width: shape[2]})
	}
	return list
}

// TestImagesEqualReference samples 20 steps of the folders' own scheduler, DDIM, or Euler's with noise, from the
// seeds of diffusers' run. XLA, fully optimizing, computes the built-in generators, in archipelago/weights.
func TestImagesEqualReference(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			checkImages(openGolden(t, filepath.Join("testdata", name)), testbackend.Go(t))
		})
	}
}

func checkImages(g golden, backend compute.Backend) {
	t := g.t
	s := newSampler(t, backend, g.Model, Options{})
	got := must.Get(s.Generate(t.Context(), g.requests(), nil))(t)
	want := g.want.Values("image")
	worst, n := 0.0, len(want)/len(got)
	for i, p := range got {
		for k, v := range p.Image.Pix {
			if k%4 == 3 {
				if v != 255 {
					t.Fatalf("image %d is not opaque", i)
				}
				continue
			}
			worst = max(worst, math.Abs(float64(v)-math.RoundToEven(float64(want[i*n+k/4*3+k%4]))))
		}
	}
	t.Logf("worst difference %v/255", worst)
	if worst > 2 {
		t.Errorf("worst difference %v/255, more than 2", worst)
	}
}

// TestBatches runs requests alone and among others, in one batch and in several.
func TestBatches(t *testing.T) {
	g := openGolden(t, filepath.Join("testdata", "bare"))
	backend := testbackend.Go(t)
	var list []Request
	for i := range 5 {
		list = append(list, Request{Prompt: "a boat", Seed: uint64(i), Steps: 4, Guidance: 1.5 + float64(i), Width: 16,
			Height: 16, Scheduler: "euler-ancestral"})
	}
	list[1].Width = 24   // another shape: a batch of its own
	list[2].Guidance = 1 // no guidance: so is this
	list[3].Prompt, list[4].Prompt = "the sea", ""
	alone := newSampler(t, backend, g.Model, Options{})
	want := must.Get(alone.Generate(t.Context(), list, nil))(t)
	finished, steps := 0, 0
	together := newSampler(t, backend, g.Model, Options{Batch: 2})
	got := must.Get(together.Generate(t.Context(), list, func(p Progress) {
		steps++
		if p.Result != nil {
			finished++
			if p.Result.Image == nil || p.Step != p.Steps {
				t.Errorf("%+v", p)
			}
		}
	}))(t)
	for i := range list {
		if d := apart(t, got[i].Image, want[i].Image); d > 1 {
			t.Errorf("request %d: alone and in a batch it differs by %d/255", i+1, d)
		}
	}
	must.Equal(t, finished, 5)
	must.Equal(t, steps, 5*(4+1))
	if d := apart(t, want[0].Image, want[3].Image); d < 8 {
		t.Errorf("another seed and prompt change the image by %d/255 only", d)
	}
}

func TestInterrupt(t *testing.T) {
	g := openGolden(t, filepath.Join("testdata", "bare"))
	s := newSampler(t, testbackend.Go(t), g.Model, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	list := make([]Request, 3)
	for i := range list {
		list[i] = Request{Prompt: "x", Seed: uint64(i), Steps: 5, Width: 16, Height: 16}
	}
	last := Progress{}
	got, err := s.Generate(ctx, list, func(p Progress) {
		last = p
		if p.Request == 1 && p.Step == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	must.Equal(t, last.Request, 1, "the work went on to")
	must.Equal(t, last.Step, 3, "the work went on to")
	if got[0].Image == nil || got[1].Image != nil || got[2].Image != nil {
		t.Errorf("kept: %v", got)
	}
}

// TestBatchSizes checks how many rows batches get: none to spare, and no graph compiled anew for the rest of a list.
func TestBatchSizes(t *testing.T) {
	s := &Sampler{sizes: map[group][]int{}}
	small, wide := group{steps: 20, width: 64, height: 64, guided: true},
		group{steps: 20, width: 96, height: 64, guided: true}
	for _, c := range []struct {
		g       group
		n, want int
	}{{small, 1, 1}, {small, 4, 4}, {small, 3, 4}, {small, 1, 1}, {small, 8, 8}, {small, 5, 8}, {small, 2, 4},
		{wide, 2, 2}, {wide, 1, 2}} {
		must.Equal(t, s.size(c.g, c.n), c.want, c.n, "images get", "rows")
		other := c.g
		other.steps, other.scheduler = 50, "euler"
		must.Equal(t, s.size(other, c.n), c.want, "with other steps", c.n, "images get")
	}
}

// TestJobs has one sampler do two jobs by turns, one of which is given up in the middle: the other's images are
// those of Generate.
func TestJobs(t *testing.T) {
	g := openGolden(t, filepath.Join("testdata", "bare"))
	s := newSampler(t, testbackend.Go(t), g.Model, Options{Batch: 2})
	list := []Request{{Prompt: "a boat", Seed: 1}, {Prompt: "the sea", Seed: 2}, {Prompt: "", Seed: 3}}
	for i := range list {
		list[i].Steps, list[i].Width, list[i].Height, list[i].Scheduler = 4, 16, 16, "euler-ancestral"
	}
	want := must.Get(s.Generate(t.Context(), list, nil))(t)
	other := Request{Prompt: "x", Seed: 9, Steps: 6, Width: 16, Height: 16}
	job := must.Get(s.Begin(list, nil))(t)
	defer job.Close()
	unrelated := must.Get(s.Begin([]Request{other}, nil))(t)
	pieces := 0
	for more := true; more; pieces++ {
		more = must.Get(job.Next())(t)
		if pieces < 4 {
			_ = must.Get(unrelated.Next())(t)
		} else {
			unrelated.Close()
		}
	}
	for i := range list {
		if d := apart(t, job.Results[i].Image, want[i].Image); d > 0 {
			t.Errorf("image %d differs by %d/255 from Generate's", i+1, d)
		}
	}
	if pieces != 2*(1+4)+3 || unrelated.Results[0].Image != nil {
		t.Errorf("%d pieces, the job that was given up made %v", pieces, unrelated.Results)
	}
	if more, err := job.Next(); more || err != nil {
		t.Errorf("after the last piece: %t, %v", more, err)
	}
	if more, err := unrelated.Next(); more || err != nil {
		t.Errorf("after Close: %t, %v", more, err)
	}
	again := must.Get(s.Begin(list, nil))(t)
	s.Close()
	_, err := again.Next()
	line(t, err, "the sampler is closed")
}
