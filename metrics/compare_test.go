package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestCompareEqualsSciPy compares the intervals of one group with scipy.stats.ttest_rel of pairs and ttest_ind
// (Welch's) of independent values, testdata/compare.py. Half-samples are random: their deviation is that of the
// sample, and their quantile the normal one, up to 3 %.
func TestCompareEqualsSciPy(t *testing.T) {
	var cases []struct {
		Name            string
		Paired          bool
		A, B            []float64
		Low, High, Mean float64
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/compare.json"))(t), &cases))
	for _, c := range cases {
		second := "id"
		if !c.Paired {
			second = "other"
		}
		f, _, err := evaluate(t, ask{Metric: "compare", Options: map[string]string{"audit": "clustered-mean value=v",
			"better": "higher", "resamples": "4000"}}, runOf("id", "n", c.A), runOf(second, "n", c.B))
		must.Do(t, err)
		near.Check(t, c.Name, []float64{f.Numbers("change")[0]}, []float64{c.Mean}, 1e-9, 1e-12)
		near.Check(t, c.Name, []float64{f.Numbers("change_low")[0], f.Numbers("change_high")[0]},
			[]float64{c.Low, c.High}, 0, 0.03*(c.High-c.Low)/2)
	}
}

// runOf is a run of one group, with ids that begin so.
func runOf(id, group string, values []float64) *table.Frame {
	var ids, groups []string
	for i := range values {
		ids, groups = append(ids, fmt.Sprint(id, i)), append(groups, group)
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("region", groups),
		table.NumberColumn("v", values)}}
}

// TestCompareReads: directions, margins, groups of one table, repeated keys, and the sentences of errors.
func TestCompareReads(t *testing.T) {
	groups := func(n int, south float64) *table.Frame {
		var ids, prompts, regions []string
		var seeds, v []float64
		for i := range 4 * n {
			shift := []float64{0, south}[i%2]
			ids, prompts = append(ids, fmt.Sprint(i)), append(prompts, fmt.Sprint("p", i/4))
			regions, seeds = append(regions, []string{"north", "south"}[i%2]), append(seeds, float64(i%4))
			v = append(v, math.Sin(float64(i))+shift)
		}
		return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("prompt_id", prompts),
			table.NumberColumn("seed", seeds), table.TextColumn("region", regions), table.NumberColumn("v", v),
			table.NumberColumn("one", slices.Repeat([]float64{1}, 4*n))}}
	}
	a := groups(30, 0)
	options := func(more ...string) map[string]string {
		o := map[string]string{"audit": "clustered-mean value=v by=region", "better": "higher", "margin": "0.1"}
		for i := 0; i < len(more); i += 2 {
			o[more[i]] = more[i+1]
		}
		return o
	}
	for _, c := range []struct {
		name    string
		b       *table.Frame
		options map[string]string
		want    string
	}{
		{"equal", a, options(), "north no regression 60 0 0; south no regression 60 0 0"},
		{"worse", groups(30, -0.5), options(), "north no regression 60 0 0; south regression 60 0 0"},
		{"lower is better", groups(30, 0.5), options("better", "lower"),
			"north no regression 60 0 0; south regression 60 0 0"},
		{"by subject", groups(30, -0.5), options("subject", "region"),
			"north no regression 60 0 0; south regression 60 0 0"},
		{"within the margin", groups(30, -0.5), options("margin", "0.6"),
			"north no regression 60 0 0; south no regression 60 0 0"},
		{"by prompt", groups(30, -0.5), options("on", "prompt_id"),
			"north no regression 30 0 0; south regression 30 0 0"},
		{"independent", groups(30, -0.5).With(table.NumberColumn("seed", make([]float64, 120))), options("on", "seed"),
			"north undecided 1 1 0; south undecided 0 2 1"},
		{"a share of 1", groups(30, -0.5), options("audit", "clustered-mean value=one by=region"),
			"north no regression 60 0 0; south undecided 60 0 0"},
		{"only one group", a.Pick(seq(0, 1)), options(), "north undecided 1 59 0; south undecided 0 60 0"},
	} {
		f, _, err := evaluate(t, ask{Metric: "compare", Options: c.options}, a, c.b)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for i, s := range f.Texts("subject") {
			got = append(got, fmt.Sprint(s, " ", f.Texts("verdict")[i], " ", f.Numbers("n_paired")[i], " ",
				f.Numbers("n_only_a")[i], " ", f.Numbers("n_only_b")[i]))
		}
		must.Equal(t, strings.Join(got, "; "), c.want, c.name)
	}
	zero := func(f *table.Frame) *table.Frame { return f.With(table.NumberColumn("one", make([]float64, f.Len()))) }
	for n, want := range map[int]string{6: "undecided undecided", 120: "regression regression"} { // all change
		f, _ := must.Get2(evaluate(t, ask{Metric: "compare", Options: options("audit",
			"clustered-mean value=one by=region")}, a.Slice(0, n), zero(a.Slice(0, n))))(t)
		must.Equal(t, strings.Join(f.Texts("verdict"), " "), want, n, "images")
	}
	congo := groups(30, 0)
	for i, region := range congo.Texts("region") {
		congo.Texts("region")[i] = map[string]string{"north": "Congo", "south": "Congo, Dem. Rep."}[region]
	}
	f, _ := must.Get2(evaluate(t, ask{Metric: "compare", Options: options()}, congo, congo))(t)
	must.EqualSlices(t, f.Numbers("n_paired"), []float64{60, 60}, "groups whose names begin with another")
	two := "clustered-mean value=v by=region ; clustered-mean value=one by=region"
	for want, o := range map[string]map[string]string{
		"concat does not define which values are better":             options("better", "", "audit", two),
		"clustered-mean does not define which values are better":     options("better", ""),
		`no metric "clustered-mena"`:                                 options("audit", "clustered-mena value=v"),
		`table "a": clustered-mean: table "in": no such column: "w"`: options("audit", "clustered-mean value=w"),
		`table "a" has no column "nose" to identify its rows by`:     options("on", "nose"),
		"no column of the result of question-scores has an interval": options("audit", "question-scores by=id"),
		`no such column: "nose"`:                                     options("scores", "nose"),
		"two rows for":                                               options("subject", "interval"),
		"set resamples to 2":                                         options("resamples", "1"),
	} {
		with := a.With(table.NumberColumn("answer_correct", make([]float64, a.Len())),
			table.NumberColumn("answer_p_wanted", make([]float64, a.Len())))
		must.Fail(evaluate(t, ask{Metric: "compare", Options: o}, with, with))(t, want)
	}
}

// TestCompareRuns checks few pairs of runs; compare_long_test.go has 200.
func TestCompareRuns(t *testing.T) { compareRuns(t, 10, 100) }

// TestDrift watches a few generators.
func TestDrift(t *testing.T) { watchRuns(t, 6, 4, 2) }

// watchRuns compares dated runs of a generator with its first one, and stops at the first regression. In half of the
// sequences nothing changes; in the other half one group is worse from run number changed on, by what a single
// comparison of that number finds with a power of 80 %.
func watchRuns(t *testing.T, sequences, runs, changed int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(near.Seed(t), 6))
	const groups, n = 4, 60
	run := func(id string, worse float64) *table.Frame {
		f := &table.Frame{Columns: []table.Column{table.TextColumn("id", make([]string, groups*n)),
			table.TextColumn("region", make([]string, groups*n)), table.NumberColumn("v", make([]float64, groups*n))}}
		for i := range groups * n {
			f.Texts("id")[i], f.Texts("region")[i] = fmt.Sprint(id, i), fmt.Sprint("r", i%groups)
			f.Numbers("v")[i] = rng.NormFloat64()
			if i%groups == 0 {
				f.Numbers("v")[i] -= worse
			}
		}
		return f
	}
	// Of four rows, two-sided at the level of the comparison, and 0.8; the deviation is that of a difference.
	alpha := 0.05 * 6 / math.Pow(math.Pi*float64(changed), 2)
	gap := (distuv.UnitNormal.Quantile(1-alpha/8) + 0.8416) * math.Sqrt(2./n)
	// regression returns the number of the first run that is found worse; 0 = none.
	regression := func(look bool, worse float64) int {
		first := run("first", 0)
		for k := 1; k <= runs; k++ {
			shift := 0.0
			if k >= changed {
				shift = worse
			}
			options := map[string]string{"audit": "clustered-mean value=v by=region", "better": "higher",
				"resamples": "100"}
			if look {
				options["look"] = fmt.Sprint(k)
			}
			f, _, err := evaluate(t, ask{Metric: "compare", Options: options}, first, run(fmt.Sprint(k, " "), shift))
			must.Do(t, err)
			if slices.Contains(f.Texts("verdict"), Regression) {
				return k
			}
		}
		return 0
	}
	var alarms, naive, early, found int
	for range sequences {
		if regression(true, 0) > 0 {
			alarms++
		}
		if regression(false, 0) > 0 {
			naive++
		}
		switch k := regression(true, gap); {
		case k > 0 && k < changed:
			early++
		case k > 0:
			found++
		}
	}
	t.Logf("of %d sequences of %d runs: a regression in %d without a change (%d without Look), in %d before and %d "+
		"after the change at run %d", sequences, runs, alarms, naive, early, found, changed)
	slack := 2 * math.Sqrt(0.05*0.95*float64(sequences))
	if float64(alarms) > 0.05*float64(sequences)+slack || naive < alarms ||
		float64(found+early) < 0.8*float64(sequences)-slack {
		t.Error("these are not the stated shares")
	}
}

// compareRuns compares runs of the same distribution, paired and not, and runs of which one group is worse by what
// a two-sided test finds with a power of 80 % at level 5 %.
func compareRuns(t *testing.T, pairs, resamples int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(near.Seed(t), 5))
	const groups, n, power = 4, 60, 0.8
	for _, paired := range []bool{true, false} {
		alarms, found, covered := 0, 0, 0
		for range pairs {
			prompts := make([]float64, groups*n) // effects that both runs have in common
			for i := range prompts {
				prompts[i] = rng.NormFloat64()
			}
			run := func(id string, worse float64) *table.Frame {
				var ids, regions []string
				var v []float64
				for i, p := range prompts {
					if !paired {
						p = rng.NormFloat64()
					}
					shift := 0.0
					if i%groups == 0 {
						shift = worse
					}
					ids, regions = append(ids, fmt.Sprint(id, i)), append(regions, fmt.Sprint("r", i%groups))
					v = append(v, p+rng.NormFloat64()-shift)
				}
				return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids),
					table.TextColumn("region", regions), table.NumberColumn("v", v)}}
			}
			second, deviation := "a", math.Sqrt2 // of a difference: of the noise, or of all
			if !paired {
				second, deviation = "b", 2
			}
			// Two-sided at 5 % of four rows: normal quantiles of 1 − 0.05/8 and 0.8.
			gap := (2.4977 + 0.8416) * deviation / math.Sqrt(n)
			for _, worse := range []float64{0, gap} {
				f, _, err := evaluate(t, ask{Metric: "compare", Options: map[string]string{
					"audit": "clustered-mean value=v by=region", "better": "higher",
					"resamples": fmt.Sprint(resamples)}}, run("a", 0), run(second, worse))
				must.Do(t, err)
				low, high, all := f.Numbers("change_low"), f.Numbers("change_high"), true
				for i := range low {
					all = all && low[i] <= 0 && 0 <= high[i]
				}
				verdicts := strings.Join(f.Texts("verdict"), ",")
				switch {
				case worse > 0 && strings.HasPrefix(verdicts, Regression):
					found++
				case worse == 0 && all:
					covered++
				}
				if worse == 0 && strings.Contains(","+verdicts, ","+Regression) {
					alarms++
				}
			}
		}
		t.Logf("paired %v: %d alarms, %d covered, %d of %d found", paired, alarms, covered, found, pairs)
		slack := func(p float64) float64 { return 2 * math.Sqrt(p*(1-p)/float64(pairs)) }
		share := func(k int) float64 { return float64(k) / float64(pairs) }
		if share(alarms) > max(0.05, 1/float64(pairs)) || share(covered) < 0.95-slack(0.95) ||
			share(found) < power-slack(power) {
			t.Errorf("paired %v: %d alarms, %d covered, %d of %d found", paired, alarms, covered, found, pairs)
		}
	}
}
