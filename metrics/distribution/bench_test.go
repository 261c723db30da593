package distribution

import (
	"cmp"
	"os"
	"strconv"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// BenchmarkScores measures the plain scores of n × n vectors of 768 numbers; ANTIPODE_BENCH_N sets n (default 500).
func BenchmarkScores(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("ANTIPODE_BENCH_N"))
	n = cmp.Or(n, 500)
	rng, v := near.Rand(b, 1), Vectors{}
	for range n {
		x, y := make([]float32, 768), make([]float32, 768)
		for i := range x {
			x[i], y[i] = float32(rng.NormFloat64()), float32(0.05+0.97*rng.NormFloat64())
		}
		v.Real, v.Generated = append(v.Real, x), append(v.Generated, y)
	}
	for name, score := range map[string]func() (float64, error){
		"frechet": func() (float64, error) { return Frechet(v) },
		"kid":     func() (float64, error) { return MMD(v, Polynomial, Unbiased) },
		"cmmd":    func() (float64, error) { return MMD(v, Gaussian, Biased) },
		"vendi":   func() (float64, error) { return Vendi(v.Generated, "1") },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = must.Get(score())(b)
			}
		})
	}
}
