package indictti

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

// Capitals are exemptions from the rule of [Capitalised]. The zero value has none.
type Capitals struct {
	I         bool // the single word "I"
	AfterStop bool // a word after one that ends in . ! or ?
}

// Capitalised returns the first word of an English caption, the first one aside, that starts with an upper-case letter, which takes the caption out of the pool
// (section 2.5 of the specification: it is meant to find names of people and brands); "" = the caption stays. Words are what white space divides, and a word
// starts with its first character, quotation marks included.
func Capitalised(caption string, c Capitals) string {
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

// Selection says which captions [LeastSimilar] chose.
type Selection struct {
	Rows  []int     // positions in the pool, ascending
	Mean  float64   // mean cosine over their unordered pairs
	Draw  int       // which draw it was, from 0; the first of equals
	Means []float64 // of every draw
}

// MeanSimilarity is the mean cosine over unordered pairs of vectors, m of them, with v their unit vectors: (‖Σ v‖² − m) / (m(m−1)). NaN for fewer than two.
func MeanSimilarity(vectors [][]float32) (float64, error) {
	lengths, err := lengthsOf(vectors)
	if err != nil {
		return 0, err
	}
	rows := make([]int, len(vectors))
	for i := range rows {
		rows[i] = i
	}
	return meanOf(vectors, lengths, rows), nil
}

// LeastSimilar draws size captions from a pool at random, without replacement, a number of times (the paper: 1000 times 1000), and keeps the draw whose vectors have
// the lowest mean cosine over pairs. vectors are the captions' sentence embeddings. Equal pools in equal order and equal seeds give equal rows.
func LeastSimilar(vectors [][]float32, size, draws int, seed int64) (Selection, error) {
	if size < 2 || size > len(vectors) || draws < 1 {
		return Selection{}, fmt.Errorf("indictti: %d draws of %d captions from %d; at least one draw of at least two captions, and no more than there are", draws, size, len(vectors))
	}
	lengths, err := lengthsOf(vectors)
	if err != nil {
		return Selection{}, err
	}
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(size)))
	order := make([]int, len(vectors)) // shuffled further by each draw
	for i := range order {
		order[i] = i
	}
	out := Selection{Mean: math.Inf(1)}
	for d := range draws {
		for i := range size {
			j := i + rng.IntN(len(order)-i)
			order[i], order[j] = order[j], order[i]
		}
		rows := slices.Sorted(slices.Values(order[:size]))
		mean := meanOf(vectors, lengths, rows)
		out.Means = append(out.Means, mean)
		if mean < out.Mean {
			out.Mean, out.Draw, out.Rows = mean, d, rows
		}
	}
	return out, nil
}

func lengthsOf(vectors [][]float32) ([]float64, error) {
	lengths := make([]float64, len(vectors))
	for i, v := range vectors {
		var err error
		if lengths[i], err = length(v, len(vectors[0])); err != nil {
			return nil, fmt.Errorf("indictti: row %d: %w", i+1, err)
		}
	}
	return lengths, nil
}

// meanOf is the mean cosine over pairs of some rows.
func meanOf(vectors [][]float32, lengths []float64, rows []int) float64 {
	m := float64(len(rows))
	if m < 2 {
		return math.NaN()
	}
	sum := make([]float64, len(vectors[rows[0]]))
	for _, row := range rows {
		scale := 1 / lengths[row]
		for i, x := range vectors[row] {
			sum[i] += scale * float64(x)
		}
	}
	return (floats.Dot(sum, sum) - m) / (m * (m - 1))
}
