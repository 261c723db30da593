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

// judgedWorld returns a judge's answers about n images of each island, and labels of some. The judge errs in both
// directions with the island's rate.
func judgedWorld(rng *rand.Rand, n, labeled int, rates, errs []float64) (answers, labels *table.Frame) {
	var ids, islands, judged, names, truth []string
	for g := range rates {
		for i := range n {
			yes := rng.Float64() < rates[g]
			id := fmt.Sprintf("%d-%d", g, i)
			ids, islands = append(ids, id), append(islands, fmt.Sprint("island ", g))
			judged = append(judged, text(yes != (rng.Float64() < errs[g])))
			if i < labeled {
				names, truth = append(names, id), append(truth, text(yes))
			}
		}
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("region", islands),
			table.TextColumn("answer", judged)}},
		&table.Frame{Columns: []table.Column{table.TextColumn("id", names), table.TextColumn("label", truth)}}
}

func text(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// TestCalibrated: the judge's bias is taken out where there are labels, and a number without labels says so.
func TestCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	answers, labels := judgedWorld(rng, 600, 80, []float64{0.8, 0.8, 0.8}, []float64{0, 0.3, 0.1})
	labels = labels.Pick(seq(0, 160)) // the third island has none
	options := map[string]string{"positive": "yes"}
	f, notes := must.Get2(evaluate(t, ask{Metric: "calibrated", By: []string{"region"}, Options: options}, answers,
		labels))(t)
	shown := datasets.Format(f, 0)
	value, judge, bias := f.Numbers("calibrated"), f.Numbers("judge"), f.Numbers("judge_bias")
	if math.Abs(value[1]-0.8) > 0.09 || judge[1] > 0.7 || bias[0] != 0 || bias[1] > -0.08 || !math.IsNaN(value[2]) ||
		math.IsNaN(judge[2]) || !math.IsNaN(f.Numbers("lambda")[2]) {
		t.Errorf("%s", shown)
	}
	if basis := f.Texts("basis"); basis[1] != "judge and labels" || basis[2] != "judge alone, not calibrated" ||
		f.Texts("interval")[1] != "95 % prediction-powered interval (adjusted)" || f.Texts("interval")[2] != "" ||
		f.Numbers("n_labeled")[1] != 80 || f.Numbers("n_judged")[1] != 600 || !(f.Numbers("n_equivalent")[0] > 200) ||
		!strings.Contains(strings.Join(notes, "\n"), "fewer than two labels: the judge's number is not calibrated") {
		t.Errorf("%s\n%q", shown, notes)
	}
	alone, _ := must.Get2(evaluate(t, ask{Metric: "calibrated", By: []string{"region"}, Options: options}, answers))(t)
	must.Equal(t, alone.Texts("basis")[0], "judge alone, not calibrated", "without labels")
	gaps, _, err := evaluate(t, ask{Metric: "calibrated-gaps", By: []string{"region"}, Options: options}, answers,
		labels)
	if err != nil || gaps.Len() != 2 || strings.Join(gaps.Texts("flagged"), " ") != "no no" ||
		strings.Join(gaps.Texts("judge_flagged"), " ") != "yes yes" {
		t.Errorf("%s, %v", datasets.Format(gaps, 0), err)
	}
	// no groups
	must.Fail(evaluate(t, ask{Metric: "calibrated-gaps", Options: options}, answers, labels))(t, "compares groups")
}

func seq(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// TestCalibratedReads: numbers and several labels of an image, images without an answer, labels of unknown images, and
// the order of rows.
func TestCalibratedReads(t *testing.T) {
	nan := math.NaN()
	answers := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d", "e", "f"}),
		table.NumberColumn("p", []float64{0.9, 0.2, nan, 0.4, 0.8, 0.7})}}
	labels := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "a", "b", "c", "x", "d"}),
		table.NumberColumn("label", []float64{1, 0, 0, 1, 1, nan})}}
	options := map[string]string{"value": "p", "method": "published"}
	run := func(answers, labels *table.Frame) (*table.Frame, []string) {
		t.Helper()
		f, notes := must.Get2(evaluate(t, ask{Metric: "calibrated", Options: options}, answers, labels))(t)
		return f, notes
	}
	f, notes := run(answers, labels)
	near.Check(t, "means", []float64{f.Numbers("judge")[0], f.Numbers("labels")[0], f.Numbers("n_labeled")[0],
		f.Numbers("n_unanswered")[0], f.Numbers("judge_bias")[0]}, []float64{0.6, 0.5, 3, 1, 0.2 / 3},
		1e-12, 1e-12)
	if len(notes) != 1 || !strings.Contains(notes[0], "1 of 6 labels are of items that are not among the answers") {
		t.Errorf("%q", notes)
	}
	again, _ := run(answers.Pick([]int{5, 3, 1, 0, 2, 4}), labels.Pick([]int{5, 4, 3, 2, 1, 0}))
	near.Check(t, "another order", again.Numbers("calibrated"), f.Numbers("calibrated"), 1e-12, 0)
	words := labels.With(table.TextColumn("label", []string{"yes", "no", "no", "yes", "yes", ""}))
	must.Fail(evaluate(t, ask{Metric: "calibrated", Options: options}, answers, words))(t,
		`holds texts such as "yes": name the one that counts 1`) // texts
	options["positive"] = "yes" // of the labels; answers are numbers
	mixed, _ := run(answers, words)
	near.Check(t, "labels as texts", mixed.Numbers("calibrated"), f.Numbers("calibrated"), 1e-12, 0)
	options["positive"] = "Yes"
	if _, notes := run(answers, words); !strings.Contains(strings.Join(notes, " "), `no value of the column "label"`) {
		t.Errorf("%q", notes)
	}
	codes := answers.With(table.NumberColumn("p", []float64{2, 1, nan, 1, 2, 2}))
	options["positive"] = "2.0" // of numbers
	coded, notes := run(codes, labels.With(table.TextColumn("label", make([]string, 6))))
	must.Equal(t, coded.Numbers("judge")[0], 0.6, "share of a code")
	if strings.Contains(strings.Join(notes, " "), "no value") { // of labels that are all blank
		t.Errorf("%q", notes)
	}
	twice := answers.Pick([]int{0, 0})
	// an item twice
	must.Fail(evaluate(t, ask{Metric: "calibrated", Options: options}, twice, labels))(t, `"a" is in row 1, too`)
}

// TestCalibratedWorlds checks false alarms, power and coverage in few worlds; calibrated_long_test.go has 200.
func TestCalibratedWorlds(t *testing.T) { calibrationWorlds(t, 30, 40, "adjusted") }

// worldResult is what became of simulated worlds.
type worldResult struct{ alarms, judgeAlarms, found, coverage, width, saved float64 }

// islandErrors are the judge's rates of error on six islands.
var islandErrors = []float64{0, 0.06, 0.12, 0.18, 0.24, 0.3}

// calibrationWorlds simulates fair worlds of six islands of 200 images each, and worlds in which one island differs by
// 30 points, with a judge whose error differs by island.
func calibrationWorlds(t *testing.T, worlds, labeled int, method string) (r worldResult) {
	t.Helper()
	rng := rand.New(rand.NewPCG(near.Seed(t), uint64(labeled)))
	any := func(flags []string) float64 {
		if strings.Contains(strings.Join(flags, " "), "yes") {
			return 1 / float64(worlds)
		}
		return 0
	}
	options := map[string]string{"positive": "yes", "method": method}
	for range worlds {
		fair := []float64{0.8, 0.8, 0.8, 0.8, 0.8, 0.8}
		answers, labels := judgedWorld(rng, 200, labeled, fair, islandErrors)
		gaps, _, err := evaluate(t, ask{Metric: "calibrated-gaps", By: []string{"region"}, Options: options}, answers,
			labels)
		must.Do(t, err)
		r.alarms += any(gaps.Texts("flagged"))
		r.judgeAlarms += any(gaps.Texts("judge_flagged"))
		f, _, err := evaluate(t, ask{Metric: "calibrated", By: []string{"region"}, Options: options}, answers, labels)
		must.Do(t, err)
		low, high := f.Numbers("calibrated_low"), f.Numbers("calibrated_high")
		wide, narrow := 0.0, 0.0
		for i := range fair {
			if low[i] <= fair[i] && fair[i] <= high[i] {
				r.coverage += 1 / float64(6*worlds)
			}
			narrow, wide = narrow+high[i]-low[i], wide+f.Numbers("labels_high")[i]-f.Numbers("labels_low")[i]
			r.saved += (f.Numbers("n_equivalent")[i] - float64(labeled)) / float64(6*worlds)
		}
		r.width += narrow / wide / float64(worlds)
		fair[rng.IntN(6)] = 0.5
		answers, labels = judgedWorld(rng, 200, labeled, fair, islandErrors)
		gaps, _, err = evaluate(t, ask{Metric: "calibrated-gaps", By: []string{"region"}, Options: options}, answers,
			labels)
		must.Do(t, err)
		for i, p := range fair {
			if p == 0.5 {
				r.found += any(gaps.Texts("flagged")[i : i+1])
			}
		}
	}
	if method == "adjusted" && (r.alarms > 0.05+2*math.Sqrt(0.05/float64(worlds)) || r.judgeAlarms < 0.8 ||
		r.coverage < 0.93 || r.width >= 0.95 || labeled >= 20 && r.found < 0.5) {
		t.Errorf("%d labels: %+v", labeled, r)
	}
	return r
}

// TestQuestionScores: TIFA and Soft-TIFA of images by hand.
func TestQuestionScores(t *testing.T) {
	nan := math.NaN()
	f := &table.Frame{Columns: []table.Column{table.TextColumn("image_id", []string{"a", "a", "a", "b", "c"}),
		table.TextColumn("region", []string{"n", "n", "n", "s", "s"}),
		table.NumberColumn("answer_correct", []float64{1, 0, nan, 1, nan}),
		table.NumberColumn("answer_p_wanted", []float64{0.9, 0.4, nan, 0, nan})}}
	out, _, err := evaluate(t, ask{Metric: "question-scores", By: []string{"image_id", "region"}}, f)
	must.Do(t, err)
	near.Check(t, "tifa", out.Numbers("tifa"), []float64{0.5, 1, nan}, 1e-12, 0)
	near.Check(t, "soft", out.Numbers("soft_tifa"), []float64{0.65, 0, nan}, 1e-12, 0)
	near.Check(t, "geometric", out.Numbers("soft_tifa_gm"), []float64{math.Sqrt(0.36), 0, nan}, 1e-12, 0)
	near.Check(t, "unanswered", out.Numbers("n_unanswered"), []float64{1, 0, 1}, 0, 0)
	must.Equal(t, out.Texts("region")[1], "s")
	for by, want := range map[string]string{"image_id,region": "a", "region,image_id": "a", "region,kind": "n, x"} {
		f := f.With(table.TextColumn("kind", slices.Repeat([]string{"x"}, 5)))
		out, _ := must.Get2(evaluate(t, ask{Metric: "question-scores", By: strings.Split(by, ",")}, f))(t)
		must.Equal(t, out.Texts("id")[0], want, by)
	}
	must.Fail(evaluate(t, ask{Metric: "question-scores"}, f.With(table.NumberColumn("answer_p_wanted",
		[]float64{2, 0, 0, 0, 0}))))(t, "2 is no probability") // no probability
}

// diversityWorlds simulates groups of 400 images in categories with the given shares, of which some have labels; the
// judge takes 5, 10 and 30 % of the images of the first three categories, and 30 % of others, for the first one. It
// returns how often intervals contain the true Hill number, their mean width, and the biases of the values and of the
// judge.
func diversityWorlds(t *testing.T, worlds int, shares []float64, labeled int) (coverage, width, bias, judge float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(near.Seed(t), uint64(labeled)))
	truth, n := hill(shares, "1"), float64(worlds)
	for range worlds {
		var ids, answers, names, labels []string
		for i := range 400 {
			x, k := rng.Float64(), 0
			for ; k < len(shares)-1 && x >= shares[k]; k++ {
				x -= shares[k]
			}
			answer := k
			if rng.Float64() < []float64{0.05, 0.1, 0.3}[min(k, 2)] {
				answer = 0
			}
			ids, answers = append(ids, fmt.Sprint(i)), append(answers, fmt.Sprint("kind ", answer))
			if i < labeled {
				names, labels = append(names, fmt.Sprint(i)), append(labels, fmt.Sprint("kind ", k))
			}
		}
		f, _, err := evaluate(t, ask{Metric: "calibrated-diversity", Options: map[string]string{"resamples": "200"}},
			&table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("answer", answers)}},
			&table.Frame{Columns: []table.Column{table.TextColumn("id", names), table.TextColumn("label", labels)}})
		if err != nil {
			t.Fatal(err)
		}
		low, high := f.Numbers("calibrated_hill_low")[0], f.Numbers("calibrated_hill_high")[0]
		if low <= truth && truth <= high+1e-9 {
			coverage += 1 / n
		}
		width += (high - low) / n
		bias += (f.Numbers("calibrated_hill")[0] - truth) / n
		judge += (f.Numbers("judge_hill")[0] - truth) / n
	}
	return coverage, width, bias, judge
}

// TestCalibratedDiversity: known values, several labels of an image, groups without labels, and few simulated worlds;
// calibrated_long_test.go has more.
func TestCalibratedDiversity(t *testing.T) {
	text := func(name string, values ...string) table.Column { return table.TextColumn(name, values) }
	answers := &table.Frame{Columns: []table.Column{text("id", "a", "b", "c", "d", "e", "f", "g"),
		text("region", "x", "x", "x", "x", "y", "y", "x"), text("answer", "p", "p", "q", "q", "p", "p", "")}}
	labels := &table.Frame{Columns: []table.Column{text("id", "a", "a", "b", "c", "z"),
		text("label", "p", "q", "p", "q", "of no image")}}
	// Of x, answers p: labels p 1.5, q 0.5; answers q: q 1. With prior counts of 1/2: p 2/3, q 1/3; p 1/4, q 3/4.
	f, notes := must.Get2(evaluate(t, ask{Metric: "calibrated-diversity", By: []string{"region"},
		Options: map[string]string{"resamples": "-1",
			"order": "2"}}, answers, labels))(t)
	p := (2./3 + 1./4) / 2
	near.Check(t, "Hill numbers", []float64{f.Numbers("calibrated_hill")[0], f.Numbers("judge_hill")[0],
		f.Numbers("label_hill")[0], f.Numbers("judge_hill")[1]},
		[]float64{1 / (p*p + (1-p)*(1-p)), 2, 2, 1}, 1e-12, 0)
	if !math.IsNaN(f.Numbers("calibrated_hill")[1]) || f.Texts("basis")[1] != basisJudge || len(notes) != 3 ||
		!strings.Contains(notes[0], "1 of 5 labels are of items") ||
		!strings.Contains(notes[1], "1 images have no answer") || f.Numbers("n_labeled")[0] != 3 {
		t.Errorf("%s\n%q", datasets.Format(f, 0), notes)
	}
	coverage, _, bias, judge := diversityWorlds(t, 40, []float64{0.5, 0.3, 0.15, 0.05}, 40)
	if coverage < 0.85 || math.Abs(bias) > 0.15 || judge > -0.3 {
		t.Errorf("coverage %.3f, bias %.2f, of the judge %.2f", coverage, bias, judge)
	}
}
