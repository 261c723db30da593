package consistency

import (
	"antipode/internal/fault"
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"
)

// PairNormalizer is a variant of equation 6, with u and v the indices of images in languages a and b.
type PairNormalizer string

// The pair normalizers; "" is [MeanUnequal].
const (
	MeanUnequal PairNormalizer = "mean_uneq" // mean over ordered pairs u ≠ v
	MeanUpper   PairNormalizer = "mean_ult"  // mean over u < v: not symmetric in the languages
	MeanAll     PairNormalizer = "mean_all"  // mean over all pairs, u = v included
	LiteralPair PairNormalizer = "literal"   // sum over ordered pairs u ≠ v over half their number: twice MeanUnequal
)

// ComputeSCAL returns SCAL by pair of languages, eq. 6–7: out[a][b] is the mean over prompts of the mean cosine
// between images of a and of b; in [−1, 1] (literal [−2, 2]), higher is more similar. The diagonal is SCWL
// ([ComputeSCWL]). A prompt needs two images in each language (one for mean_all); others are left out of the pair,
// and counted if both languages have an image.
//
// With unit vectors x of a and y of b the inner sum is (Σx)·(Σy) − Σ_u x_u·y_u, which needs no loop over pairs. Prompts
// are computed in parallel.
func ComputeSCAL(p Images, n PairNormalizer) ([][]Score, error) {
	switch n {
	case "":
		n = MeanUnequal
	case MeanUnequal, MeanUpper, MeanAll, LiteralPair:
	default:
		return nil, fmt.Errorf("consistency: normalizer is %q; it must be %q, %q, %q or %q", n, MeanUnequal, MeanUpper,
			MeanAll, LiteralPair)
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
	have := make([][]int, languages) // images by language and prompt
	for l := range have {
		have[l] = make([]int, len(p.Prompts))
	}
	workers := runtime.GOMAXPROCS(0)
	var wait fault.Group
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
	countPairs(out, have, len(p.Prompts), indices)
	return out, nil
}

// countPairs counts the images of each pair of languages; have is by language and prompt.
func countPairs(out [][]Score, have [][]int, prompts, indices int) {
	for a := range out {
		for b := range out[a] {
			s := &out[a][b]
			seen := 0
			for k := range prompts {
				s.Images += have[a][k]
				if a != b {
					s.Images += have[b][k]
				}
				if have[a][k] > 0 && have[b][k] > 0 {
					seen++
				}
			}
			s.Missing = prompts*indices - s.Images
			if a != b {
				s.Missing += prompts * indices
			}
			s.finish(seen)
		}
	}
}

// acrossPrompt sets the terms of one prompt.
func acrossPrompt(out [][]Score, blocks []*block, k int, n PairNormalizer) {
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

// upper returns the sum of φ over u < v, and the number of terms.
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

// OverallNormalizer is a variant of equation 9 for N languages.
type OverallNormalizer string

// The overall normalizers; "" is [MeanPairs].
const (
	MeanPairs      OverallNormalizer = "mean_pairs" // sum over ordered pairs over N(N−1): the mean
	HalfPairs      OverallNormalizer = "half"       // sum over a < b over N(N−1): half the mean
	LiteralOverall OverallNormalizer = "literal"    // sum over ordered pairs over N: N−1 times the mean
)

// OverallNormalizers are the variants of equation 9, the default first.
var OverallNormalizers = []OverallNormalizer{MeanPairs, HalfPairs, LiteralOverall}

// ComputeSCALOverall returns eq. 9, one number from the values of [ComputeSCAL]. Pairs that are NaN are left out, and a
// language without a pair does not count in N. It returns NaN if no pair is left.
func ComputeSCALOverall(pairs [][]float64, n OverallNormalizer) (float64, error) {
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
	return 0, fmt.Errorf("consistency: normalizer is %q; it must be one of %v", n, OverallNormalizers)
}

func valuesOf(scores []Score) []float64 {
	out := make([]float64, len(scores))
	for i, s := range scores {
		out[i] = s.Value
	}
	return out
}
