//go:build calibration

package interval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"antipode/internal/must"
	"antipode/internal/near"
)

// Run with: go test -tags calibration -run Calibration -v ./metrics/interval
func init() {
	worlds = append(worlds,
		world{"200 prompts", 200, 4, 1, 1, 5, 4, false, 2000, 0.93, 0.93},
		world{"15 prompts", 15, 4, 0.5, 1, 5, 4, false, 2000, 0.93, 0.93},
		world{"40 shares", 40, 10, 0.3, 0, 0.5, 0.5, true, 2000, 0.93, 0.93},
	)
}

// linear is the quantile of type 7, numpy's default.
func linear(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// intervals are the 95 % intervals of the mean of x that were compared.
func intervals(t *testing.T, x []float64, seed int64) (out [6][2]float64) {
	n := float64(len(x))
	b := must.Get(NewBootstrap(BootstrapOptions{Resamples: 1000, Seed: seed}, len(x)))(t)
	mean, sd := spread(x)
	var means, ratios []float64
	below := 0.0
	for _, units := range b.Units() {
		sample := make([]float64, len(x))
		for i, u := range units {
			sample[i] = x[u]
		}
		m, s := spread(sample)
		if means = append(means, m); s > 0 {
			ratios = append(ratios, (m-mean)/s)
		}
		if m < mean-1e-12 {
			below++
		} else if m < mean+1e-12 {
			below += 0.5
		}
	}
	slices.Sort(means)
	slices.Sort(ratios)
	low, high := Quantile(means, 0.025), Quantile(means, 0.975)
	out[0] = [2]float64{linear(means, 0.025), linear(means, 0.975)}
	out[1] = [2]float64{low, high}
	out[2] = [2]float64{2*mean - high, 2*mean - low}
	skew, squares := 0.0, 0.0 // of the jackknife
	for _, v := range x {
		skew, squares = skew+math.Pow((v-mean)/(n-1), 3), squares+math.Pow((v-mean)/(n-1), 2)
	}
	a, z0 := skew/(6*math.Pow(max(squares, 1e-99), 1.5)), distuv.UnitNormal.Quantile(min(max(below, 0.5), 999.5)/1000)
	for side, z := range []float64{-1.959964, 1.959964} {
		out[3][side] = Quantile(means, distuv.UnitNormal.CDF(z0+(z0+z)/(1-a*(z0+z))))
	}
	if len(ratios) > 1 {
		out[4] = [2]float64{mean - Quantile(ratios, 0.975)*sd, mean - Quantile(ratios, 0.025)*sd}
	}
	out[5][0], out[5][1] = b.Ends(mean, means)
	return out
}

// TestCalibrationOfMethods compares the coverage of a mean by six intervals at the numbers of units that the audits
// have: 9 images of a prompt, 10 annotators or images of a cell, 15 images of an identity, 30 prompts, 108 images. The
// package comment has its table. The expanded percentile interval must be the nearest to 95 % on average, over
// distributions that can be covered: of a share of 0.1, 39 % of samples of 9 have no 1 at all.
func TestCalibrationOfMethods(t *testing.T) {
	names := []string{"type 7", "type 6", "basic", "BCa", "studentized", "expanded"}
	const trials = 2000
	miss, cases := make([]float64, len(names)), 0.0
	t.Log("distribution, n: ", strings.Join(names, ", "))
	for stream, n := range []int{9, 10, 15, 30, 108} {
		for _, d := range []struct {
			name   string
			mean   float64
			sample func(r *rand.Rand) float64
		}{
			{"normal", 0, (*rand.Rand).NormFloat64}, {"exponential", 1, (*rand.Rand).ExpFloat64},
			{"share 0.1", 0.1, share(0.1)}, {"share 0.3", 0.3, share(0.3)}, {"share 0.5", 0.5, share(0.5)},
		} {
			rng := rand.New(rand.NewPCG(near.Seed(t), uint64(stream)))
			held, x := make([]int, len(names)), make([]float64, n)
			for trial := range trials {
				for i := range x {
					x[i] = d.sample(rng)
				}
				for k, i := range intervals(t, x, int64(trial)) {
					if i[0] <= d.mean+1e-12 && d.mean-1e-12 <= i[1] {
						held[k]++
					}
				}
			}
			row := fmt.Sprintf("%-11s %3d:", d.name, n)
			covered := d.mean != 0.1 || n > 15
			for k, h := range held {
				c := float64(h) / trials
				row += fmt.Sprintf("  %.3f", c)
				if covered {
					miss[k] += math.Abs(c - 0.95)
				}
			}
			if covered {
				cases++
			}
			t.Log(row)
			if c := float64(held[5]) / trials; covered && (c < 0.89 || c > 0.985) {
				t.Errorf("%s, n = %d: the expanded interval holds the mean in %.3f", d.name, n, c)
			}
		}
	}
	row := "mean distance from 0.95: "
	for k, m := range miss {
		row += fmt.Sprintf("  %s %.4f", names[k], m/cases)
		if k < 5 && m <= miss[5] {
			t.Errorf("the interval %q is nearer to 95 %% than the expanded one", names[k])
		}
	}
	t.Log(row)
}

func share(p float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < p {
			return 1
		}
		return 0
	}
}
