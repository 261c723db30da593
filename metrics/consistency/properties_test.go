package consistency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

// all returns the values of every score of a set, by language; pairs row by row.
func all(t *testing.T, p Images, refs [][]float32) map[string][]float64 {
	t.Helper()
	out := map[string][]float64{}
	put := func(name string, s []Score, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = append(out[name], valuesOf(s)...)
	}
	c, err := ComputeCorrectness(p, refs)
	put("correctness", c, err)
	w, err := ComputeSCWL(p, Mean)
	put("SCWL", w, err)
	for _, images := range []DWLImages{AllImages, SameSeed, Centroid, FirstImage} {
		d, err := ComputeDWL(p, images, Mean)
		put("DWL "+string(images), d, err)
	}
	for _, n := range []PairNormalizer{MeanUnequal, MeanUpper, MeanAll, LiteralPair} {
		pairs, err := ComputeSCAL(p, n)
		for _, s := range pairs {
			put("SCAL "+string(n), s, err)
		}
	}
	return out
}

// Scores do not depend on the lengths of vectors, the order of prompts, a common reordering of the indices (except
// mean_ult and first), or on other languages; reordering languages reorders the values.
func TestInvariance(t *testing.T) {
	rng := near.Rand(t, 20)
	p := made(rng, 4, 8, 4, 5, 0.1)
	for l := range p.Vectors { // the first image exists, so that DWL of first has all prompts
		for k := range p.Vectors[l] {
			p.Vectors[l][k][0] = vector(rng, 5)
		}
	}
	var refs [][]float32
	for range 8 {
		refs = append(refs, vector(rng, 5))
	}
	want := all(t, p, refs)
	same := func(what string, got map[string][]float64, but ...string) {
		t.Helper()
		for name, values := range want {
			if slices.Contains(but, name) {
				continue
			}
			near.Check(t, what+", "+name, got[name], values, 0, 1e-12)
		}
	}
	change := func(languages, prompts, indices []int, scale func() float32) (Images, [][]float32) {
		q := named(len(languages), len(prompts))
		var r [][]float32
		for l, from := range languages {
			for k, prompt := range prompts {
				for _, i := range indices {
					v := slices.Clone(p.Vectors[from][prompt][i])
					factor := scale()
					for j := range v {
						v[j] *= factor
					}
					q.Vectors[l][k] = append(q.Vectors[l][k], v)
				}
			}
		}
		for _, prompt := range prompts {
			r = append(r, refs[prompt])
		}
		return q, r
	}
	one := func() float32 { return 1 }
	straight := func(n int) (out []int) {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	q, r := change(straight(4), straight(8), straight(4),
		func() float32 { return float32(math.Ldexp(1, rng.IntN(20)-10)) })
	same("lengths", all(t, q, r))
	q, r = change(straight(4), rng.Perm(8), straight(4), one)
	same("prompts", all(t, q, r))
	q, r = change(straight(4), straight(8), []int{2, 3, 1, 0}, one)
	same("indices", all(t, q, r), "SCAL mean_ult", "DWL first")
	q, r = change([]int{1, 3}, straight(8), straight(4), one)
	got := all(t, q, r)
	for name, values := range want {
		few := []float64{values[1], values[3]}
		if len(values) == 16 {
			few = []float64{values[5], values[7], values[13], values[15]}
		}
		near.Check(t, "two languages of four, "+name, got[name], few, 0, 1e-12)
	}
}

// A score over all prompts is the mean, weighted by terms, of the scores over two parts of them.
func TestParts(t *testing.T) {
	rng := near.Rand(t, 21)
	p := made(rng, 2, 9, 3, 4, 0.2)
	cut := func(from, to int) Images {
		return Images{Languages: p.Languages, Prompts: p.Prompts[from:to],
			Vectors: [][][][]float32{p.Vectors[0][from:to], p.Vectors[1][from:to]}}
	}
	whole := must.Get(ComputeSCAL(p, MeanUnequal))(t)
	x := must.Get(ComputeSCAL(cut(0, 4), MeanUnequal))(t)
	y := must.Get(ComputeSCAL(cut(4, 9), MeanUnequal))(t)
	a, b := x[0][1], y[0][1]
	must.Near(t, (a.Value*float64(a.Prompts)+b.Value*float64(b.Prompts))/float64(a.Prompts+b.Prompts),
		whole[0][1].Value, 1e-12, "from parts", "whole")
}

// truth is the expected value for calibration: of u·u' over images of one prompt, of two, and of u·reference.
type world struct {
	rng   *rand.Rand
	mu    []float32
	width int
}

func (w world) set(prompts int) (Images, [][]float32) {
	p, refs := named(2, prompts), make([][]float32, prompts)
	for k := range prompts {
		refs[k] = vector(w.rng, w.width)
		for i := range refs[k] {
			refs[k][i] += w.mu[i]
		}
		spread := float32(0.5 + w.rng.Float64()) // prompts differ in how steady they are
		for l := range 2 {
			for range 3 {
				v := vector(w.rng, w.width)
				for i := range v {
					v[i] = refs[k][i] + spread*v[i]
				}
				p.Vectors[l][k] = append(p.Vectors[l][k], v)
			}
		}
	}
	return p, refs
}

// Nominal 95 % intervals over 60 prompts cover the expectation (from 8000 prompts) in at least 88 % of 300 trials,
// for a mean over images, over prompts, over pairs of languages, the U-statistic DWL, and a difference of languages
// with shared prompts; and in less than all trials, or they would be too wide.
func TestIntervalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: 300 trials")
	}
	rng := near.Rand(t, 22)
	w := world{rng, vector(rng, 6), 6}
	score := func(p Images, refs [][]float32) map[string]Score {
		c := must.Get(ComputeCorrectness(p, refs))(t)
		within := must.Get(ComputeSCWL(p, Mean))(t)
		d := must.Get(ComputeDWL(p, AllImages, Mean))(t)
		s := must.Get(ComputeSCAL(p, MeanUnequal))(t)
		return map[string]Score{"correctness": c[0], "SCWL": within[0], "DWL": d[0], "SCAL": s[0][1], "other": c[1]}
	}
	truth := score(w.set(8000))
	held := map[string]int{}
	const trials = 300
	for range trials {
		scores := score(w.set(60))
		b := must.Get(resample(metrics.Intervals{Resamples: 300, Level: 0.95, Seed: int64(rng.Uint32())}, 60))(t)
		for name, s := range scores {
			if e := b.estimate(s); e.Low <= truth[name].Value && truth[name].Value <= e.High {
				held[name]++
			}
		}
		if low, high := b.of(60, scores["correctness"].Value-scores["other"].Value,
			[]Score{scores["correctness"], scores["other"]},
			func(v []float64) float64 { return v[0] - v[1] }); low <= 0 && 0 <= high {
			held["difference"]++
		}
	}
	t.Log(held)
	for _, name := range []string{"correctness", "SCWL", "DWL", "SCAL", "difference"} {
		if held[name] < trials*88/100 || held[name] == trials {
			t.Errorf("%s: %d of %d intervals hold the expectation", name, held[name], trials)
		}
	}
}

func TestBootstrap(t *testing.T) {
	s := newScore(5)
	for k := range 5 {
		s.set(k, float64(k), 1)
	}
	s.finish(5)
	b := must.Get(resample(metrics.Intervals{Resamples: 2000, Level: 0.95, Seed: 3}, 5))(t)
	again, _ := resample(metrics.Intervals{Resamples: 2000, Level: 0.95, Seed: 3}, 5)
	other, _ := resample(metrics.Intervals{Resamples: 2000, Level: 0.95, Seed: 4}, 5)
	e := b.estimate(s)
	must.Equal(t, again.estimate(s), e, "equal seeds")
	if slices.Equal(other.values(s), b.values(s)) {
		t.Error("different seeds, equal samples")
	}
	if e.Value != 2 || math.Abs(e.Low-0.2) > 0.3 || math.Abs(e.High-3.8) > 0.3 { // t of 4 degrees × √(2.5/5) = 1.96
		t.Error(e)
	}
	one := newScore(1)
	one.set(0, 1, 1)
	one.finish(1)
	single := must.Get(resample(metrics.Intervals{Resamples: 10, Level: 0.95, Seed: 0}, 1))(t)
	if e := single.estimate(one); !math.IsNaN(e.Low) || !math.IsNaN(e.High) || e.Value != 1 {
		t.Error("one prompt", e)
	}
	few := newScore(100)
	for k := range 8 {
		few.set(k, float64(k), 1)
	}
	few.finish(8)
	many := must.Get(resample(metrics.Intervals{Resamples: 2000, Level: 0.95, Seed: 3}, 100))(t)
	if e := many.estimate(few); e.Low > 1.5 || e.High < 5.5 { // t of 7 degrees, not of 99
		t.Error("8 of 100 prompts have a term", e)
	}
	for _, level := range []float64{-1, 1, math.NaN()} {
		must.Fail(resample(metrics.Intervals{Resamples: 10, Level: level, Seed: 0}, 5))(t)
	}
}

// BenchmarkSCAL scores 31 languages × 1000 prompts × 4 images × 768 numbers, without creating the vectors: all pairs,
// and the table form of the overall score with its interval.
func BenchmarkSCAL(b *testing.B) {
	if testing.Short() {
		b.Skip("not with -short: 381 MB of vectors")
	}
	p := named(31, 1000)
	rng := near.Rand(b, 30)
	noise := vector(rng, 1<<16)
	for l := range p.Vectors {
		for k := range p.Vectors[l] {
			for range 4 {
				at := rng.IntN(len(noise) - 768)
				p.Vectors[l][k] = append(p.Vectors[l][k], slices.Clone(noise[at:at+768]))
			}
		}
	}
	b.Run("pairs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if pairs, err := ComputeSCAL(p, MeanUnequal); err != nil || math.IsNaN(pairs[3][5].Value) {
				b.Fatal(err)
			}
		}
	})
	b.Run("table", func(b *testing.B) {
		in := frameOf(p, "m", "full")
		b.ReportAllocs()
		for b.Loop() {
			if f, _, err := evaluate("indictti-scal-overall", nil, nil, in); err != nil ||
				math.IsNaN(f.Numbers("scal_low")[0]) {
				b.Fatal(err)
			}
		}
	})
}
