package stereotypes

import "antipode/metrics"

// Similarity is how similar the images of two identities are.
type Similarity struct {
	A string `column:"identity_a"` // by name; A = B: the identity's own images
	B string `column:"identity_b"`
	// mean over pairs of different images; NaN without a pair
	Value metrics.Estimate `column:"similarity" unit:"cosine" range:"[-1, 1]"`
	NA    int              `column:"n_a" unit:"images"` // with a vector
	NB    int              `column:"n_b" unit:"images"`
}

// Similarities compares the images of one set ([Default], …) between all identities, and within each: S(X, Y) of
// [Pulls], pooled; within an identity over pairs of different images. Each pair of identities occurs once. The paper
// compares only the sets of one identity.
//
// Intervals: percentile bootstrap of images; it needs two images of each identity, three within one. Pairs of an image
// with its own copy are left out.
func Similarities(images []Embedded, of string, r Resampling) ([]Similarity, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := choice("set", &of, Default, Stereotypical, NonStereotypical); err != nil {
		return nil, err
	}
	by, identities, err := sets(images)
	if err != nil {
		return nil, err
	}
	counts := make([][][]float64, len(identities)) // by identity, resample and image
	for i, id := range identities {
		source, n := seeded(r.Seed, "similarity", id), len(by[id][of].vectors)
		for range r.Resamples {
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
			s := Similarity{A: a, B: identities[j], NA: len(x), NB: len(y),
				Value: metrics.Exact(value(even(len(x)), even(len(y))))}
			if len(x) > 1 && len(y) > 1 && (i != j || len(x) > 2) {
				values := make([]float64, 0, r.Resamples)
				for b := range r.Resamples {
					values = keep(values, value(counts[i][b], counts[j][b]))
				}
				bound(&s.Value, values, r.Level)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// even returns n equal weights with sum 1.
func even(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1 / float64(n)
	}
	return w
}

// distinct returns the mean of a square matrix off its diagonal, with weight w[i] of row and column i; NaN without a
// pair.
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
