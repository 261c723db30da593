package cococrola

import (
	"fmt"
	"math"
)

// VectorError says which vector cannot be used.
type VectorError struct {
	Row    int // from 0, in the slice that was given
	Reason string
}

func (e *VectorError) Error() string { return fmt.Sprintf("vector %d: %s", e.Row+1, e.Reason) }

// unit gives rows the length 1, in float64. All must have as many numbers as width says; 0 = as the first.
func unit(rows [][]float32, width int) ([][]float64, error) {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		if width == 0 {
			width = len(row)
		}
		if len(row) != width {
			return nil, &VectorError{i, fmt.Sprintf("it has %d numbers, others have %d; vectors of two encoders must not be mixed", len(row), width)}
		}
		sum := 0.
		for _, x := range row {
			sum += float64(x) * float64(x)
		}
		switch {
		case math.IsNaN(sum) || math.IsInf(sum, 0):
			return nil, &VectorError{i, "it holds NaN or infinity"}
		case sum == 0:
			return nil, &VectorError{i, "it is all zeros and has no direction; a picture without a vector has a blank one"}
		}
		length := math.Sqrt(sum)
		out[i] = make([]float64, len(row))
		for k, x := range row {
			out[i][k] = float64(x) / length
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

// middleOf is the mean vector.
func middleOf(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	for _, row := range rows {
		for k, x := range row {
			out[k] += x / float64(len(rows))
		}
	}
	return out
}

// similarities are the cosines of all pairs of unit vectors.
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

// pairMean is the mean of sim over all pairs, row i counting v[i] times and column j w[j] times; nil counts all once. NaN without pairs.
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

// distinctPairMean is the mean of a square sim over ordered pairs of different pictures, picture i counting w[i] times. NaN without pairs.
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

// SelfConsistency is Sc (equation 4) of a concept's pictures: the mean cosine over pairs of different pictures, in [-1, 1], higher = more alike. NaN under two.
func SelfConsistency(images [][]float32) (float64, error) {
	x, err := unit(images, 0)
	if err != nil {
		return 0, err
	}
	return distinctPairMean(similarities(x, x), nil), nil
}

// CrossConsistency is Xc (equation 5) of a concept's pictures in a language and in the source language: the mean cosine over all pairs, in [-1, 1], higher =
// more correct. The two may be swapped. Where they are the same pictures this is the literal reading, with each picture's match with itself. NaN where either is empty.
func CrossConsistency(images, reference [][]float32) (float64, error) {
	both, err := unit(append(append([][]float32(nil), images...), reference...), 0)
	if err != nil {
		return 0, err
	}
	return pairMean(similarities(both[:len(images)], both[len(images):]), nil, nil), nil
}

// InverseDistinctiveness is Dt (equation 2) of a concept's pictures against pictures of other concepts in the same language: the mean cosine over all
// pairs, in [-1, 1], lower = more distinct. [Score] also draws the others (equation 3). NaN where either is empty.
func InverseDistinctiveness(images, others [][]float32) (float64, error) {
	return CrossConsistency(images, others)
}

// TextMatch is Wc (equation 6): the mean over a concept's pictures of 100 × the cosine between the word's text vector and the picture's, in [-100, 100], or of
// their plain dot product. NaN without pictures.
func TextMatch(word []float32, images [][]float32, product Product) (float64, error) {
	values, err := textMatches(word, images, product)
	if err != nil {
		return 0, err
	}
	return mean(values, nil), nil
}

// textMatches are the terms of Wc, one a picture. In errors, vector 1 is the word's and the pictures follow.
func textMatches(word []float32, images [][]float32, product Product) ([]float64, error) {
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

// mean is the mean of values, value i counting w[i] times; nil counts all once. NaN without values.
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
