package blip

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"gonum.org/v1/gonum/stat/distuv"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// TestWords takes an image of bytes to a caption in words, as transformers' processor, generate and batch_decode do.
func TestWords(t *testing.T) {
	g := openGolden(t, "base")
	pixels := must.Get(g.Prepare(g.Image("picture")))(t)
	near.Check(t, "pixels", pixels, g.Values("processed"), 0, 1e-5)
	var lines []struct {
		Prefix, Text string
		IDs          []int32
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(g.Dir, "texts.json")))(t), &lines))
	must.Equal(t, len(lines), 2)
	c := newCaptioner(t, testbackend.Go(t), g.Model, textgen.CaptionerOptions{})
	for _, l := range lines {
		prompt := must.Get(g.Prompt(l.Prefix))(t)
		out := must.Get(c.Caption(t.Context(), []textgen.ImageRequest{{Pixels: pixels, Prompt: prompt}},
			textgen.Options{MaxTokens: 9}))(t)
		tokens := out[0][0].Tokens
		if ids := slices.Concat(prompt, tokens); !slices.Equal(ids, l.IDs[:min(len(ids), len(l.IDs))]) ||
			len(ids) < len(l.IDs)-1 {
			t.Errorf("%q: tokens %v, transformers writes %v", l.Prefix, ids, l.IDs)
		}
		must.Equal(t, must.Get(g.Text(prompt, tokens))(t), l.Text, l.Prefix, "transformers writes")
	}
	must.Fail(g.Prompt("an image of Ω"))(t, "lacks part of it")
	bare := openGolden(t, "large")
	must.EqualSlices(t, must.Get(bare.Prompt(""))(t), []int32{96}, "no prefix")
	must.Fail(bare.Prompt("a"))(t, "no tokenizer")
}

// drawn requests sampled captions of all images of a golden.
func drawn(g golden, number int) (requests []textgen.ImageRequest) {
	for i, p := range g.images() {
		r := textgen.ImageRequest{Pixels: p, Image: string(rune('a' + i)), Prompt: []int32{96, 7, 14}}
		for k := range number {
			r.Seeds = append(r.Seeds, uint64(1000*i+k))
		}
		requests = append(requests, r)
	}
	return requests
}

// TestAlone: a caption is the same, to the last bit of its log-probability, alone and among others, at any place.
func TestAlone(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		g := openGolden(t, "base")
		for i, s := range []textgen.Options{
			{MaxTokens: 14, Sample: true, Number: 5, TopP: 0.95, Temperature: 1.5},
			{MaxTokens: 14, Beams: 3, Number: 3, LengthPenalty: 1},
			{MaxTokens: 14, Sample: true, Number: 4},
		} {
			c := newCaptioner(t, backend, g.Model, textgen.CaptionerOptions{Batch: 4, Images: []int{0, 4, 3}[i]})
			requests := drawn(g, s.Number)
			if !s.Sample {
				for i := range requests {
					requests[i].Seeds = nil
				}
			}
			together := must.Get(c.Caption(t.Context(), requests, s))(t)
			different := map[string]bool{}
			for i, r := range requests {
				turned := slices.Concat(requests[i:], requests[:i]) // another place, other neighbors
				for what, list := range map[string][]textgen.ImageRequest{"alone": {r}, "among others": turned} {
					again := must.Get(c.Caption(t.Context(), list, s))(t)
					for k, text := range again[0] {
						want := together[i][k]
						if !slices.Equal(text.Tokens, want.Tokens) || text.Ended != want.Ended ||
							text.LogProb != want.LogProb || text.Score != want.Score {
							t.Errorf("image %d, caption %d, %s: %+v, before %+v", i, k, what, text, want)
						}
						text, _ := json.Marshal(text.Tokens)
						different[string(text)] = true
					}
				}
			}
			if len(different) < 6 {
				t.Errorf("only %d captions differ", len(different))
			}
		}
	})
}

// TestSampling compares first tokens drawn of an image with the softmax of transformers' logits.
func TestSampling(t *testing.T) {
	g := openGolden(t, "base")
	c := newCaptioner(t, testbackend.Go(t), g.Model, textgen.CaptionerOptions{})
	logits, shape := g.Values("step.logits"), g.Shape("step.logits")
	v := shape[2]
	const number, calls = 50, 60
	for img, pixels := range g.images()[:2] {
		want, total := make([]float64, v), 0.0
		for id, x := range logits[img*v : (img+1)*v] {
			want[id] = math.Exp(float64(x))
			total += want[id]
		}
		counts := make([]int, v)
		var requests []textgen.ImageRequest
		for call := range calls {
			r := textgen.ImageRequest{Pixels: pixels, Image: fmt.Sprint(img), Prompt: []int32{96}}
			for k := range number {
				r.Seeds = append(r.Seeds, near.Seed(t)<<32+uint64(call*number+k))
			}
			requests = append(requests, r)
		}
		out := must.Get(c.Caption(t.Context(), requests, textgen.Options{MaxTokens: 1, Sample: true,
			Number: number}))(t)
		for _, texts := range out {
			for _, text := range texts {
				if text.Ended {
					counts[g.cfg.Text.EndToken]++
				} else {
					counts[text.Tokens[0]]++
				}
			}
		}
		sum, cells, rare, rareWant := 0.0, 0, 0., 0.
		for id, n := range counts {
			if e := want[id] / total * number * calls; e >= 5 {
				sum, cells = sum+(float64(n)-e)*(float64(n)-e)/e, cells+1
			} else {
				rare, rareWant = rare+float64(n), rareWant+e
			}
		}
		if rareWant >= 5 {
			sum, cells = sum+(rare-rareWant)*(rare-rareWant)/rareWant, cells+1
		}
		if cells < 3 {
			t.Fatalf("%d cells say nothing", cells)
		}
		if p := (distuv.ChiSquared{K: float64(cells - 1)}).Survival(sum); p < 1e-4 {
			t.Errorf("image %d, %d cells: such counts come once in %.2g", img, cells, 1/p)
		}
	}
}

// TestCaptionErrors: one line that names what is wrong.
func TestCaptionErrors(t *testing.T) {
	g := openGolden(t, "base")
	fine := textgen.ImageRequest{Pixels: g.images()[0], Prompt: []int32{96}}
	c := newCaptioner(t, testbackend.Go(t), g.Model, textgen.CaptionerOptions{Batch: 2})
	for _, x := range []struct {
		r    textgen.ImageRequest
		s    textgen.Options
		want string
	}{
		{textgen.ImageRequest{Prompt: []int32{96}}, textgen.Options{MaxTokens: 3},
			"image 2: 0 pixel values, the model takes 3072"},
		{textgen.ImageRequest{Pixels: fine.Pixels}, textgen.Options{MaxTokens: 3}, "no token"},
		{fine, textgen.Options{MaxTokens: 60}, "request fewer"},
		{fine, textgen.Options{}, "at least 1"},
	} {
		must.Fail(c.Caption(t.Context(), []textgen.ImageRequest{fine, x.r}, x.s))(t, x.want)
	}
	if c.Bytes() == 0 {
		t.Error("a loaded model takes no memory")
	}
	must.Equal(t, len(must.Get(c.Caption(t.Context(), nil, textgen.Options{MaxTokens: 3}))(t)), 0, "no images")
	must.Fail(c.Caption(modeltest.Canceled(), []textgen.ImageRequest{fine}, textgen.Options{MaxTokens: 3}))(t,
		"context canceled")
	c.Close()
	c.Close()
	must.Fail(c.Caption(t.Context(), []textgen.ImageRequest{fine}, textgen.Options{MaxTokens: 3}))(t,
		"blip: the captioner is closed")
	must.Equal(t, c.Bytes(), 0, "closed", "bytes")
	must.Fail(NewCaptioner(nil, g.Model, textgen.CaptionerOptions{}))(t, "needs a backend")
	must.Fail(NewCaptioner(testbackend.Go(t), g.Model, textgen.CaptionerOptions{Batch: -1}))(t,
		"batch -1 is not between 1 and 1024")
	must.Fail(NewCaptioner(testbackend.Go(t), g.Model, textgen.CaptionerOptions{DType: dtypes.Int32}))(t,
		"dtype Int32 is not one")
	bad := slices.Clone(fine.Pixels)
	bad[7] = float32(math.NaN())
	d := newCaptioner(t, testbackend.Go(t), g.Model, textgen.CaptionerOptions{})
	must.Fail(d.Caption(t.Context(), []textgen.ImageRequest{{Pixels: bad, Prompt: []int32{96}}},
		textgen.Options{MaxTokens: 3}))(t, "out of range")
}

// TestHalf: in bfloat16 the logits are those of float32, more coarsely.
func TestHalf(t *testing.T) {
	g := openGolden(t, "base")
	c := newCaptioner(t, testbackend.QuickXLA(t), g.Model, textgen.CaptionerOptions{Batch: 2, DType: dtypes.BFloat16})
	var first [][]float32
	s := textgen.Options{MaxTokens: 3, Trace: func(step int, logits [][]float32) {
		if step == 0 {
			first = slices.Clone(logits)
		}
	}}
	_ = must.Get(c.Caption(t.Context(), []textgen.ImageRequest{{Pixels: g.images()[0], Prompt: []int32{96}}}, s))(t)
	want, shape := g.Values("step.logits"), g.Shape("step.logits")
	want = want[:shape[2]]
	worst, at := near.Worst(first[0], want)
	if scale := near.Scale(want); worst > 0.1*scale || worst == 0 {
		t.Errorf("worst difference %v at %d, scale %v", worst, at, scale)
	}
}
