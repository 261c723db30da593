package indictti

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Pictures are the feature vectors of the pictures that one model made. All vectors have one width; their lengths do not matter, but are not 0.
type Pictures struct {
	Languages []string
	Prompts   []string        // ids
	Vectors   [][][][]float32 // [language][prompt][index]; nil = no picture. Equal indices are equal seeds
}

// Score is a mean with what every prompt adds to it: Value = ΣSums/ΣCounts.
type Score struct {
	Value        float64   // NaN = nothing to score
	Sums, Counts []float64 // by prompt, in the order of Pictures.Prompts
	Prompts      int       // prompts the score rests on
	Excluded     int       // prompts with a picture that the score had to leave out
	Pictures     int       // pictures of the language that are there (of a pair: of both)
	Missing      int       // pictures that are not, of prompts × indices
}

func newScore(prompts int) Score {
	return Score{Sums: make([]float64, prompts), Counts: make([]float64, prompts)}
}

// set gives a prompt its sum over a number of terms.
func (s *Score) set(prompt int, sum, count float64) { s.Sums[prompt], s.Counts[prompt] = sum, count }

// finish takes the mean. seen are the prompts that had a picture.
func (s *Score) finish(seen int) {
	for _, c := range s.Counts {
		if c > 0 {
			s.Prompts++
		}
	}
	s.Excluded = seen - s.Prompts
	s.Value = floats.Sum(s.Sums) / floats.Sum(s.Counts) // 0/0 is NaN
}

// indices is the number of pictures asked for of each prompt: the most that any has.
func (p Pictures) indices() int {
	n := 0
	for _, prompts := range p.Vectors {
		for _, pictures := range prompts {
			n = max(n, len(pictures))
		}
	}
	return n
}

// check refuses what has another shape than it says, and returns the vectors' width: 0 where there is none.
func (p Pictures) check() (width int, err error) {
	if len(p.Vectors) != len(p.Languages) {
		return 0, fmt.Errorf("indictti: vectors of %d languages, %d names", len(p.Vectors), len(p.Languages))
	}
	for what, names := range map[string][]string{"language": p.Languages, "prompt": p.Prompts} {
		seen := map[string]bool{}
		for _, n := range names {
			if seen[n] {
				return 0, fmt.Errorf("indictti: the %s %q occurs twice", what, n)
			}
			seen[n] = true
		}
	}
	for l, prompts := range p.Vectors {
		if len(prompts) != len(p.Prompts) {
			return 0, fmt.Errorf("indictti: %s has %d prompts of %d", p.Languages[l], len(prompts), len(p.Prompts))
		}
		for k, pictures := range prompts {
			for r, v := range pictures {
				if v == nil {
					continue
				}
				if width == 0 {
					width = len(v)
				}
				if _, err := length(v, width); err != nil {
					return 0, fmt.Errorf("indictti: %s, prompt %q, picture %d: %w", p.Languages[l], p.Prompts[k], r, err)
				}
			}
		}
	}
	return width, nil
}

// length is the Euclidean length of a vector that can be compared.
func length(v []float32, width int) (float64, error) {
	if len(v) != width || width == 0 {
		return 0, fmt.Errorf("a vector of %d numbers among vectors of %d; was it made by another model?", len(v), width)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return 0, errors.New("the vector holds NaN or infinity; embed it again or leave the row out")
	case sum == 0:
		return 0, errors.New("the vector is all zeros, which has no direction; embed it again or leave the row out")
	}
	return math.Sqrt(sum), nil
}

// unit puts v, scaled to length 1, into to.
func unit(to []float64, v []float32) {
	sum := 0.0
	for i, x := range v {
		to[i] = float64(x)
		sum += to[i] * to[i]
	}
	floats.Scale(1/math.Sqrt(sum), to)
}

// block holds the unit vectors of one prompt in one language, and their sum. Its memory is used again for the next prompt.
type block struct {
	units []([]float64) // by index; nil = no picture
	sum   []float64
	n     int
	room  []float64
}

func newBlock(indices, width int) *block {
	return &block{units: make([][]float64, indices), sum: make([]float64, width), room: make([]float64, indices*width)}
}

func (b *block) fill(pictures [][]float32) {
	clear(b.sum)
	clear(b.units)
	b.n = 0
	width := len(b.sum)
	for r, v := range pictures {
		if v == nil {
			continue
		}
		b.units[r] = b.room[r*width : (r+1)*width]
		unit(b.units[r], v)
		floats.Add(b.sum, b.units[r])
		b.n++
	}
}

// equals is the sum of φ over the indices that both have, and their number.
func (b *block) equals(other *block) (sum float64, n int) {
	for r, x := range b.units {
		if y := other.units[r]; x != nil && y != nil {
			sum += floats.Dot(x, y)
			n++
		}
	}
	return sum, n
}

// byLanguage scores each language.
func (p Pictures) byLanguage(width int, add func(k int, b *block) (sum, count float64)) []Score {
	out := make([]Score, len(p.Languages))
	b := newBlock(p.indices(), width)
	for l := range out {
		out[l] = p.language(l, b, add)
	}
	return out
}

// language scores a language from the blocks of its prompts. add gives a prompt's sum and number of terms; a number of 0 leaves the prompt out.
func (p Pictures) language(l int, b *block, add func(k int, b *block) (sum, count float64)) Score {
	s, seen := newScore(len(p.Prompts)), 0
	for k, pictures := range p.Vectors[l] {
		b.fill(pictures)
		if b.n == 0 {
			continue
		}
		seen++
		s.Pictures += b.n
		s.Sums[k], s.Counts[k] = add(k, b)
	}
	s.Missing = len(p.Prompts)*len(b.units) - s.Pictures
	s.finish(seen)
	return s
}
