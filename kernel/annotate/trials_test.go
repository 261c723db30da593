package annotate

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	audit "antipode/audits/visage"
	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/agreement"
	"antipode/metrics/concepts"
	"antipode/metrics/consistency"
	"antipode/metrics/disparity"
	"antipode/metrics/representation"
	"antipode/metrics/stereotypes"
)

// values returns a column of numbers by the text of other columns.
func values(f *table.Frame, column string, by ...string) map[string]float64 {
	out := map[string]float64{}
	for i, v := range f.Numbers(column) {
		var key []string
		for _, name := range by {
			key = append(key, f.Texts(name)[i])
		}
		out[strings.Join(key, "/")] = v
	}
	return out
}

// same fails unless both have the same keys and values; NaN equals NaN.
func same(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	must.True(t, len(got) == len(want) && len(want) != 0, "%s: %d values, want %d", what, len(got), len(want))
	for name, w := range want {
		g, has := got[name]
		must.True(t, has && math.Abs(g-w) <= 1e-12 && math.IsNaN(g) == math.IsNaN(w),
			"%s of %s: %g, want %g", what, name, g, w)
	}
}

// unanimous fails unless all raters agree, as the metric agreement computes it from the ratings.
func unanimous(t *testing.T, evaluate func(datasets.Table) *table.Frame, c *Collected) {
	t.Helper()
	f := evaluate(agreement.Scores(datasets.FromFrame(c.Ratings), agreement.Options{Item: "item",
		Intervals: metrics.Intervals{Resamples: -1}}))
	must.Equal(t, f.Numbers("percent")[0], 1)
	must.Equal(t, f.Numbers("n_left_out")[0], 0)
}

// trial is a task on the built-in world with a rater who sees what the images show, and the check of what the metrics
// compute from the answers.
type trial struct {
	in     *table.Frame
	o      Options
	answer func(q seen) reply
	check  func(t *testing.T, c *Collected)
}

func pick(q seen, text string) reply { return reply{pick: []int{slices.Index(q.options, text)}} }

// trials are those of every task.
func trials(evaluate func(datasets.Table) *table.Frame) map[string]trial {
	return map[string]trial{Visage: visageTrial(evaluate), Entigen: entigenTrial(evaluate),
		Visual: visualTrial(evaluate), Failures: failuresTrial(evaluate), TagTask: tagsTrial(evaluate),
		Translations: translationsTrial(evaluate), Question: questionTrial(evaluate)}
}

// visageTrial: theta is that of perfect annotators, and largest for the people whose stereotypes were injected.
func visageTrial(evaluate func(datasets.Table) *table.Frame) trial {
	w := world(5)
	in := evaluate(w.Peoples().Where("set", "==", "d"))
	shows := in.Texts("attributes")
	return trial{in, Options{Attributes: evaluate(w.Stereotypes())}, func(q seen) (r reply) {
		for i, option := range q.options {
			if slices.Contains(strings.Split(shows[q.rows[0]], ", "), option) {
				r.pick = append(r.pick, i)
			}
		}
		return r
	}, func(t *testing.T, c *Collected) {
		unanimous(t, evaluate, c)
		asked := map[string]bool{}
		for i, identity := range c.Table.Texts("identity") {
			asked[identity+"/"+c.Table.Texts("attribute")[i]] = true
		}
		truth := evaluate(w.Annotations())
		var rows []int
		for i, identity := range truth.Texts("identity") {
			if asked[identity+"/"+truth.Texts("attribute")[i]] {
				rows = append(rows, i)
			}
		}
		theta := func(f *table.Frame, column string) map[string]float64 {
			return values(evaluate(stereotypes.Tendencies(datasets.FromFrame(f))), column, "identity")
		}
		got := theta(c.Table, "theta")
		same(t, "theta", got, theta(truth.Pick(rows), "theta"))
		path := filepath.Join(t.TempDir(), "showings.csv") // as antipode annotate collect writes it
		_ = must.Get(datasets.FromFrame(c.Table).SaveE(t.Context(), path))(t)
		audit := audit.Audit{Annotations: path, Generator: audit.Sampler, Resamples: -1}
		same(t, "theta of the audit", values(evaluate(audit.Scores()), "theta", "identity"), got)
		injected := evaluate(w.AuditDisparities().Where("audit", "==", "visage")).Texts("carrier")[0]
		low := theta(c.Table, "theta_low")
		for identity, value := range got {
			if identity != injected && value >= got[injected] || low[injected] <= 1 {
				t.Errorf("theta of %s is %g, of %s, whose stereotypes were injected, %g (from %g)", identity, value,
					injected, got[injected], low[injected])
			}
		}
	}}
}

// entigenTrial: the diversity is that of the labels of perfect raters.
func entigenTrial(evaluate func(datasets.Table) *table.Frame) trial {
	in := evaluate(world(2).Occupations())
	return trial{in, Options{Axes: datasets.ArchipelagoAxes}, func(q seen) reply {
		switch {
		case strings.Contains(q.text, "crest"):
			return pick(q, in.Texts("perceived_crest")[q.rows[0]])
		case strings.Contains(q.text, "banner"):
			return pick(q, in.Texts("perceived_banner")[q.rows[0]])
		}
		return pick(q, "Yes")
	}, func(t *testing.T, c *Collected) {
		unanimous(t, evaluate, c)
		diversity := func(f *table.Frame) map[string]float64 {
			return values(evaluate(representation.Diversity(datasets.FromFrame(f),
				representation.DiversityOptions{Labeling: representation.Labeling{Axes: datasets.ArchipelagoAxes},
					Intervals: metrics.Intervals{Resamples: -1}})), "diversity",
				"category", "prompt_id", "axis", "model", "kind")
		}
		same(t, "diversity", diversity(c.Table), diversity(in))
		bias := func(f *table.Frame) map[string]float64 {
			return values(evaluate(representation.Bias(datasets.FromFrame(f),
				representation.BiasOptions{Labeling: representation.Labeling{Axes: datasets.ArchipelagoAxes}})), "bias",
				"prompt_id", "axis", "attribute")
		}
		same(t, "bias", bias(c.Table), bias(in))
	}}
}

// visualTrial: the scores are the rater's.
func visualTrial(evaluate func(datasets.Table) *table.Frame) trial {
	in := evaluate(world(1).Stereotypes())
	labels := []string{"Strongly agree", "Agree", "Disagree", "Strongly disagree", "Unsure"}
	scores := []float64{5, 4, 2, 1, 3}
	opinion := func(attribute string) int { return len(attribute) % len(labels) }
	return trial{in, Options{}, func(q seen) reply {
		_, rest, _ := strings.Cut(q.heading, "“")
		attribute, _, _ := strings.Cut(rest, "”")
		if at := slices.Index(q.options, labels[opinion(attribute)]); at >= 0 {
			return reply{pick: []int{at}}
		}
		return reply{unsure: true}
	}, func(t *testing.T, c *Collected) {
		unanimous(t, evaluate, c)
		want := map[string]float64{}
		for _, a := range in.Texts("attribute") {
			want[a] = scores[opinion(a)]
		}
		for _, column := range []string{"score_asia", "score_europe", "score_na"} {
			same(t, column, values(c.Table, column, "attribute"), want)
		}
		f := evaluate(stereotypes.Consensus(datasets.FromFrame(c.Table)))
		must.Equal(t, f.Numbers("n_used")[0], float64(len(want)), "consensus", "attributes", len(want))
	}}
}

// failuresTrial: the concepts that fail, and how, are those injected.
func failuresTrial(evaluate func(datasets.Table) *table.Frame) trial {
	w := world(3)
	injected := evaluate(w.AuditDisparities().Where("audit", "==", "cococrola"))
	in := evaluate(w.Concepts().Where("language", "in", []string{"en", injected.Texts("carrier")[0]}))
	kinds := map[string]string{"": possessed, "non-specific": concepts.NonSpecific,
		"specific": concepts.SpecificCollision, "generic": concepts.GenericCollision}
	labels := map[string]string{possessed: "What the word means, in most images",
		concepts.NonSpecific:       "Something else, different things in different images",
		concepts.SpecificCollision: "Something else, the same thing in most images",
		concepts.GenericCollision:  "A scene that the images for other words show, too"}
	return trial{in, Options{Raters: 1}, func(q seen) reply {
		return pick(q, labels[kinds[in.Texts("failure")[q.rows[0]]]])
	}, func(t *testing.T, c *Collected) {
		want := map[string]bool{}
		for i, concept := range injected.Texts("subject") {
			want[injected.Texts("carrier")[i]+"/"+concept+"/"+kinds[injected.Texts("kind")[i]]] = true
		}
		for i, kind := range c.Table.Texts("kind") {
			row := c.Table.Texts("language")[i] + "/" + c.Table.Texts("concept")[i] + "/" + kind
			must.True(t, want[row], "%s was not injected", row)
			delete(want, row)
		}
		must.Equal(t, len(want), 0, "found", want)
		counts := evaluate(concepts.FailureCounts(datasets.FromFrame(c.Table), datasets.Table{}))
		for i, n := range counts.Numbers("n") {
			must.True(t, n == 2, "%g failures of the kind %s, want 2", n, counts.Texts("kind")[i])
		}
	}}
}

// tagsTrial: the shares of the tags are those of the objects that the images show.
func tagsTrial(evaluate func(datasets.Table) *table.Frame) trial {
	w := world(1)
	in := evaluate(w.Reference())
	tags := []string{"boat", "house", "rusty"}
	return trial{in, Options{Tags: tags}, func(q seen) (r reply) {
		if at := slices.Index(q.options, in.Texts("object")[q.rows[0]]); at >= 0 {
			r.pick = []int{at}
		}
		return r
	}, func(t *testing.T, c *Collected) {
		unanimous(t, evaluate, c)
		want := map[string]float64{}
		for _, object := range in.Texts("object") {
			if slices.Contains(tags, object) {
				want[object] += 1 / float64(in.Len())
			}
		}
		f := evaluate(disparity.TagShares(w.Reference(), datasets.FromFrame(c.Table)))
		same(t, "share", values(f, "share", "tag"), want)
		must.True(t, f.Numbers("n_inspected")[0] == float64(in.Len()), "%v", fmt.Sprint(f))
	}}
}

// translationsTrial: the mean rating of each language is the rater's; English prompts are not rated.
func translationsTrial(evaluate func(datasets.Table) *table.Frame) trial {
	in := table.NewFrame(datasets.Columns("prompt_id:text", "language:text", "prompt:text", "english:text"))
	for _, row := range [][]string{{"p1", "en", "a bus", "a bus"}, {"p1", "hin_Deva", "एक बस", "a bus"},
		{"p2", "hin_Deva", "दो कुत्ते", "two dogs"}, {"p1", "urd_Arab", "ایک بس", "a bus"},
		{"p2", "urd_Arab", "", "two dogs"}} {
		in.Add(row)
	}
	return trial{in, Options{Raters: 4}, func(q seen) reply {
		if strings.Contains(q.text, "एक") {
			return pick(q, "Some of it: something important differs or is missing")
		}
		return pick(q, "All of it: equivalent, also in tone")
	}, func(t *testing.T, c *Collected) {
		unanimous(t, evaluate, c)
		ratings := evaluate(consistency.TranslationRatings(datasets.FromFrame(c.Table)))
		same(t, "rating", values(ratings, "rating", "language"),
			map[string]float64{"hin_Deva": 3.5, "urd_Arab": 5, "all": 4})
		must.Equal(t, ratings.Numbers("n_annotators")[0], 4, "annotators")
	}}
}

// questionTrial: labels of a sample by region take out the error of a judge that always answers yes.
func questionTrial(evaluate func(datasets.Table) *table.Frame) trial {
	images := world(1).Reference().With("question", "Is it a boat?").With("choices", "yes|no").With("answer", "yes")
	in := evaluate(images.Sample(6, "region", 1))
	return trial{in, Options{}, func(q seen) reply {
		if in.Texts("object")[q.rows[0]] == "boat" {
			return pick(q, "yes")
		}
		return pick(q, "no")
	}, func(t *testing.T, c *Collected) {
		unanimous(t, evaluate, c)
		want, rows := map[string]float64{}, map[string]float64{}
		for i, region := range in.Texts("region") {
			want[region] += 0
			if rows[region]++; in.Texts("object")[i] == "boat" {
				want[region]++
			}
		}
		for region := range want {
			want[region] /= rows[region]
		}
		f := evaluate(metrics.Calibrated(images, datasets.FromFrame(c.Table), metrics.CalibratedOptions{Positive: "yes",
			By: []string{"region"}}))
		got := values(f, "calibrated", "region")
		same(t, "calibrated", got, want)
		must.True(t, f.Numbers("judge")[0] == 1 && f.Texts("basis")[0] == "judge and labels", "%v", fmt.Sprint(f))
	}}
}
