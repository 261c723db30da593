package significance

import (
	"math"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

// Only the order of values matters, and swapping the scores changes nothing.
func TestSpearman(t *testing.T) {
	rng := near.Rand(t, 12)
	x, y := normal(rng, 30, 0), normal(rng, 30, 0)
	rho := must.Get(Spearman(x, y))(t)
	grown, turned := make([]float64, 30), make([]float64, 30)
	for i, v := range x {
		grown[i], turned[i] = math.Exp(3*v), -v
	}
	for what, c := range map[string]struct {
		a, b []float64
		want float64
	}{"itself": {x, x, 1}, "reversed": {x, turned, -1}, "grown": {grown, y, rho}, "turned": {turned, y, -rho},
		"swapped": {y, x, rho}} {
		got := must.Get(Spearman(c.a, c.b))(t)
		check(t, what, got, c.want, 1e-12)
	}
	must.Near(t, must.Get(Spearman([]float64{1, 1, 1}, []float64{1, 2, 3}))(t), math.NaN(), 0, "equal values")
	for want, pair := range map[string][2][]float64{
		"2 and 1 values for the same units":       {{1, 2}, {1}},
		"a correlation needs two or more":         {{1}, {1}},
		"the second score: value 2 is NaN; leave": {{1, 2}, {1, math.NaN()}},
	} {
		must.Fail(Spearman(pair[0], pair[1]))(t, want)
	}
}

func TestRankCorrelation(t *testing.T) {
	rng, nan := near.Rand(t, 13), math.NaN()
	var groups []string
	var x, y []float64
	for range 60 {
		v := rng.NormFloat64()
		groups, x, y = append(groups, "many"), append(x, v), append(y, v+rng.NormFloat64())
	}
	for _, pair := range [][2]float64{{1, 2}, {2, 2}, {nan, 4}, {5, nan}} {
		groups, x, y = append(groups, "equal"), append(x, pair[0]), append(y, pair[1])
	}
	groups, x, y = append(groups, "one"), append(x, 1), append(y, 1)
	f := &table.Frame{Columns: []table.Column{table.TextColumn("g", groups), table.NumberColumn("x", x),
		table.NumberColumn("y", y)}}
	options := map[string]string{"x": "x", "y": "y", "by": "g"}
	got := run(t, "rank-correlation", f, options)
	rho, low, high := got.Numbers("spearman"), got.Numbers("spearman_low"), got.Numbers("spearman_high")
	want, err := Spearman(x[:60], y[:60])
	if err != nil || rho[1] != want || !(low[1] < want && want < high[1] && high[1]-low[1] < 0.5) {
		t.Errorf("%v [%v, %v], want %v (%v)", rho[1], low[1], high[1], want, err)
	}
	if !math.IsNaN(rho[0]) || !math.IsNaN(rho[2]) || !math.IsNaN(low[0]) || got.Numbers("n_missing")[0] != 2 ||
		got.Texts("reason")[0] != "all values of a score are equal" ||
		got.Texts("reason")[2] != "fewer than two rows have both values" {
		t.Errorf("%+v", got.Columns)
	}
	again := run(t, "rank-correlation", f.Pick(rng.Perm(f.Len())), options)
	must.Equal(t, again.Numbers("spearman_low")[1], low[1], "rows in another order")
	must.Equal(t, again.Numbers("spearman_high")[1], high[1], "rows in another order")
	if other := run(t, "rank-correlation", f, with(options, "seed", "9")); other.Numbers("spearman_low")[1] == low[1] {
		t.Error("another seed has the same interval")
	}
}

// The interval contains the correlation of the population, (6/π)·arcsin(ρ/2) of normal values, about as often as
// stated.
func TestRankCorrelationCoverage(t *testing.T) {
	rng, inside := near.Rand(t, 14), 0
	const trials, n, rho = 200, 40, 0.6
	truth := 6 / math.Pi * math.Asin(rho/2)
	for i := range trials {
		x, y := normal(rng, n, 0), normal(rng, n, 0)
		for k := range y {
			y[k] = rho*x[k] + math.Sqrt(1-rho*rho)*y[k]
		}
		low, high := must.Get2(spearmanInterval(spearman(x, y), x, y, metrics.Intervals{Resamples: 300,
			Seed: int64(i)}))(t)
		if low <= truth && truth <= high {
			inside++
		}
	}
	if share := float64(inside) / trials; share < 0.88 || share == 1 {
		t.Errorf("%d of %d intervals contain %v", inside, trials, truth)
	}
}
