package consistency

import (
	"fmt"
	"math"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// phi is the cosine by its definition.
func phi(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa) / math.Sqrt(bb)
}

// slowPair computes SCAL(a, b) by loops over images; SCWL if a is b.
func slowPair(p Images, a, b int, n PairNormalizer) float64 {
	total, prompts := 0., 0.
	for k := range p.Prompts {
		have := [2]int{}
		sum, terms := 0., 0.
		for side, l := range []int{a, b} {
			for _, v := range p.Vectors[l][k] {
				if v != nil {
					have[side]++
				}
			}
		}
		if least := min(have[0], have[1]); least < 1 || least < 2 && (n != MeanAll || a == b) {
			continue
		}
		for u, x := range p.Vectors[a][k] {
			for v, y := range p.Vectors[b][k] {
				skip := u == v
				if a != b && n == MeanAll {
					skip = false
				}
				if a != b && n == MeanUpper {
					skip = u >= v
				}
				if x == nil || y == nil || skip {
					continue
				}
				sum += phi(x, y)
				terms++
			}
		}
		if terms == 0 {
			continue
		}
		if n == LiteralPair {
			terms /= 2
		}
		total += sum / terms
		prompts++
	}
	return total / prompts
}

// slowDistinct computes DWL by loops over pairs of prompts and images.
func slowDistinct(p Images, l int, images DWLImages) float64 {
	total, n := 0., 0.
	layers := [][]int{nil} // indices that are compared; nil = all
	switch images {
	case FirstImage:
		layers = [][]int{{0}}
	case SameSeed:
		layers = nil
		for r := range p.indices() {
			layers = append(layers, []int{r})
		}
	}
	for _, layer := range layers {
		var prompts [][][]float32
		for _, images := range p.Vectors[l] {
			var kept [][]float32
			for r, v := range images {
				if v != nil && (layer == nil || r == layer[0]) {
					kept = append(kept, v)
				}
			}
			if kept != nil {
				prompts = append(prompts, kept)
			}
		}
		sum, pairs := 0., 0.
		for a := range prompts {
			for _, other := range prompts[:a] {
				term := 0.
				for _, x := range prompts[a] {
					for _, y := range other {
						term += phi(x, y) / float64(len(prompts[a])*len(other))
					}
				}
				if images == Centroid { // the mean of the cosines over the lengths of the two means of unit vectors
					size := func(v [][]float32) (s float64) {
						for _, x := range v {
							for _, y := range v {
								s += phi(x, y) / float64(len(v)*len(v))
							}
						}
						return math.Sqrt(s)
					}
					term /= size(prompts[a]) * size(other)
				}
				sum, pairs = sum+term, pairs+1
			}
		}
		if pairs > 0 {
			total, n = total+float64(len(prompts))*(1-sum/pairs), n+float64(len(prompts))
		}
	}
	return total / n
}

// On random sets, complete and with missing images, every score equals that of the slow loops.
func TestAgainstLoops(t *testing.T) {
	rng := near.Rand(t, 1)
	for trial := range 12 {
		p := made(rng, 3+trial%3, 5+trial, 1+trial%5, 3+trial, float64(trial%3)*0.2)
		refs := make([][]float32, len(p.Prompts))
		for k := range refs {
			refs[k] = vector(rng, 3+trial)
		}
		check := func(what string, scores []Score, err error, slow func(l int) float64) {
			t.Helper()
			want := make([]float64, len(scores))
			for l := range scores {
				want[l] = slow(l)
			}
			if err == nil {
				err = near.Compare(valuesOf(scores), want, 1e-9, 1e-11)
			}
			if err != nil {
				t.Errorf("trial %d, %s: %v", trial, what, err)
			}
		}
		scores, err := ComputeCorrectness(p, refs)
		check("correctness", scores, err, func(l int) float64 {
			sum, prompts := 0., 0.
			for k, images := range p.Vectors[l] {
				of, n := 0., 0.
				for _, v := range images {
					if v != nil {
						of, n = of+phi(refs[k], v), n+1
					}
				}
				if n > 0 {
					sum, prompts = sum+of/n, prompts+1
				}
			}
			return sum / prompts
		})
		scores, err = ComputeSCWL(p, "")
		check("SCWL", scores, err, func(l int) float64 { return slowPair(p, l, l, MeanUnequal) })
		scores, err = ComputeSCWL(p, Literal)
		check("SCWL, literal", scores, err, func(l int) float64 { return 2 * slowPair(p, l, l, MeanUnequal) })
		for _, n := range []PairNormalizer{MeanUnequal, MeanUpper, MeanAll, LiteralPair} {
			pairs := must.Get(ComputeSCAL(p, n))(t)
			for a := range pairs {
				check(fmt.Sprintf("SCAL, %s, %d", n, a), pairs[a], nil,
					func(b int) float64 { return slowPair(p, a, b, n) })
			}
		}
		for _, images := range []DWLImages{AllImages, SameSeed, Centroid, FirstImage} {
			scores, err := ComputeDWL(p, images, Mean)
			check("DWL, "+string(images), scores, err, func(l int) float64 { return slowDistinct(p, l, images) })
			scores, err = ComputeDWL(p, images, Literal)
			check("DWL, literal, "+string(images), scores, err,
				func(l int) float64 { return 1 - 2*(1-slowDistinct(p, l, images)) })
		}
	}
}
