package consistency

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// ComputeCorrectness returns the mean cosine of each image's vector to the reference of its prompt, by language; in
// [−1, 1], higher is more faithful. The vectors decide which score it is:
//
//	CLGC, eq. 2–3: vectors of captions of the images, references of the English captions (one sentence encoder)
//	IGC,  eq. 4:   vectors of the images, references of the data set's photographs (one image encoder)
//	LGC,  eq. 5:   vectors of the images, references of the English captions (an encoder with a joint space)
//
// references are in the order of p.Prompts; a prompt without one (nil) is left out and counted. The mean is that over
// prompts of the mean over a prompt's available images: every prompt has the same weight, as in SCWL, DWL and SCAL,
// however many of its images are missing.
func ComputeCorrectness(p Images, references [][]float32) ([]Score, error) {
	width, err := p.check()
	if err != nil {
		return nil, err
	}
	if len(references) != len(p.Prompts) {
		return nil, fmt.Errorf("consistency: %d references for %d prompts", len(references), len(p.Prompts))
	}
	units := make([][]float64, len(references))
	for k, v := range references {
		if v == nil {
			continue
		}
		if width == 0 { // there is no image at all
			width = len(v)
		}
		if _, err := length(v, width); err != nil {
			return nil, fmt.Errorf("consistency: reference of prompt %q: %w", p.Prompts[k], err)
		}
		units[k] = make([]float64, width)
		unit(units[k], v)
	}
	return p.byLanguage(width, func(k int, b *block) (float64, float64) {
		if units[k] == nil {
			return 0, 0
		}
		return floats.Dot(units[k], b.sum) / float64(b.n), 1
	}), nil
}

// Normalizer is a variant of equations 10 and 12.
type Normalizer string

// The normalizers; "" is [Mean].
const (
	Mean    Normalizer = "mean"    // over unordered pairs
	Literal Normalizer = "literal" // ordered pairs over the number of unordered ones: twice the mean
)

func (n Normalizer) factor() (float64, error) {
	switch n {
	case "", Mean:
		return 1, nil
	case Literal:
		return 2, nil
	}
	return 0, fmt.Errorf("consistency: normalizer is %q; it must be %q or %q", n, Mean, Literal)
}

// ComputeSCWL returns SCWL, eq. 10–11: for each prompt the mean cosine over pairs of its images, then the mean over
// prompts; in [−1, 1] (literal [−2, 2]), higher is more consistent. Prompts with fewer than two images are left out and
// counted.
func ComputeSCWL(p Images, n Normalizer) ([]Score, error) {
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

// DWLImages selects the images of two prompts that [ComputeDWL] compares: equation 12 omits the index.
type DWLImages string

// The selections; "" is [AllImages].
const (
	AllImages DWLImages = "all" // each image of one prompt with each of the other
	// images of equal index, the mean over indices; an index weighs by the prompts that have it
	SameSeed   DWLImages = "same_seed"
	Centroid   DWLImages = "centroid" // the means of the prompts' unit vectors, scaled to length 1
	FirstImage DWLImages = "first"    // index 0 alone
)

// ComputeDWL returns DWL, eq. 12: 1 minus the mean cosine between the images of two prompts, over unordered
// pairs of prompts; in [0, 2] (literal [−1, 3]), higher is more varied. Every pair of prompts has the same weight.
// Prompts without such images are left out and counted; with fewer than two prompts it is NaN.
//
// With m_k the vector of prompt k, h_k the mean over j ≠ k of m_k·m_j and U the mean of the h_k, let D_k = 1 − (2·h_k −
// U). The mean of the D_k is the score, and their deviations are its first-order terms (Hájek): they are the Sums that
// intervals resample.
func ComputeDWL(p Images, images DWLImages, n Normalizer) ([]Score, error) {
	factor, err := n.factor()
	if err != nil {
		return nil, err
	}
	width, err := p.check()
	if err != nil {
		return nil, err
	}
	indices := p.indices()
	layers := 1 // sets of one vector per prompt
	switch images {
	case "", AllImages, Centroid, FirstImage:
	case SameSeed:
		layers = indices
	default:
		return nil, fmt.Errorf("consistency: images is %q; it must be %q, %q, %q or %q", images, AllImages, SameSeed,
			Centroid,
			FirstImage)
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
					failed = fmt.Errorf("consistency: %s, prompt %q: %w", p.Languages[l], p.Prompts[k], err)
				}
				represents[layer][k] = v
			}
			return 0, 0
		})
		if failed != nil {
			return nil, failed
		}
		seen := out[l].Excluded // no prompt has a term yet
		for _, vectors := range represents {
			addDistinct(&out[l], vectors, width, factor)
		}
		out[l].finish(seen)
	}
	return out, nil
}

// represent returns the vector of a prompt that [ComputeDWL] compares; nil = none.
func (b *block) represent(images DWLImages, layer int) ([]float64, error) {
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
		return nil, errors.New("the vectors of the images cancel out and have no centroid")
	}
	floats.Scale(1/size, m)
	return m, nil
}

// addDistinct adds the terms D_k of one vector per prompt.
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

// ComputeDrop returns the score of English minus the unweighted mean of the other scores (NaN = missing), in the unit
// of the score: absolute points, which the paper writes as "%". n is the number of other languages with a score. NaN
// without English or without another language.
func ComputeDrop(english float64, others []float64) (drop float64, n int) {
	sum := 0.0
	for _, x := range others {
		if !math.IsNaN(x) {
			sum += x
			n++
		}
	}
	return english - sum/float64(n), n
}
