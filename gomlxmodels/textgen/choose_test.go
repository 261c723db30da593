package textgen

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"antipode/internal/must"
	"antipode/internal/near"
)

// kept is transformers' order of work, written down plainly: temperature, top-k, top-p; probabilities of what is left.
func kept(logits []float32, temperature float64, k int, p float64) []float64 {
	n := len(logits)
	x := make([]float64, n)
	for i, v := range logits {
		x[i] = float64(v) / temperature
	}
	soft := func() []float64 {
		out, sum := make([]float64, n), 0.0
		for i, v := range x {
			out[i] = math.Exp(v - slices.Max(x))
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
		return out
	}
	if k > 0 {
		sorted := slices.Sorted(slices.Values(x))
		for i, v := range x {
			if v < sorted[n-k] {
				x[i] = math.Inf(-1)
			}
		}
	}
	if p < 1 {
		order, q := make([]int, n), soft()
		for i := range order {
			order[i] = i
		}
		sort.SliceStable(order, func(a, b int) bool { return x[order[a]] < x[order[b]] })
		sum := 0.0
		for _, i := range order[:n-1] {
			if sum += q[i]; sum <= 1-p {
				x[i] = math.Inf(-1)
			}
		}
	}
	return soft()
}

// chiSquare is the probability of counts at least as far from the expected ones, tokens expected under five times
// taken together.
func chiSquare(t *testing.T, counts []int, expected []float64) float64 {
	t.Helper()
	total := 0
	for _, c := range counts {
		total += c
	}
	sum, cells, rare, rareWant := 0.0, 0, 0, 0.0
	for i, p := range expected {
		want := p * float64(total)
		switch {
		case p == 0 && counts[i] > 0:
			t.Fatalf("token %d drawn %d times, which is not to be drawn", i, counts[i])
		case want < 5:
			rare, rareWant = rare+counts[i], rareWant+want
		default:
			sum, cells = sum+(float64(counts[i])-want)*(float64(counts[i])-want)/want, cells+1
		}
	}
	if rareWant >= 5 {
		sum, cells = sum+(float64(rare)-rareWant)*(float64(rare)-rareWant)/rareWant, cells+1
	}
	if cells < 2 {
		t.Fatalf("%d cells say nothing", cells)
	}
	return distuv.ChiSquared{K: float64(cells - 1)}.Survival(sum)
}

// TestDraw compares what is drawn with the probabilities of transformers' rules.
func TestDraw(t *testing.T) {
	rng := near.Rand(t, 3)
	logits := make([]float32, 200)
	for i := range logits {
		logits[i] = float32(rng.NormFloat64() * 2.5)
	}
	logits[17] = logits[90] // equals
	for i, c := range []struct {
		temperature float64
		k           int
		p           float64
	}{{1, 0, 1}, {0.6, 0, 1}, {3, 0, 1}, {1, 7, 1}, {1, 199, 1}, {1, 0, 0.5}, {1, 0, 0.95}, {0.8, 12, 0.7},
		{2, 40, 0.9}, {5, 0, 0.999}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			s := Options{Sample: true, Temperature: c.temperature, TopK: c.k, TopP: c.p}
			counts, seed := make([]int, len(logits)), near.Seed(t)+uint64(i)
			for n := range 20_000 {
				counts[s.sample(logits, uniform(seed, n))]++
			}
			if p := chiSquare(t, counts, kept(logits, c.temperature, c.k, c.p)); p < 1e-4 {
				t.Errorf("chi-square: such counts come once in %.2g", 1/p)
			}
		})
	}
}

// TestTopKEquals: equals of the last of k stay, as in transformers.
func TestTopKEquals(t *testing.T) {
	s := Options{Sample: true, TopK: 2}
	seen := map[int]int{}
	for n := range 3000 {
		seen[s.sample([]float32{1, 3, 2, -5, 2, 2}, uniform(1, n))]++
	}
	if len(seen) != 4 || seen[0]+seen[3] > 0 {
		t.Errorf("drawn: %v", seen)
	}
}

// TestUniform checks the distribution of the random numbers along a seed, and of the first numbers of many seeds.
func TestUniform(t *testing.T) {
	const cells, n = 64, 64000
	for name, at := range map[string]func(i int) float64{
		"along a seed":         func(i int) float64 { return uniform(near.Seed(t), i) },
		"of neighboring seeds": func(i int) float64 { return uniform(near.Seed(t)+uint64(i), 0) },
	} {
		counts, pairs, expected := make([]int, cells), make([]int, cells), make([]float64, cells)
		before := 0.0
		for i := range n {
			u := at(i)
			if !(u >= 0 && u < 1) {
				t.Fatalf("%s: %v", name, u)
			}
			counts[int(u*cells)]++
			pairs[int(before*8)*8+int(u*8)]++
			before = u
		}
		for i := range expected {
			expected[i] = 1. / cells
		}
		for what, c := range map[string][]int{"numbers": counts, "pairs": pairs} {
			if p := chiSquare(t, c, expected); p < 1e-4 {
				t.Errorf("%s, %s: such counts come once in %.2g", name, what, 1/p)
			}
		}
	}
}

// TestNext: penalty, least and most tokens, ties, the log-probability.
func TestNext(t *testing.T) {
	logits := []float32{2, 2, -1, 1.5}
	total := must.Get(logSum(logits))(t)
	for _, c := range []struct {
		s     Options
		seen  []int32
		step  int
		token int32 // -1 = the end
		done  bool
	}{
		// the first of equals
		{Options{Ends: []int32{3}, MaxTokens: 5}, nil, 0, 0, false},
		{Options{Ends: []int32{3}, MaxTokens: 5, RepetitionPenalty: 2}, []int32{0, 2}, 0, 1, false}, // 1, 2, -2, 1.5
		{Options{Ends: []int32{3}, MaxTokens: 5, RepetitionPenalty: 2}, []int32{0, 1}, 0, -1, true}, // 1, 1, -1, 1.5
		{Options{Ends: []int32{3}, MaxTokens: 5, RepetitionPenalty: 2, MinTokens: 3}, []int32{0}, 1, 1, false},
		{Options{Ends: []int32{0}, MaxTokens: 5, MinTokens: 1}, nil, 0, 1, false},
		{Options{Ends: []int32{0, 2}, MaxTokens: 5}, nil, 0, -1, true},
		{Options{Ends: []int32{0, 1}, MaxTokens: 5, MinTokens: 1}, nil, 0, 3, false},
		{Options{Ends: []int32{0}, MaxTokens: 5, MinTokens: 1}, nil, 1, -1, true},
		{Options{Ends: []int32{3}, MaxTokens: 1}, nil, 0, 0, true},
	} {
		r := row{seen: c.s.markSeen(len(logits), nil, c.seen)}
		must.Do(t, c.s.next(&r, c.step, slices.Clone(logits)))
		token, id := int32(-1), c.s.Ends[0]
		if len(r.text.Tokens) > 0 {
			token = r.text.Tokens[0]
			id = token
		}
		if token != c.token || r.done != c.done || r.text.Ended != (token < 0) ||
			math.Abs(r.text.LogProb-float64(logits[id])+total) > 1e-12 {
			t.Errorf("%+v after %v: %d, %+v", c.s, c.seen, token, r)
		}
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		r, s := row{}, Options{Ends: []int32{3}, MaxTokens: 5}
		must.Fail(s.next(&r, 0, []float32{1, bad, 2, 0}))(t)
	}
}

// TestLimit: tokens from the limit on are never written, whatever their logits, and texts need no end.
func TestLimit(t *testing.T) {
	logits := []float32{1, 2, 1.5, 9, 8}
	for _, s := range []Options{{MaxTokens: 400}, {MaxTokens: 400, Sample: true},
		{MaxTokens: 400, Sample: true, TopK: 2}, {MaxTokens: 400, RepetitionPenalty: 2},
		{MaxTokens: 400, Ends: []int32{4}}} {
		s.Limit, s.MinTokens = 3, s.MaxTokens
		must.Do(t, s.Validate(5))
		r := row{seen: s.markSeen(5, nil, []int32{4, 1}), seed: near.Seed(t)}
		for step := 0; !r.done; step++ {
			must.Do(t, s.next(&r, step, logits))
		}
		counts := make([]int, 5)
		for _, token := range r.text.Tokens {
			counts[token]++
		}
		greedy := 400 // tokens of the highest logit
		if s.Sample {
			greedy = 80
		}
		if s.penalty() {
			greedy = 1 // once all are written, the best is it again
		}
		if len(r.text.Tokens) != 400 || counts[3]+counts[4] > 0 || counts[1] < greedy ||
			s.TopK == 2 && counts[0] > 0 {
			t.Errorf("%+v writes %v", s, counts)
		}
	}
}

func TestValidate(t *testing.T) {
	good := []Options{{MaxTokens: 1}, {MaxTokens: 5, Sample: true, Number: 50, TopP: 0.9, TopK: 3},
		{MaxTokens: 5, Beams: 4, Number: 4, Early: Never}, {MaxTokens: 3, MinTokens: 3, RepetitionPenalty: 1.2}}
	for _, s := range good {
		s.Ends = []int32{0, 7}
		if err := s.Validate(100); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	nan := math.NaN()
	for _, s := range []Options{{MaxTokens: 1}, {MaxTokens: 2, MinTokens: 1}, {MaxTokens: 2, MinTokens: 2, Beams: 2}} {
		must.Fail(s.Validate(100))(t)
	}
	for _, s := range []Options{
		{}, {MaxTokens: 1, Ends: []int32{3, 100}}, {MaxTokens: 1, Beams: 34, Ends: []int32{3, 4}},
		{MaxTokens: 1, Ends: []int32{-1}}, {MaxTokens: 1, Ends: []int32{100}}, {MaxTokens: 2, MinTokens: 3},
		{MaxTokens: 1, RepetitionPenalty: -1}, {MaxTokens: 1, RepetitionPenalty: nan},
		{MaxTokens: 1, Sample: true, Temperature: -1}, {MaxTokens: 1, Sample: true, TopP: 1.5},
		{MaxTokens: 1, Sample: true, TopK: -1}, {MaxTokens: 1, TopP: 0.5},
		{MaxTokens: 1, Sample: true, Beams: 2}, {MaxTokens: 1, Beams: 2, Number: 3}, {MaxTokens: 1, Beams: 50},
		{MaxTokens: 1, Number: 2}, {MaxTokens: 1, LengthPenalty: nan},
		{MaxTokens: 1, Limit: -1}, {MaxTokens: 1, Limit: 101}, {MaxTokens: 1, Limit: 9, Beams: 2},
		{MaxTokens: 1, Early: "soon"}, {MaxTokens: 1, Sample: true, Number: 1000},
	} {
		if s.Ends == nil {
			s.Ends = []int32{0}
		}
		must.Fail(s.Validate(100))(t)
	}
}
