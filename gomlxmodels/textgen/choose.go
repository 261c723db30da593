package textgen

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// row is one text of a greedy search or of sampling.
type row struct {
	text   Text
	seen   []bool // tokens in prompt and text; nil without a penalty
	seed   uint64
	scores []float32 // of the present step
	done   bool
}

// logSum returns the logarithm of the sum of e^x.
func logSum(x []float32) (float64, error) {
	top := float32(math.Inf(-1))
	for _, v := range x {
		top = max(top, v) // NaN stays
	}
	if d := float64(top); math.IsNaN(d) || math.IsInf(d, 0) {
		return 0, fmt.Errorf("the network returned the logit %v: weights or inputs are out of range", top)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v - top))
	}
	return float64(top) + math.Log(sum), nil
}

// penalize applies the repetition penalty in place.
func penalize(scores []float32, seen []bool, penalty float64) {
	p := float32(penalty)
	for id, is := range seen {
		if is {
			if scores[id] < 0 {
				scores[id] *= p
			} else {
				scores[id] /= p
			}
		}
	}
}

func (s *Options) penalty() bool { return s.RepetitionPenalty != 0 && s.RepetitionPenalty != 1 }

// markSeen marks the tokens in a prompt or before it; nil without a penalty.
func (s *Options) markSeen(vocab int, before, prompt []int32) []bool {
	if !s.penalty() {
		return nil
	}
	seen := make([]bool, vocab)
	for _, part := range [][]int32{before, prompt} {
		for _, id := range part {
			seen[id] = true
		}
	}
	return seen
}

// next chooses the token of a step (from 0) of a row and appends it.
func (s *Options) next(r *row, step int, logits []float32) error {
	total, err := logSum(logits)
	if err != nil {
		return err
	}
	scores, seen := logits, r.seen
	if s.Limit > 0 {
		scores = scores[:s.Limit]
		seen = seen[:min(s.Limit, len(seen))]
	}
	if s.penalty() || step < s.MinTokens {
		r.scores = append(r.scores[:0], scores...)
		scores = r.scores
	}
	if s.penalty() {
		penalize(scores, seen, s.RepetitionPenalty)
	}
	if step < s.MinTokens {
		s.forbid(scores)
	}
	var token int
	if s.Sample {
		token = s.sample(scores, uniform(r.seed, step))
	} else {
		for id, v := range scores {
			if v > scores[token] {
				token = id
			}
		}
	}
	r.text.LogProb += float64(logits[token]) - total
	if s.ends(int32(token)) {
		r.text.Ended, r.done = true, true
		return nil
	}
	r.text.Tokens = append(r.text.Tokens, int32(token))
	if r.seen != nil {
		r.seen[token] = true
	}
	r.done = step+1 == s.MaxTokens
	return nil
}

// uniform is number i, from 0, of a seed's random numbers in [0,1): SplitMix64 by counter (Steele, Lea and Flood
// 2014).
func uniform(seed uint64, i int) float64 {
	z := seed + (uint64(i)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// sample samples a token: temperature first, then top-k, then top-p over what top-k left, as
// transformers does. u is in [0,1).
func (s *Options) sample(scores []float32, u float64) int {
	temperature := cmp.Or(s.Temperature, 1)
	top := slices.Max(scores)
	mass := make([]float64, len(scores))
	total := 0.0
	for id, v := range scores {
		mass[id] = math.Exp(float64(v-top) / temperature)
		total += mass[id]
	}
	var kept []int32 // nil = all
	if s.TopK > 0 && s.TopK < len(scores) {
		kept = heaviest(mass, func(sorted []int32) (int, bool) {
			if len(sorted) < s.TopK {
				return len(sorted), false
			}
			n := s.TopK
			for n < len(sorted) && mass[sorted[n]] == mass[sorted[s.TopK-1]] { // ties with the last remain
				n++
			}
			return n, true
		})
		total = 0
		for _, id := range kept {
			total += mass[id]
		}
	}
	if s.TopP > 0 && s.TopP < 1 {
		nucleus := func(sorted []int32) (int, bool) {
			sum := 0.0
			for i, id := range sorted {
				if sum += mass[id]; sum >= s.TopP*total {
					return i + 1, true
				}
			}
			return len(sorted), false
		}
		if kept == nil {
			kept = heaviest(mass, nucleus)
		} else {
			n, _ := nucleus(kept)
			kept = kept[:n]
		}
	}
	if kept == nil {
		return walk(len(mass), func(i int) (int, float64) { return i, mass[i] }, total*u)
	}
	slices.Sort(kept)
	total = 0
	for _, id := range kept {
		total += mass[id]
	}
	return walk(len(kept), func(i int) (int, float64) { return int(kept[i]), mass[kept[i]] }, total*u)
}

// walk returns the first of n tokens at which the sum of masses exceeds a value; if rounding prevents that, the last
// with any mass.
func walk(n int, at func(int) (token int, mass float64), value float64) int {
	sum, last := 0.0, 0
	for i := range n {
		token, mass := at(i)
		if mass == 0 {
			continue
		}
		last = token
		if sum += mass; sum > value {
			break
		}
	}
	return last
}

// heaviest returns the first n tokens by descending mass (equal ones by ascending id). enough returns n for a list
// of the heaviest tokens; it is called with longer lists until ok is true. The heaviest mass is 1.
func heaviest(mass []float64, enough func(sorted []int32) (n int, ok bool)) []int32 {
	var list []int32
	for least := 1e-3; ; least *= 1e-3 {
		if least < 1e-12 {
			least = 0
		}
		list = list[:0]
		for id, m := range mass {
			if m >= least {
				list = append(list, int32(id))
			}
		}
		slices.SortFunc(list, func(a, b int32) int {
			if x, y := mass[a], mass[b]; x > y {
				return -1
			} else if x < y {
				return 1
			}
			return int(a - b)
		})
		if n, ok := enough(list); ok || least == 0 {
			return list[:n]
		}
	}
}
