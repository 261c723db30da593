package significance

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

type reference struct {
	Families []struct{ P, Holm, BH []float64 }
	Means    []struct {
		A, B                    []float64
		Difference, P, Delta, D float64
	}
	Paired []struct {
		D []float64
		P float64
	}
	Gaps []struct {
		N, M                 int
		Alpha, Power, Effect float64
	}
	H     []struct{ P, Q, H float64 }
	Ranks []struct {
		X, Y []float64
		Rho  float64
	}
}

func check(t *testing.T, what string, got, want, most float64) {
	t.Helper()
	must.Near(t, got, want, most, what)
}

// TestEqualReference compares with scipy and statsmodels; see testdata/reference.py.
func TestEqualReference(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/reference.json"))(t)
	var r reference
	must.Do(t, json.Unmarshal(text, &r))
	if len(r.Families) != 4 || len(r.Means) != 4 || len(r.Paired) != 3 || len(r.Gaps) != 3 || len(r.H) != 3 ||
		len(r.Ranks) != 5 {
		t.Fatalf("the reference lacks something: %d %d %d %d %d %d", len(r.Families), len(r.Means), len(r.Paired),
			len(r.Gaps), len(r.H), len(r.Ranks))
	}
	for _, f := range r.Families {
		holm := must.Get(Holm(f.P))(t)
		bh := must.Get(BenjaminiHochberg(f.P))(t)
		for i := range f.P {
			check(t, "Holm", holm[i], f.Holm[i], 1e-12)
			check(t, "Benjamini–Hochberg", bh[i], f.BH[i], 1e-12)
		}
	}
	for i, m := range r.Means {
		got, err := Means(m.A, m.B, 0, 0)
		if err != nil || !got.Exact {
			t.Fatalf("means %d: %+v, %v", i, got, err)
		}
		check(t, "difference", got.Difference, m.Difference, 1e-12)
		check(t, "p", got.P, m.P, 1e-12)
		delta := must.Get(CliffsDelta(m.A, m.B))(t)
		check(t, "Cliff's delta", delta, m.Delta, 1e-12)
		d := must.Get(CohensD(m.A, m.B))(t)
		check(t, "Cohen's d", d, m.D, 1e-12)
	}
	for i, p := range r.Paired {
		got, err := Paired(p.D, 0, 0)
		if err != nil || !got.Exact {
			t.Fatalf("pairs %d: %+v, %v", i, got, err)
		}
		check(t, "paired p", got.P, p.P, 1e-12)
	}
	for _, g := range r.Gaps {
		got := must.Get(smallest(g.N, g.M, g.Alpha, g.Power))(t)
		check(t, "smallest gap", got, g.Effect, 1e-5)
	}
	for _, h := range r.H {
		check(t, "Cohen's h", CohensH(h.P, h.Q), h.H, 1e-12)
	}
	for _, c := range r.Ranks {
		rho := must.Get(Spearman(c.X, c.Y))(t)
		check(t, "Spearman's rank correlation", rho, c.Rho, 1e-12)
	}
}

// TestExact compares the exact tests of 0 and 1 with scipy's distributions; see testdata/exact.py. Any two values give
// the same p.
func TestExact(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/exact.json"))(t)
	var r struct {
		Means []struct {
			Ones, N, Others, M int
			P                  float64
		}
		Paired []struct {
			Up, Down, Same int
			P              float64
		}
	}
	if err := json.Unmarshal(text, &r); err != nil || len(r.Means) != 5 || len(r.Paired) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	values := func(ones, n int, low, high float64) []float64 {
		return append(slices.Repeat([]float64{high}, ones), slices.Repeat([]float64{low}, n-ones)...)
	}
	for _, c := range r.Means {
		for _, two := range [][2]float64{{0, 1}, {-0.3, 7.1}} {
			a, b := values(c.Ones, c.N, two[0], two[1]), values(c.Others, c.M, two[0], two[1])
			got, err := Means(a, b, 0, 0)
			if err != nil || !got.Exact || math.Abs(got.P/c.P-1) > 1e-8 {
				t.Errorf("%+v of %v: %+v, %v", c, two, got, err)
			}
		}
	}
	for _, c := range r.Paired {
		d := append(values(c.Up, c.Up+c.Down, -1, 1), make([]float64, c.Same)...)
		if got, err := Paired(d, 0, 0); err != nil || !got.Exact || math.Abs(got.P/c.P-1) > 1e-8 {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if same, err := Means(make([]float64, 20), make([]float64, 20), 0, 0); err != nil || same.P != 1 || !same.Exact {
		t.Errorf("equal values: %+v, %v", same, err)
	}
}

// Random permutations approximate the exact p-value, and without a difference a test finds one at rate alpha.
func TestRandomPermutations(t *testing.T) {
	rng := near.Rand(t, 4)
	a, b := normal(rng, 9, 0.8), normal(rng, 8, 0) // 24,310 ways: more than exactLimit
	random, err := Means(a, b, 4000, 3)
	if err != nil || random.Exact || random.Permutations != 4000 {
		t.Fatalf("%+v, %v", random, err)
	}
	all := append(append([]float64(nil), a...), b...)
	hits, total := 0.0, sum(all)
	choose(all, len(a), 0, func(s float64) {
		if math.Abs(s/9-(total-s)/8) >= math.Abs(random.Difference)-1e-9 {
			hits++
		}
	})
	exact := hits / 24310
	check(t, "p of random permutations", random.P, exact, 5*math.Sqrt(exact*(1-exact)/4000)+1.0/4000)
	if again, _ := Means(a, b, 4000, 3); random != again {
		t.Errorf("the same seed returns %+v and %+v", random, again)
	}
	const trials = 400
	means, pairs := 0, 0
	for i := range trials {
		m := must.Get(Means(normal(rng, 20, 0), normal(rng, 15, 0), 199, uint64(i)))(t)
		p := must.Get(Paired(normal(rng, 20, 0), 199, uint64(i)))(t)
		if m.P <= 0.05 {
			means++
		}
		if p.P <= 0.05 {
			pairs++
		}
	}
	// 20 of 400 are expected, with a deviation of 4.4.
	if means > 42 || pairs > 42 || means < 3 || pairs < 3 {
		t.Errorf("of %d tests at 5 %% where nothing is, %d and %d found something", trials, means, pairs)
	}
}

// The gap of power 0.8 is detected in 80 % of trials.
func TestPower(t *testing.T) {
	rng := near.Rand(t, 4)
	const n, m, trials = 40, 30, 400
	gap := must.Get(smallest(n, m, 0.05, 0.8))(t)
	seen := 0
	for i := range trials {
		r := must.Get(Means(normal(rng, n, gap), normal(rng, m, 0), 199, uint64(i)))(t)
		if r.P <= 0.05 {
			seen++
		}
	}
	if share := float64(seen) / trials; share < 0.71 || share > 0.88 { // 4.5 deviations
		t.Errorf("seen in %.2f of the trials", share)
	}
	below, above, err := SmallestShareGap(0.3, n, m, 0.05, 0.8)
	if err != nil || !(below > 0 && below < 0.3 && above > 0.3 && above < 1) {
		t.Fatalf("shares %v, %v, %v", below, above, err)
	}
	h, _ := smallest(n, m, 0.05, 0.8)
	check(t, "above", CohensH(above, 0.3), h, 1e-12)
	check(t, "below", CohensH(0.3, below), h, 1e-12)
	if below, _, _ := SmallestShareGap(0.01, 4, 4, 0.05, 0.8); !math.IsNaN(below) {
		t.Errorf("a share below 0.01 that four images distinguish from it: %v", below)
	}
}

func TestErrors(t *testing.T) {
	nan := math.NaN()
	call := map[string]func() error{
		"the first group: no values": func() error { _, err := Means(nil, []float64{1}, 9, 0); return err },
		"the second group: value 2 is NaN": func() error {
			_, err := Means([]float64{1}, []float64{1, nan}, 9,
				0)
			return err
		},
		"the differences: no values": func() error { _, err := Paired(nil, 9, 0); return err },
		"at least one": func() error {
			_, err := Paired(normal(near.Rand(t, 6), 30, 0), 0, 0)
			return err
		},
		"p-value 2 is 1.5": func() error { _, err := Holm([]float64{0, 1.5}); return err },
		"p-value 1 is NaN": func() error { _, err := BenjaminiHochberg([]float64{nan}); return err },
		"one value has no standard deviation": func() error {
			_,
				err := CohensD([]float64{1, 2}, []float64{1})
			return err
		},
		"groups of 0 and 3": func() error { _, err := smallest(0, 3, 0.05, 0.8); return err },
		"alpha 1 ":          func() error { _, err := smallest(3, 3, 1, 0.8); return err },
		"share 2 is not": func() error {
			_, _,
				err := SmallestShareGap(2, 3, 3, 0.05, 0.8)
			return err
		},
		"the second group: value 1 is +Inf": func() error {
			_,
				err := CliffsDelta([]float64{1}, []float64{math.Inf(1)})
			return err
		},
		"a permutation test of 40 values needs": func() error {
			values := normal(near.Rand(t, 5), 40, 0)
			_, err := Means(values[:20], values[20:], 0, 0)
			return err
		},
	}
	for want, f := range call {
		must.Fail(f())(t, want)
	}
	for range 20 { // not in the order of a map
		must.Fail(CohensD([]float64{nan, 1}, []float64{nan, 1}))(t, "the first group")
		must.Fail(Spearman([]float64{nan, 1}, []float64{nan, 1}))(t, "the first score")
	}
}

func normal(rng *rand.Rand, n int, mean float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + rng.NormFloat64()
	}
	return out
}

func ExampleHolm() {
	p, _ := Holm([]float64{0.01, 0.04, 0.03})
	fmt.Printf("%.2f\n", p)
	// Output: [0.03 0.06 0.06]
}
