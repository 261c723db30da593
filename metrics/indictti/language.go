package indictti

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Correctness is the mean cosine of each picture's vector to the reference of its prompt, by language; in [−1, 1], higher is more faithful.
// What is compared makes it one of three scores:
//
//	CLGC, eq. 2–3: vectors of captions made from the pictures, references of the English captions (one sentence encoder)
//	IGC,  eq. 4:   vectors of the pictures, references of the data set's photographs (one image encoder)
//	LGC,  eq. 5:   vectors of the pictures, references of the English captions (an encoder with a joint space)
//
// references are by prompt, in the order of p.Prompts; nil = none, which leaves the prompt out and counts it. The mean is over the pictures there
// are: a prompt with fewer weighs less.
func Correctness(p Pictures, references [][]float32) ([]Score, error) {
	width, err := p.check()
	if err != nil {
		return nil, err
	}
	if len(references) != len(p.Prompts) {
		return nil, fmt.Errorf("indictti: %d references for %d prompts", len(references), len(p.Prompts))
	}
	units := make([][]float64, len(references))
	for k, v := range references {
		if v == nil {
			continue
		}
		if width == 0 { // there is no picture at all
			width = len(v)
		}
		if _, err := length(v, width); err != nil {
			return nil, fmt.Errorf("indictti: reference of prompt %q: %w", p.Prompts[k], err)
		}
		units[k] = make([]float64, width)
		unit(units[k], v)
	}
	return p.byLanguage(width, func(k int, b *block) (float64, float64) {
		if units[k] == nil {
			return 0, 0
		}
		return floats.Dot(units[k], b.sum), float64(b.n)
	}), nil
}

// Normaliser is a reading of equations 10 and 12.
type Normaliser string

// The readings. The empty one is [Mean].
const (
	Mean    Normaliser = "mean"    // over unordered pairs
	Literal Normaliser = "literal" // ordered pairs over the number of unordered ones: twice the mean
)

func (n Normaliser) factor() (float64, error) {
	switch n {
	case "", Mean:
		return 1, nil
	case Literal:
		return 2, nil
	}
	return 0, fmt.Errorf("indictti: normaliser %q; use %q or %q", n, Mean, Literal)
}

// WithinLanguage is SCWL, eq. 10–11: for each prompt the mean cosine of its pictures with one another, then the mean over prompts; in [−1, 1]
// (literal [−2, 2]), higher is steadier. Prompts with fewer than two pictures are left out and counted.
func WithinLanguage(p Pictures, n Normaliser) ([]Score, error) {
	factor, err := n.factor()
	if err != nil {
		return nil, err
	}
	width, err := p.check()
	if err != nil {
		return nil, err
	}
	return p.byLanguage(width, func(_ int, b *block) (float64, float64) {
		if b.n < 2 {
			return 0, 0
		}
		same, _ := b.equals(b)
		return factor * (floats.Dot(b.sum, b.sum) - same) / float64(b.n*(b.n-1)), 1
	}), nil
}

// Images says which pictures of two prompts [Distinctiveness] compares: equation 12 drops the index.
type Images string

// The readings. The empty one is [AllImages].
const (
	AllImages  Images = "all"       // each picture of one prompt with each of the other
	SameSeed   Images = "same_seed" // pictures of equal index, the mean over indices; an index weighs by the prompts that have it
	Centroid   Images = "centroid"  // the means of the prompts' unit vectors, scaled to length 1
	FirstImage Images = "first"     // index 0 alone
)

// Distinctiveness is DWL, eq. 12: 1 less the mean cosine between the pictures of two prompts, over unordered pairs of prompts; in [0, 2] (literal
// [−1, 3]), higher is more varied. Every pair of prompts weighs the same. Prompts without such pictures are left out and counted; with fewer than two it
// is NaN.
//
// With m_k what represents prompt k among N, D_k = 1 − (2·h_k − U), h_k the mean over j ≠ k of m_k·m_j, U the mean of the h_k. The D_k have the score as their
// mean, and its first-order terms (Hájek) as their deviations: they are the Sums that intervals resample.
func Distinctiveness(p Pictures, images Images, n Normaliser) ([]Score, error) {
	factor, err := n.factor()
	if err != nil {
		return nil, err
	}
	width, err := p.check()
	if err != nil {
		return nil, err
	}
	indices := p.indices()
	layers := 1 // sets of one vector a prompt
	switch images {
	case "", AllImages, Centroid, FirstImage:
	case SameSeed:
		layers = indices
	default:
		return nil, fmt.Errorf("indictti: images %q; use %q, %q, %q or %q", images, AllImages, SameSeed, Centroid, FirstImage)
	}
	out := make([]Score, len(p.Languages))
	b := newBlock(indices, width)
	for l := range out {
		represents := make([][][]float64, layers) // [layer][prompt]
		for i := range represents {
			represents[i] = make([][]float64, len(p.Prompts))
		}
		var failed error
		out[l] = p.language(l, b, func(k int, b *block) (float64, float64) {
			for layer := range layers {
				v, err := b.represent(images, layer)
				if err != nil {
					failed = fmt.Errorf("indictti: %s, prompt %q: %w", p.Languages[l], p.Prompts[k], err)
				}
				represents[layer][k] = v
			}
			return 0, 0
		})
		if failed != nil {
			return nil, failed
		}
		seen := out[l].Excluded // no prompt has a term so far
		for _, vectors := range represents {
			addDistinct(&out[l], vectors, width, factor)
		}
		out[l].finish(seen)
	}
	return out, nil
}

// represent is the vector of a prompt that [Distinctiveness] compares; nil = none.
func (b *block) represent(images Images, layer int) ([]float64, error) {
	if images == SameSeed || images == FirstImage {
		return slices.Clone(b.units[layer]), nil
	}
	m := slices.Clone(b.sum)
	floats.Scale(1/float64(b.n), m)
	if images != Centroid {
		return m, nil
	}
	size := floats.Norm(m, 2)
	if size < 1e-12 {
		return nil, errors.New("the pictures' vectors cancel out and have no centroid")
	}
	floats.Scale(1/size, m)
	return m, nil
}

// addDistinct adds the terms D_k of one vector a prompt.
func addDistinct(s *Score, vectors [][]float64, width int, factor float64) {
	sum, n := make([]float64, width), 0.0
	for _, v := range vectors {
		if v != nil {
			floats.Add(sum, v)
			n++
		}
	}
	if n < 2 {
		return
	}
	h, mean := make([]float64, len(vectors)), 0.0
	for k, v := range vectors {
		if v != nil {
			h[k] = (floats.Dot(v, sum) - floats.Dot(v, v)) / (n - 1)
			mean += h[k] / n
		}
	}
	for k, v := range vectors {
		if v != nil {
			s.Sums[k] += 1 - factor*(2*h[k]-mean)
			s.Counts[k]++
		}
	}
}

// Drop is the drop from English: the score of English less the unweighted mean of the other languages' that are there (NaN = not there), in the score's own unit:
// absolute points, which the paper writes as "%". n is the number of those languages. NaN without English or without another language.
func Drop(english float64, others []float64) (drop float64, n int) {
	sum := 0.0
	for _, x := range others {
		if !math.IsNaN(x) {
			sum += x
			n++
		}
	}
	return english - sum/float64(n), n
}
