package visage

import (
	"fmt"
	"math"
)

// Similarity is how alike the pictures of two identities are.
type Similarity struct {
	A, B   string  // by name; A = B: the identity's own pictures
	Value  Bounded // mean cosine over pairs of different pictures, [-1, 1]; NaN without a pair
	NA, NB int     // pictures with a vector
}

// Similarities compares the pictures of one set ([Default], …) between all identities, and within each: S(X, Y) of [Pulls], pooled; within an identity
// over pairs of different pictures, as a picture's match with itself says nothing. Each pair occurs once.
//
// It is an addition: the paper compares the sets of one identity. Intervals: percentile bootstrap of pictures, for which an identity needs two
// pictures between identities and three within; pairs of a picture with its own copy are left out.
func Similarities(pictures []Embedded, of string, o PullOptions) ([]Similarity, error) {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if !(o.Level > 0 && o.Level < 1) || o.Draws < 0 {
		return nil, fmt.Errorf("visage: level %g and %d draws; the level lies between 0 and 1, draws are not negative", o.Level, o.Draws)
	}
	if err := choice("set", &of, Default, Stereotypical, NonStereotypical); err != nil {
		return nil, err
	}
	by, identities, err := sets(pictures)
	if err != nil {
		return nil, err
	}
	counts := make([][][]float64, len(identities)) // by identity, draw and picture
	for i, id := range identities {
		source, n := seeded(o.Seed, "similarity", id), len(by[id][of].vectors)
		for range o.Draws {
			c := make([]float64, n)
			for range n {
				c[source.IntN(n)] += 1 / float64(n)
			}
			counts[i] = append(counts[i], c)
		}
	}
	var out []Similarity
	for i, a := range identities {
		for j := i; j < len(identities); j++ {
			x, y := by[a][of].vectors, by[identities[j]][of].vectors
			cos := cosines(x, y)
			value := func(v, w []float64) float64 {
				if i != j {
					return weighted(cos, v, w)
				}
				return distinct(cos, v)
			}
			s := Similarity{A: a, B: identities[j], NA: len(x), NB: len(y), Value: Bounded{value(even(len(x)), even(len(y))), math.NaN(), math.NaN()}}
			if len(x) > 1 && len(y) > 1 && (i != j || len(x) > 2) {
				draws := make([]float64, 0, o.Draws)
				for b := range o.Draws {
					draws = keep(draws, value(counts[i][b], counts[j][b]))
				}
				s.Value.bound(draws, o.Level)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

func even(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1 / float64(n)
	}
	return w
}

// distinct is the mean of a square matrix off its diagonal, row and column i weighing w[i]; NaN without such a pair.
func distinct(cosines [][]float64, w []float64) float64 {
	var sum, n float64
	for i, row := range cosines {
		for j, c := range row {
			if i != j {
				sum, n = sum+w[i]*w[j]*c, n+w[i]*w[j]
			}
		}
	}
	return sum / n
}
