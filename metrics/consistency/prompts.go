package consistency

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/floats"
)

// Capitals are exemptions from the rule of [Capitalized].
type Capitals struct {
	I         bool // the single word "I"
	AfterStop bool // a word after one that ends in . ! or ?
}

// Capitalized returns the first word of an English caption, other than its first word, that starts with an upper-case
// letter; "" = none. The paper excludes such captions to avoid names of people and brands. Words are separated by white
// space and start with their first character, quotation marks included.
func Capitalized(caption string, c Capitals) string {
	words := strings.Fields(caption)
	for i, w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case i == 0 || !unicode.IsUpper(first):
		case c.I && strings.TrimRightFunc(w, unicode.IsPunct) == "I":
		case c.AfterStop && strings.ContainsAny(words[i-1][len(words[i-1])-1:], ".!?"):
		default:
			return w
		}
	}
	return ""
}

// Selection is the result of [LeastSimilar].
type Selection struct {
	Rows   []int     // positions in the pool, ascending
	Mean   float64   // mean cosine over their unordered pairs
	Sample int       // number of the sample, from 0; the first of equals
	Means  []float64 // of every sample
}

// LeastSimilar samples size captions from a pool without replacement, a number of times (in the paper 1000 times
// 1000), and returns the sample whose vectors have the lowest mean cosine over pairs. vectors are the sentence
// embeddings of the captions.
func LeastSimilar(vectors [][]float32, size, samples int, seed int64) (Selection, error) {
	if size < 2 || size > len(vectors) || samples < 1 {
		return Selection{}, fmt.Errorf("consistency: %d samples of %d captions out of %d; use at least one sample of "+
			"at least two captions, and at most all", samples, size, len(vectors))
	}
	lengths, err := lengthsOf(vectors)
	if err != nil {
		return Selection{}, err
	}
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(size)))
	order := sequence(len(vectors)) // shuffled further by each sample
	out := Selection{Mean: math.Inf(1)}
	for d := range samples {
		for i := range size {
			j := i + rng.IntN(len(order)-i)
			order[i], order[j] = order[j], order[i]
		}
		rows := slices.Sorted(slices.Values(order[:size]))
		mean := meanOf(vectors, lengths, rows)
		out.Means = append(out.Means, mean)
		if mean < out.Mean {
			out.Mean, out.Sample, out.Rows = mean, d, rows
		}
	}
	return out, nil
}

// sequence returns 0, 1, …, n−1.
func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func lengthsOf(vectors [][]float32) ([]float64, error) {
	lengths := make([]float64, len(vectors))
	for i, v := range vectors {
		var err error
		if lengths[i], err = length(v, len(vectors[0])); err != nil {
			return nil, fmt.Errorf("consistency: row %d: %w", i+1, err)
		}
	}
	return lengths, nil
}

// meanOf returns the mean cosine over pairs of m rows, (‖Σ v‖² − m) / (m(m−1)) with unit vectors v.
func meanOf(vectors [][]float32, lengths []float64, rows []int) float64 {
	m := float64(len(rows))
	sum := make([]float64, len(vectors[rows[0]]))
	for _, row := range rows {
		scale := 1 / lengths[row]
		for i, x := range vectors[row] {
			sum[i] += scale * float64(x)
		}
	}
	return (floats.Dot(sum, sum) - m) / (m * (m - 1))
}
