package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
)

// refusingWorld has four peoples of n images each, of which half show a stereotype; a generator refuses 30 % of the
// images of the first people: at random, or those with the stereotype first. truth is the share of them that show it,
// the refused ones included.
func refusingWorld(rng *rand.Rand, n int, atRandom bool) (f *table.Frame, truth float64) {
	var ids, people, outcomes []string
	var shown []float64
	for p := range 4 {
		left := 3 * n / 10
		for i := range n {
			v, outcome := float64(rng.IntN(2)), "ok"
			if p == 0 {
				truth += v / float64(n)
			}
			if p == 0 && (atRandom && rng.Float64() < 0.3 || !atRandom && v == 1 && left > 0) {
				v, outcome, left = math.NaN(), "refused", left-1
			}
			ids, people = append(ids, fmt.Sprint(p, "-", i)), append(people, fmt.Sprint("people ", p))
			outcomes, shown = append(outcomes, outcome), append(shown, v)
		}
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("identity", people),
		table.TextColumn("outcome", outcomes), table.NumberColumn("value", shown)}}, truth
}

// holds says in which share of worlds something holds.
type holds struct{ bounds, interval, naive, flagged, gaps float64 }

// refused simulates worlds: whether the bounds contain the share of the first people's images, the interval and that of
// the images that are there the rate of one half, whether its refusals are flagged, and whether any gap is.
func refused(t *testing.T, worlds int, atRandom bool) (h holds) {
	t.Helper()
	rng := rand.New(rand.NewPCG(near.Seed(t), 7))
	for range worlds {
		world, truth := refusingWorld(rng, 200, atRandom)
		f, _ := must.Get2(evaluate(t, ask{Metric: "bounds", By: []string{"identity"}}, world))(t)
		count := func(to *float64, is bool) {
			if is {
				*to += 1 / float64(worlds)
			}
		}
		in := func(low, high string, x float64) bool {
			return f.Numbers(low)[0] <= x+1e-12 && x <= f.Numbers(high)[0]+1e-12
		}
		count(&h.bounds, in("bound_low", "bound_high", truth))
		count(&h.interval, in("bounded_low", "bounded_high", 0.5))
		count(&h.naive, in("value_low", "value_high", 0.5))
		count(&h.flagged, f.Texts("missing_flagged")[0] == "yes")
		count(&h.gaps, strings.Contains(strings.Join(f.Texts("flagged"), " "), "yes"))
	}
	return h
}

// TestBounds: known values, rules, and what is refused.
func TestBounds(t *testing.T) {
	nan := math.NaN()
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d", "e"}),
		table.TextColumn("outcome", []string{"ok", "ok", "refused", "failed", "ok"}),
		table.NumberColumn("value", []float64{1, 0, nan, nan, nan})}}
	for rule, want := range map[string][]float64{"none": {0.5, 0.2, 0.8}, "at-least": {0.5, 0.5, 0.8},
		"at-most": {0.5, 0.2, 0.5}} {
		got, _ := must.Get2(evaluate(t, ask{Metric: "bounds", Options: map[string]string{"rule": rule}}, f))(t)
		near.Check(t, rule, []float64{got.Numbers("value")[0], got.Numbers("bound_low")[0],
			got.Numbers("bound_high")[0]}, want, 1e-12, 0)
		if counts := fmt.Sprint(got.Numbers("n_refused"), got.Numbers("n_failed"), got.Numbers("n_unmasked"),
			got.Numbers("n_used")); counts != "[1] [1] [1] [2]" || !(got.Numbers("bounded_low")[0] < want[1]) ||
			!(got.Numbers("bounded_high")[0] > want[2]) || got.Numbers("missing")[0] != 0.6 {
			t.Errorf("%s: %s", counts, datasets.Format(got, 0))
		}
	}
	must.Fail(evaluate(t, ask{Metric: "bounds", Options: map[string]string{"most": "0.5"}}, f))(t,
		"1 is not from 0 to 0.5") // a value out of range
	// what is missing is no evidence of a rule, values of another scale, and a group of one row
	there, groups := slices.Repeat([]float64{1, 0}, 5), slices.Repeat([]string{"one", "two"}, 50)
	many := table.NumberColumn("value", append(there, slices.Repeat([]float64{nan}, 90)...))
	f = &table.Frame{Columns: []table.Column{many, table.TextColumn("group", groups)}}
	options := map[string]string{"rule": "at-least", "most": "1"}
	at := func(column string) float64 {
		got, _ := must.Get2(evaluate(t, ask{Metric: "bounds", By: []string{"group"}, Options: options}, f))(t)
		return got.Numbers(column)[0]
	}
	groups[99] = "three"
	must.Equal(t, math.IsNaN(at("gap_low")), false, "gap, with a group of one row")
	clear(groups)
	low, high := at("bounded_low"), at("bounded_high")
	if low > 0.3 || low < 0.1 {
		t.Errorf("at-least: %g", low)
	}
	options["rule"], options["least"], options["most"] = "at-most", "100", "200"
	for i := range there {
		many.Numbers[i] = 200 - 100*many.Numbers[i]
	}
	near.Check(t, "scale", []float64{at("bounded_low"), at("bounded_high")}, []float64{200 - 100*high, 200 - 100*low},
		1e-9, 0)
	for _, atRandom := range []bool{true, false} {
		h := refused(t, 30, atRandom)
		if h.bounds < 0.999 || h.interval < 0.8 || h.flagged < 0.999 || h.gaps > 0.2 || atRandom != (h.naive > 0.5) {
			t.Errorf("refused at random %v: %+v", atRandom, h)
		}
	}
}
