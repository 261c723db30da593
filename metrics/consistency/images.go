package consistency

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Images are the feature vectors of the images of one model. All vectors have one width and a length above 0.
type Images struct {
	Languages []string
	Prompts   []string        // ids
	Vectors   [][][][]float32 // [language][prompt][index]; nil = no image. Equal indices are equal seeds
}

// Score is a mean with the contribution of each prompt: Value = ΣSums/ΣCounts.
type Score struct {
	Value        float64   // NaN without any term
	Sums, Counts []float64 // by prompt, in the order of Images.Prompts
	Prompts      int       // prompts with a term
	Excluded     int       // prompts with an image but without a term
	Images       int       // available images of the language, or of both languages of a pair
	Missing      int       // missing images, of prompts × indices
}

func newScore(prompts int) Score {
	return Score{Sums: make([]float64, prompts), Counts: make([]float64, prompts)}
}

// set sets the sum of a prompt and its number of terms.
func (s *Score) set(prompt int, sum, count float64) { s.Sums[prompt], s.Counts[prompt] = sum, count }

// finish computes the mean. seen is the number of prompts with an image.
func (s *Score) finish(seen int) {
	for _, c := range s.Counts {
		if c > 0 {
			s.Prompts++
		}
	}
	s.Excluded = seen - s.Prompts
	s.Value = floats.Sum(s.Sums) / floats.Sum(s.Counts) // 0/0 is NaN
}

// indices returns the number of images per prompt: the largest of any prompt.
func (p Images) indices() int {
	n := 0
	for _, prompts := range p.Vectors {
		for _, images := range prompts {
			n = max(n, len(images))
		}
	}
	return n
}

// check validates the shapes and returns the width of the vectors; 0 without vectors.
func (p Images) check() (width int, err error) {
	if len(p.Vectors) != len(p.Languages) {
		return 0, fmt.Errorf("consistency: vectors for %d languages, %d language names", len(p.Vectors),
			len(p.Languages))
	}
	for i, names := range [][]string{p.Languages, p.Prompts} {
		seen := map[string]bool{}
		for _, n := range names {
			if seen[n] {
				return 0, fmt.Errorf("consistency: %s %q occurs twice", []string{"language", "prompt"}[i], n)
			}
			seen[n] = true
		}
	}
	for l, prompts := range p.Vectors {
		if len(prompts) != len(p.Prompts) {
			return 0, fmt.Errorf("consistency: %s has %d prompts of %d", p.Languages[l], len(prompts), len(p.Prompts))
		}
		for k, images := range prompts {
			for r, v := range images {
				if v == nil {
					continue
				}
				if width == 0 {
					width = len(v)
				}
				if _, err := length(v, width); err != nil {
					return 0, fmt.Errorf("consistency: %s, prompt %q, image %d: %w", p.Languages[l], p.Prompts[k], r,
						err)
				}
			}
		}
	}
	return width, nil
}

// length returns the Euclidean length of a vector, or an error if it cannot be compared.
func length(v []float32, width int) (float64, error) {
	if len(v) != width || width == 0 {
		return 0, fmt.Errorf("vector of %d numbers, others have %d; use vectors of one model", len(v), width)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return 0, errors.New("the vector contains NaN or infinity; embed it again or remove the row")
	case sum == 0:
		return 0, errors.New("the vector is all zeros; embed it again or remove the row")
	}
	return math.Sqrt(sum), nil
}

// unit stores v, scaled to length 1, in to.
func unit(to []float64, v []float32) {
	sum := 0.0
	for i, x := range v {
		to[i] = float64(x)
		sum += to[i] * to[i]
	}
	floats.Scale(1/math.Sqrt(sum), to)
}

// block holds the unit vectors of one prompt in one language, and their sum. It is reused for the next prompt.
type block struct {
	units []([]float64) // by index; nil = no image
	sum   []float64
	n     int
	buf   []float64
}

func newBlock(indices, width int) *block {
	return &block{units: make([][]float64, indices), sum: make([]float64, width), buf: make([]float64, indices*width)}
}

func (b *block) fill(images [][]float32) {
	clear(b.sum)
	clear(b.units)
	b.n = 0
	width := len(b.sum)
	for r, v := range images {
		if v == nil {
			continue
		}
		b.units[r] = b.buf[r*width : (r+1)*width]
		unit(b.units[r], v)
		floats.Add(b.sum, b.units[r])
		b.n++
	}
}

// equals returns the sum of φ over the indices that both have, and their number.
func (b *block) equals(other *block) (sum float64, n int) {
	for r, x := range b.units {
		if y := other.units[r]; x != nil && y != nil {
			sum += floats.Dot(x, y)
			n++
		}
	}
	return sum, n
}

func (p Images) byLanguage(width int, add func(k int, b *block) (sum, count float64)) []Score {
	out := make([]Score, len(p.Languages))
	b := newBlock(p.indices(), width)
	for l := range out {
		out[l] = p.language(l, b, add)
	}
	return out
}

// language scores a language from the blocks of its prompts. add returns the sum and the number of terms of a prompt; 0
// terms leave the prompt out.
func (p Images) language(l int, b *block, add func(k int, b *block) (sum, count float64)) Score {
	s, seen := newScore(len(p.Prompts)), 0
	for k, images := range p.Vectors[l] {
		b.fill(images)
		if b.n == 0 {
			continue
		}
		seen++
		s.Images += b.n
		s.Sums[k], s.Counts[k] = add(k, b)
	}
	s.Missing = len(p.Prompts)*len(b.units) - s.Images
	s.finish(seen)
	return s
}
