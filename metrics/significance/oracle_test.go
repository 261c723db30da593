package significance

import (
	"math"
	"math/bits"
	"testing"

	"gonum.org/v1/gonum/stat"

	"antipode/internal/must"
	"antipode/internal/near"
)

// Slow definitions, on inputs from the seed: every permutation by its bits, every pair of values, every smaller or
// larger p-value.
func TestOracles(t *testing.T) {
	rng := near.Rand(t, 86)
	for range 20 {
		a, b := normal(rng, 3+rng.IntN(3), 0.5), normal(rng, 3+rng.IntN(3), 0)
		if rng.IntN(2) == 0 { // ties
			for _, group := range [][]float64{a, b} {
				for i := range group {
					group[i] = math.Round(group[i])
				}
			}
		}
		all := append(append([]float64{}, a...), b...)
		observed, hits, ways := math.Abs(stat.Mean(a, nil)-stat.Mean(b, nil)), 0, 0
		for set := range 1 << len(all) {
			if bits.OnesCount(uint(set)) != len(a) {
				continue
			}
			var x, y []float64
			for i, v := range all {
				if set>>i&1 == 1 {
					x = append(x, v)
				} else {
					y = append(y, v)
				}
			}
			ways++
			if math.Abs(stat.Mean(x, nil)-stat.Mean(y, nil)) >= observed-1e-9 {
				hits++
			}
		}
		got, err := Means(a, b, 0, 0)
		if err != nil || got.Permutations != ways {
			t.Fatal(got, ways, err)
		}
		check(t, "p of permutations", got.P, float64(hits)/float64(ways), 1e-9)

		pairs := min(len(a), len(b))
		d := less(a[:pairs], b[:pairs])
		hits = 0
		for signs := range 1 << pairs {
			turned := append([]float64{}, d...)
			for i := range turned {
				if signs>>i&1 == 1 {
					turned[i] = -turned[i]
				}
			}
			if math.Abs(stat.Mean(turned, nil)) >= math.Abs(stat.Mean(d, nil))-1e-9 {
				hits++
			}
		}
		paired := must.Get(Paired(d, 0, 0))(t)
		check(t, "p of signs", paired.P, float64(hits)/math.Pow(2, float64(pairs)), 1e-9)

		balance := 0.
		for _, x := range a {
			for _, y := range b {
				if x > y {
					balance++
				} else if x < y {
					balance--
				}
			}
		}
		delta := must.Get(CliffsDelta(a, b))(t)
		check(t, "Cliff's delta", delta, balance/float64(len(a)*len(b)), 1e-9)
		n, m := float64(len(a)), float64(len(b))
		if pooled := math.Sqrt(((n-1)*stat.Variance(a, nil) + (m-1)*stat.Variance(b, nil)) / (n + m - 2)); pooled > 0 {
			cohen := must.Get(CohensD(a, b))(t)
			check(t, "Cohen's d", cohen, (stat.Mean(a, nil)-stat.Mean(b, nil))/pooled, 1e-9)
		}
	}
	for range 20 {
		p := make([]float64, 1+rng.IntN(12))
		for i := range p {
			p[i] = math.Pow(rng.Float64(), 3)
			if i > 0 && rng.IntN(4) == 0 {
				p[i] = p[i-1]
			}
		}
		holm, bh := must.Get2(adjusted(p))(t)
		m := float64(len(p))
		for i := range p {
			wantHolm, wantBH := 0., 1.
			for _, v := range p {
				below, upTo := 0., 0.
				for _, w := range p {
					if w < v {
						below++
					}
					if w <= v {
						upTo++
					}
				}
				if v <= p[i] { // the least of equal p-values is multiplied by the tests not below it
					wantHolm = max(wantHolm, min(1, v*(m-below)))
				}
				if v >= p[i] {
					wantBH = min(wantBH, v*m/upTo)
				}
			}
			check(t, "Holm", holm[i], wantHolm, 1e-9)
			check(t, "Benjamini–Hochberg", bh[i], wantBH, 1e-9)
		}
	}
}
