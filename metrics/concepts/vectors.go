package concepts

import (
	"fmt"

	"antipode/metrics/internal/tabular"
)

// VectorError reports a vector that cannot be used.
type VectorError struct {
	Row    int // index in the slice, from 0
	Reason string
}

func (e *VectorError) Error() string { return fmt.Sprintf("vector %d: %s", e.Row+1, e.Reason) }

// unit scales rows to length 1, in float64. All must have the given width; 0 = the width of the first.
func unit(rows [][]float32, width int) ([][]float64, error) {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		if width == 0 {
			width = len(row)
		}
		if len(row) != width {
			return nil, &VectorError{i,
				fmt.Sprintf("the vector has %d values, others have %d; use vectors of one encoder", len(row), width)}
		}
		var reason string
		if out[i], reason = tabular.Unit(row); reason != "" {
			return nil, &VectorError{i, reason}
		}
	}
	return out, nil
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// middleOf returns the mean vector.
func middleOf(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	for _, row := range rows {
		for k, x := range row {
			out[k] += x / float64(len(rows))
		}
	}
	return out
}

// similarities returns the cosines of all pairs of unit vectors.
func similarities(x, y [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = make([]float64, len(y))
		for j := range y {
			out[i][j] = dot(x[i], y[j])
		}
	}
	return out
}

// pairMean returns the mean of sim over all pairs, with weight v[i] for row i and w[j] for column j; nil = 1. NaN
// without pairs.
func pairMean(sim [][]float64, v, w []float64) float64 {
	var sum, n float64
	for i, row := range sim {
		a := 1.
		if v != nil {
			a = v[i]
		}
		for j, s := range row {
			b := a
			if w != nil {
				b *= w[j]
			}
			sum, n = sum+b*s, n+b
		}
	}
	return sum / n
}

// distinctPairMean returns the mean of a square sim over ordered pairs of different images, with weight w[i] for image
// i; nil = 1. NaN without pairs.
func distinctPairMean(sim [][]float64, w []float64) float64 {
	var sum, n float64
	for i, row := range sim {
		for j, s := range row {
			if i == j {
				continue
			}
			b := 1.
			if w != nil {
				b = w[i] * w[j]
			}
			sum, n = sum+b*s, n+b
		}
	}
	return sum / n
}

// SelfConsistency returns Sc (equation 4) of a concept's images: the mean cosine over pairs of different images, in
// [-1, 1], higher = more similar. NaN under two images.
func SelfConsistency(images [][]float32) (float64, error) {
	x, err := unit(images, 0)
	if err != nil {
		return 0, err
	}
	return distinctPairMean(similarities(x, x), nil), nil
}

// CrossConsistency returns Xc (equation 5) of a concept's images in a language and in the source language: the mean
// cosine over all pairs, in [-1, 1], higher = more correct. It is symmetric. For equal sets it is the variant
// [Literal], which includes each image's similarity to itself. NaN if a set is empty.
func CrossConsistency(images, reference [][]float32) (float64, error) {
	both, err := unit(append(append([][]float32(nil), images...), reference...), 0)
	if err != nil {
		return 0, err
	}
	return pairMean(similarities(both[:len(images)], both[len(images):]), nil, nil), nil
}

// InverseDistinctiveness returns Dt (equation 2) of a concept's images and images of other concepts in the same
// language: the mean cosine over all pairs, in [-1, 1], lower = more distinct. [ComputeConceptScores] also samples the
// other images (equation 3). NaN if a set is empty.
func InverseDistinctiveness(images, others [][]float32) (float64, error) {
	return CrossConsistency(images, others)
}

// TextMatch returns Wc (equation 6): the mean over a concept's images of 100 × the cosine of the word's text vector and
// the image vector, in [-100, 100]; with product [Dot] of their dot product. NaN without images.
func TextMatch(word []float32, images [][]float32, product string) (float64, error) {
	values, err := textMatches(word, images, product)
	if err != nil {
		return 0, err
	}
	return mean(values, nil), nil
}

// textMatches returns the terms of Wc, one per image. In errors, row 0 is the word and row i+1 is image i.
func textMatches(word []float32, images [][]float32, product string) ([]float64, error) {
	all := append([][]float32{word}, images...)
	rows, err := unit(all, 0)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(images))
	for i := range out {
		if product == Cosine {
			out[i] = 100 * dot(rows[0], rows[i+1])
			continue
		}
		for k, x := range word {
			out[i] += float64(x) * float64(images[i][k])
		}
	}
	return out, nil
}

// mean returns the mean of values with weights w; nil = 1. NaN without values.
func mean(values, w []float64) float64 {
	var sum, n float64
	for i, v := range values {
		a := 1.
		if w != nil {
			a = w[i]
		}
		sum, n = sum+a*v, n+a
	}
	return sum / n
}
