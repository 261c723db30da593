//go:build calibration

package distribution

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/interval"
)

// Run with: go test -tags calibration -run Calibration -v ./metrics/distribution

// world makes a vector of an image; form is one of six kinds that differ.
type world func(rng *rand.Rand, generated bool) []float32

func normal(rng *rand.Rand, d int, center func(i int) float64, sd float64) []float32 {
	v := make([]float32, d)
	for i := range v {
		v[i] = float32(center(i) + sd*rng.NormFloat64())
	}
	return v
}

// forms is a mixture of six forms; generated images have the first ones more often.
func forms(rng *rand.Rand, generated bool) []float32 {
	form := rng.IntN(6)
	if generated {
		form = min(form, rng.IntN(6))
	}
	return normal(rng, 16, func(i int) float64 {
		if i%6 == form {
			return 2
		}
		return 0.5
	}, 0.5)
}

func cloud(rng *rand.Rand, generated bool) []float32 {
	shift, sd := 0.0, 1.0
	if generated {
		shift, sd = 0.3, 0.8
	}
	return normal(rng, 16, func(int) float64 { return shift }, sd)
}

func equal(rng *rand.Rand, _ bool) []float32 { return cloud(rng, false) }

// scores are the measures by name.
var scores = map[string]measure{
	"frechet": {two: true, least: 2, within: positive, score: FrechetOptions{Extrapolate: "none"}.scorer},
	"kid": {two: true, least: 2, score: func(g *group) (scorer, error) {
		return Polynomial.scorer(g.vectors, Unbiased)
	}},
	"cmmd": {two: true, least: 2, within: positive, score: func(g *group) (scorer, error) {
		return Gaussian.scorer(g.vectors, Biased)
	}},
	"retrieval": {two: true, least: 1, within: interval.Share, score: func(g *group) (scorer, error) {
		return retrieval(g.vectors), nil
	}},
	"vendi": {least: 1, within: fromOne, score: ofOne(func(rows [][]float32) (float64, error) {
		return Vendi(rows, "1")
	})},
	"inception": {least: 2, within: fromOne, score: ofOne(func(rows [][]float32) (float64, error) {
		return Inception(rows, 1)
	})},
}

func ofOne(of func(rows [][]float32) (float64, error)) func(g *group) (scorer, error) {
	return func(g *group) (scorer, error) {
		return func(ctx context.Context, pairs []pair) ([]float64, error) {
			return each(ctx, len(pairs), func(i int) (float64, error) { return of(pairs[i].of(g.vectors).Generated) })
		}, nil
	}
}

// TestCalibrationOfIntervals counts how often nominal 95 % intervals contain the expected score at the same numbers of
// images, the mean of 400 sets.
func TestCalibrationOfIntervals(t *testing.T) {
	for name, m := range scores {
		for at, w := range []world{forms, cloud, equal} {
			for _, n := range []int{12, 36, 100} {
				rng := rand.New(rand.NewPCG(near.Seed(t)+uint64(n), uint64(at)))
				var values []metrics.Estimate
				for trial := range 400 {
					var real, generated [][]float32
					for range n {
						real, generated = append(real, w(rng, false)), append(generated, w(rng, true))
					}
					v := Vectors{real, generated}
					whole := set{rows: v.whole().real, cells: [][]int{v.whole().real}}
					r := &result{group: &group{real: whole, generated: whole, vectors: v}}
					o := Sampling{Samples: 1}
					o.Intervals = metrics.Intervals{Resamples: 100, Level: 0.95, Seed: int64(trial)}
					m.name = name
					must.Do(t, r.estimate(context.Background(), o, m, must.Get(m.score(r.group))(t), sizes{n, n}))
					values = append(values, r.value)
				}
				c := tabulartest.Coverage(values)
				line := fmt.Sprintf("%-10s %-6s n = %3d: covered %.3f", name,
					[]string{"forms", "cloud", "equal"}[at], n, c)
				t.Log(line)
				if c < 0.90 {
					t.Error(line)
				}
			}
		}
	}
}

// populations are categories with known effective numbers.
var populations = map[string][]float64{
	"4 equal": {0.25, 0.25, 0.25, 0.25}, "4 unequal": {0.5, 0.25, 0.15, 0.1}, "2 unequal": {0.9, 0.1},
	"10 equal":     {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
	"12 geometric": geometric(12, 0.75),
}

func geometric(n int, ratio float64) (out []float64) {
	for i := range n {
		out = append(out, math.Pow(ratio, float64(i))*(1-ratio)/(1-math.Pow(ratio, float64(n))))
	}
	return out
}

// TestCalibrationOfHillNumbers counts how often the interval of the estimate for infinitely many images contains the
// known Hill number of the population, and how often that of the plain number of the sample does.
func TestCalibrationOfHillNumbers(t *testing.T) {
	for name, population := range populations {
		for _, order := range []string{"0", "1", "2"} {
			truth := effective(population, order)
			line := fmt.Sprintf("%-12s order %s, %5.2f:", name, order, truth)
			for _, n := range []int{5, 10, 20, 50, 200} {
				rng := rand.New(rand.NewPCG(near.Seed(t), uint64(n)))
				const trials = 400
				held, plain := 0, 0
				for trial := range trials {
					a := draw(rng, population, n)
					o := metrics.Intervals{Resamples: 200, Level: 0.95, Seed: int64(trial)}
					r := &result{group: &group{}, value: none}
					infinity := func(a Abundances) float64 { return a.Infinity(order) }
					must.Do(t, r.hill(o, a, order, math.Inf(1), infinity))
					if !(r.value.Low > truth+1e-9 || r.value.High < truth-1e-9) { // a blank end bounds nothing
						held++
					}
					var plains []float64
					for range 200 {
						plains = append(plains, draw(rng, a.Population(), n).Observed(order))
					}
					options := o.Bootstrap()
					options.Centered = true
					low, high := must.Get(interval.NewBootstrap(options, n))(t).Ends(a.Observed(order), plains)
					if low <= truth+1e-9 && truth-1e-9 <= high {
						plain++
					}
				}
				line += fmt.Sprintf("  %d: %.2f (%.2f)", n, float64(held)/trials, float64(plain)/trials)
				if float64(held)/trials < 0.88 {
					t.Errorf("%s, n = %d: covered %.3f", name, n, float64(held)/trials)
				}
			}
			t.Log(line)
		}
	}
}

// TestCalibrationOfAlarms counts in how many of 200 fair worlds, four groups of unequal sizes and one distribution,
// some gap is flagged.
func TestCalibrationOfAlarms(t *testing.T) {
	columns := func(rng *rand.Rand, sizes []int, generated bool) *table.Frame {
		var region, answer []string
		var vectors, logits [][]float32
		for g, n := range sizes {
			for range n {
				region = append(region, string(rune('a'+g)))
				answer = append(answer, string(rune('a'+min(rng.IntN(6), rng.IntN(6)))))
				v := forms(rng, generated)
				vectors, logits = append(vectors, v[:8]), append(logits, v[8:])
			}
		}
		return &table.Frame{Columns: []table.Column{table.TextColumn("region", region),
			table.TextColumn("answer", answer), table.VectorColumn("full", vectors),
			table.VectorColumn("logits", logits)}}
	}
	for _, sizes := range [][]int{{12, 16, 24, 40}, {6, 6, 8, 8}, {40, 60, 80, 100}} {
		for _, c := range []struct {
			metric  string
			options map[string]string
		}{
			{"frechet-distance", nil}, {"kid", nil}, {"cmmd", nil}, {"image-retrieval", nil},
			{"inception-score", map[string]string{"vector": "logits"}},
			{"vendi", nil}, {"vendi", map[string]string{"order": "2"}},
			{"hill-numbers", map[string]string{"column": "answer", "order": "0"}},
			{"hill-numbers", map[string]string{"column": "answer"}},
			{"hill-numbers", map[string]string{"column": "answer", "at": "coverage"}},
			{"hill-numbers", map[string]string{"column": "answer", "at": "infinity"}},
			{"hill-numbers", map[string]string{"column": "answer", "at": "infinity", "order": "2"}},
		} {
			alarms := 0
			for world := range 200 {
				rng := rand.New(rand.NewPCG(near.Seed(t), uint64(world)))
				in := map[string]*table.Frame{"generated": columns(rng, sizes, true)}
				if operation.Find(c.metric).Input("in") != nil {
					in = map[string]*table.Frame{"in": in["generated"]}
				} else if c.metric != "inception-score" {
					in["real"] = columns(rng, []int{30, 30, 30, 30}, false)
				}
				options := map[string]string{"by": "region", "resamples": "100", "seed": fmt.Sprint(world + 1)}
				maps.Copy(options, c.options)
				f := must.Get(tabulartest.RunOn(c.metric, in, options))(t)
				if slices.Contains(f.Texts("flagged"), "yes") {
					alarms++
				}
			}
			line := fmt.Sprintf("%v %s %v: alarms in %d of 200 fair worlds", sizes, c.metric, c.options, alarms)
			if t.Log(line); alarms > 16 { // of 5 %, 97.5 % of binomials are at most 16
				t.Error(line)
			}
		}
	}
}
