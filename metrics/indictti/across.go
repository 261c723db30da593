package indictti

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// PairNormaliser is a reading of equation 6, u and v being the indices of pictures in languages a and b.
type PairNormaliser string

// The readings. The empty one is [MeanUnequal].
const (
	MeanUnequal PairNormaliser = "mean_uneq" // mean over ordered pairs u ≠ v
	MeanUpper   PairNormaliser = "mean_ult"  // mean over u < v: not symmetric in the languages
	MeanAll     PairNormaliser = "mean_all"  // mean over all pairs, u = v included
	LiteralPair PairNormaliser = "literal"   // sum over ordered pairs u ≠ v over half their number: twice MeanUnequal
)

// AcrossLanguages is SCAL by pair of languages, eq. 6–7: out[a][b] is the mean over prompts of the mean cosine between a's pictures and b's; in [−1, 1]
// (literal [−2, 2]), higher is more alike. The diagonal is SCWL ([WithinLanguage], of the reading that fits). A prompt needs two pictures in
// either language (one for mean_all); others are left out of the pair, and counted if both languages have a picture.
//
// With unit vectors x of a and y of b the inner sum is (Σx)·(Σy) − Σ_u x_u·y_u, so no pair of pictures is visited. Prompts are shared among the processors.
func AcrossLanguages(p Pictures, n PairNormaliser) ([][]Score, error) {
	switch n {
	case "":
		n = MeanUnequal
	case MeanUnequal, MeanUpper, MeanAll, LiteralPair:
	default:
		return nil, fmt.Errorf("indictti: normaliser %q; use %q, %q, %q or %q", n, MeanUnequal, MeanUpper, MeanAll, LiteralPair)
	}
	width, err := p.check()
	if err != nil {
		return nil, err
	}
	languages, indices := len(p.Languages), p.indices()
	out := make([][]Score, languages)
	for a := range out {
		out[a] = make([]Score, languages)
		for b := range out[a] {
			out[a][b] = newScore(len(p.Prompts))
		}
	}
	have := make([][]int, languages) // pictures by language and prompt
	for l := range have {
		have[l] = make([]int, len(p.Prompts))
	}
	workers := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			blocks := make([]*block, languages)
			for l := range blocks {
				blocks[l] = newBlock(indices, width)
			}
			for k := w; k < len(p.Prompts); k += workers {
				for l, b := range blocks {
					b.fill(p.Vectors[l][k])
					have[l][k] = b.n
				}
				acrossPrompt(out, blocks, k, n)
			}
		})
	}
	wait.Wait()
	for a := range out {
		for b := range out[a] {
			s := &out[a][b]
			seen := 0
			for k := range p.Prompts {
				s.Pictures += have[a][k]
				if a != b {
					s.Pictures += have[b][k]
				}
				if have[a][k] > 0 && have[b][k] > 0 {
					seen++
				}
			}
			s.Missing = len(p.Prompts)*indices - s.Pictures
			if a != b {
				s.Missing += len(p.Prompts) * indices
			}
			s.finish(seen)
		}
	}
	return out, nil
}

// acrossPrompt fills in the terms of one prompt.
func acrossPrompt(out [][]Score, blocks []*block, k int, n PairNormaliser) {
	least := 2
	if n == MeanAll {
		least = 1
	}
	for a, x := range blocks {
		for b, y := range blocks {
			if b < a && n != MeanUpper {
				out[a][b].set(k, out[b][a].Sums[k], out[b][a].Counts[k])
				continue
			}
			if x.n < least || y.n < least || (a == b && x.n < 2) {
				continue
			}
			var sum float64
			var terms int
			switch {
			case n == MeanUpper && a != b:
				sum, terms = upper(x, y)
			case n == MeanAll && a != b:
				sum, terms = floats.Dot(x.sum, y.sum), x.n*y.n
			default:
				same, both := x.equals(y)
				sum, terms = floats.Dot(x.sum, y.sum)-same, x.n*y.n-both
			}
			if n == LiteralPair {
				sum *= 2
			}
			if terms > 0 {
				out[a][b].set(k, sum/float64(terms), 1)
			}
		}
	}
}

// upper is the sum of φ over u < v, and the number of terms.
func upper(x, y *block) (sum float64, terms int) {
	for u, from := range x.units {
		for v := u + 1; from != nil && v < len(y.units); v++ {
			if y.units[v] != nil {
				sum += floats.Dot(from, y.units[v])
				terms++
			}
		}
	}
	return sum, terms
}

// OverallNormaliser is a reading of equation 9 for N languages.
type OverallNormaliser string

// The readings. The empty one is [MeanPairs].
const (
	MeanPairs      OverallNormaliser = "mean_pairs" // sum over ordered pairs over N(N−1): the mean
	HalfPairs      OverallNormaliser = "half"       // sum over a < b over N(N−1): half the mean
	LiteralOverall OverallNormaliser = "literal"    // sum over ordered pairs over N: N−1 times the mean
)

// OverallNormalisers are the readings of equation 9, the default first.
var OverallNormalisers = []OverallNormaliser{MeanPairs, HalfPairs, LiteralOverall}

// OverallSCAL is eq. 9: one number from the values of [AcrossLanguages]. Pairs that are NaN are left out, and a language with no other pair does not
// count in N. It returns NaN where no pair is left.
func OverallSCAL(pairs [][]float64, n OverallNormaliser) (float64, error) {
	sum, terms, languages := 0.0, 0, 0
	for a := range pairs {
		any := false
		for b, v := range pairs[a] {
			if a != b && !math.IsNaN(v) {
				sum, terms, any = sum+v, terms+1, true
			}
		}
		if any {
			languages++
		}
	}
	if terms == 0 {
		return math.NaN(), nil
	}
	switch n {
	case "", MeanPairs:
		return sum / float64(terms), nil
	case HalfPairs:
		return sum / 2 / float64(terms), nil
	case LiteralOverall:
		return sum / float64(languages), nil
	}
	return 0, fmt.Errorf("indictti: normaliser %q; use one of %v", n, OverallNormalisers)
}

// Values are the values of scores.
func Values(scores []Score) []float64 {
	out := make([]float64, len(scores))
	for i, s := range scores {
		out[i] = s.Value
	}
	return out
}
