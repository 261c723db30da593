package agreement

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/interval"
)

func equal(t *testing.T, what string, got, want float64) {
	t.Helper()
	must.Near(t, got, want, 1e-12, what)
}

// TestEqualReference compares with the krippendorff package and statsmodels; testdata/reference.py says which.
func TestEqualReference(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/reference.json"))(t)
	var sets []struct {
		Counts                     Counts
		Values                     []float64
		Nominal, Ordinal, Interval float64
		Kappa                      *float64
	}
	must.Do(t, json.Unmarshal(text, &sets))
	must.Equal(t, len(sets), 4, "sets")
	for i, set := range sets {
		for scale, want := range map[Scale]float64{Nominal: set.Nominal, Ordinal: set.Ordinal, Interval: set.Interval} {
			s := must.Get(Compute(set.Counts, scale, set.Values))(t)
			equal(t, scale+" alpha", s.Alpha, want)
			must.Equal(t, set.Kappa == nil, math.IsNaN(s.Kappa), "set", i, "kappa", s.Kappa)
			if set.Kappa != nil {
				equal(t, "kappa", s.Kappa, *set.Kappa)
			}
		}
	}
}

func TestEdges(t *testing.T) {
	for name, c := range map[string]struct {
		counts  Counts
		percent float64
	}{
		"nothing": {nil, math.NaN()}, "one rating each": {Counts{{1, 0}, {0, 1}}, math.NaN()},
		"all the same": {Counts{{2, 0}, {3, 0}}, 1},
	} {
		s := must.Get(Compute(c.counts, Nominal, nil))(t)
		equal(t, name, s.Percent, c.percent)
		equal(t, name, s.Alpha, math.NaN())
		equal(t, name, s.Kappa, math.NaN())
	}
	for want, f := range map[string]func() error{
		"item 2 has counts of 1 labels": func() error {
			_, err := Compute(Counts{{1, 0}, {1}}, Nominal,
				nil)
			return err
		},
		"item 1 has a negative count": func() error { _, err := Compute(Counts{{1, -1}}, Nominal, nil); return err },
		"1 values for 2 labels": func() error {
			_,
				err := Compute(Counts{{1, 1}}, Interval, []float64{1})
			return err
		},
		"value of label 2 is NaN": func() error {
			_,
				err := Compute(Counts{{1, 1}}, Interval, []float64{1, math.NaN()})
			return err
		},
		`scale "rank" is none of`: func() error { _, err := Compute(Counts{{1, 1}}, "rank", nil); return err },
	} {
		must.Fail(f())(t, want)
	}
}

// TestIntervalCovers: 95 % intervals of alpha contain the score of many items in at least 91 % of 2000 trials (93 to
// 94 measured).
func TestIntervalCovers(t *testing.T) {
	rng := near.Rand(t, 21)
	sample := func(items int) Counts {
		c := make(Counts, items)
		for i := range c {
			c[i] = make([]int, 3)
			truth := rng.IntN(3)
			for range 3 {
				if rng.Float64() < 0.6 {
					c[i][truth]++
				} else {
					c[i][rng.IntN(3)]++
				}
			}
		}
		return c
	}
	large := must.Get(Compute(sample(100_000), Nominal, nil))(t)
	alphas, percents := 0, 0
	const trials = 2000
	for i := range trials {
		r := must.Get(ComputeIntervals(sample(60), Nominal, nil, interval.BootstrapOptions{Resamples: 300,
			Seed: int64(i)}))(t)
		if r.Alpha[0] <= large.Alpha && large.Alpha <= r.Alpha[1] {
			alphas++
		}
		if r.Percent[0] <= large.Percent && large.Percent <= r.Percent[1] {
			percents++
		}
		if !(r.Kappa[0] < r.Kappa[1]) {
			t.Fatalf("kappa in %v", r.Kappa)
		}
	}
	t.Logf("intervals of alpha cover in %d, of percent in %d of %d trials", alphas, percents, trials)
	if alphas < 1820 || percents < 1820 {
		t.Errorf("intervals of alpha cover in %d, of percent in %d of %d trials", alphas, percents, trials)
	}
}

func ratings() *table.Frame {
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("image_id", []string{"a", "a", "b", "b", "a", "a", "c"}),
		table.TextColumn("model", []string{"m", "m", "m", "m", "k", "k", "k"}),
		table.TextColumn("label", []string{"yes", "yes", "no", "yes", "no", "no", ""}),
		table.NumberColumn("stars", []float64{1, 1, 5, 4, 2, 2, math.NaN()}),
	}}
}

func score(by []string, options map[string]string) (*table.Frame, error) {
	return tabulartest.Run("agreement", ratings(), options, by...)
}

func TestTable(t *testing.T) {
	f := must.Get(score([]string{"model"}, map[string]string{"resamples": "20"}))(t)
	if got := f.Texts("model"); !slices.Equal(got, []string{"k", "m"}) {
		t.Fatalf("groups %v", got)
	}
	equal(t, "percent of m", f.Numbers("percent")[1], 0.5)
	equal(t, "single of k", f.Numbers("n_left_out")[0], 1)
	equal(t, "alpha of k", f.Numbers("alpha")[0], math.NaN())
	stars := must.Get(score(nil, map[string]string{"label": "stars", "scale": "interval", "resamples": "0"}))(t)
	// Items: a of both models together 1 1 2 2, b 5 4; c has none.
	want := must.Get(Compute(Counts{{2, 2, 0, 0}, {0, 0, 1, 1}}, Interval, []float64{1, 2, 4, 5}))(t)
	equal(t, "alpha of stars", stars.Numbers("alpha")[0], want.Alpha)
	for want, o := range map[string]map[string]string{
		"scale interval needs numbers":  {"scale": "interval"},
		"needs the order of the labels": {"scale": "ordinal"},
		`"yes" is not in order=no`:      {"scale": "ordinal", "order": "no"},
		`no text or number column "x"`:  {"item": "x"},
	} {
		must.Fail(score(nil, o))(t, want)
	}
	must.Get(score(nil, map[string]string{"scale": "ordinal", "order": "no,yes"}))(t)
	must.Equal(t, f.Texts("interval")[0], "", "the interval of one item") // c of k has one rating
	ordered := must.Get(score(nil, map[string]string{"label": "stars", "scale": "ordinal", "order": "1,5,2,4"}))(t)
	want = must.Get(Compute(Counts{{2, 0, 2, 0}, {0, 1, 0, 1}}, Ordinal, nil))(t)
	equal(t, "alpha of ordered stars", ordered.Numbers("alpha")[0], want.Alpha)
	for _, c := range []table.Column{table.TextColumn("image_id", []string{"a", "", "b", "b", "a", "a", "c"}),
		table.NumberColumn("image_id", []float64{1, math.NaN(), 2, 2, 1, 1, 3})} {
		must.Fail(tabulartest.Run("agreement", ratings().With(c), nil))(t, "row 2", "image_id: it is blank")
	}
	o, two := interval.BootstrapOptions{Resamples: 50}, Counts{{2, 0}, {0, 2}, {1, 1}}
	few := must.Get(ComputeIntervals(append(slices.Clone(two), []int{1, 0}, []int{0, 0}), Nominal, nil, o))(t)
	must.Equal(t, few.Percent, must.Get(ComputeIntervals(two, Nominal, nil, o))(t).Percent, "with single ratings")
}
