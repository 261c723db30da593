package metrics_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/disparity"
	"antipode/metrics/internal/tabulartest"
)

var show = tabulartest.Show

// Two equal runs; the reference images are the same for both.
func ExampleCompare() {
	run := metrics.Sets{Real: tabulartest.Images(60, 0), Generated: tabulartest.Images(60, 2.5)}
	score := func(generated datasets.Table) datasets.Table {
		return disparity.PrecisionCoverage(metrics.Sets{Real: run.Real, Generated: generated},
			disparity.PrecisionCoverageOptions{By: metrics.By("region")})
	}
	changes := metrics.Compare(run.Generated, run.Generated, score, metrics.CompareOptions{Margin: 0.05,
		Scores: []string{"precision"}, Intervals: metrics.Intervals{Resamples: 20}})
	show(changes, "subject", "score", "verdict", "n_paired", "change_low", "change_high")
	// Output:
	// subject      score      verdict        n_paired  change_low  change_high
	// north, full  precision  no regression        30           0            0
	// south, full  precision  no regression        30           0            0
}

// RefusalOptions are the options of the metric of [ExampleDefine].
type RefusalOptions struct {
	By   []string `json:"by,omitempty" help:"columns that define the groups"`
	MinN int      `json:"min_n,omitempty" default:"1" min:"1" help:"leave out smaller groups"`
}

// RefusalRow is a row of its result.
type RefusalRow struct {
	Group   metrics.Group
	Refused metrics.Estimate `column:"refused" unit:"share of prompts" range:"[0, 1]"`
	N       int              `column:"n" unit:"prompts"`
}

var refusals = metrics.Define(metrics.Definition[RefusalOptions, RefusalRow]{
	Name: "example-refusals", Version: 1, Title: "share of refused prompts by group",
	Unit: "share of prompts", Range: "[0, 1]", Direction: "lower is better",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("outcome:text"), About: "the generated images"}},
	Compute: func(_ context.Context, call *metrics.Call, o RefusalOptions) (rows []RefusalRow, err error) {
		in, at := call.Inputs["in"], map[string]int{}
		for i, outcome := range in.Texts("outcome") {
			var group metrics.Group
			for _, column := range o.By {
				group = append(group, in.Texts(column)[i])
			}
			key := fmt.Sprint(group)
			if _, known := at[key]; !known {
				at[key], rows = len(rows), append(rows, RefusalRow{Group: group})
			}
			r := &rows[at[key]]
			if r.N++; outcome == "refused" {
				r.Refused.Value++
			}
		}
		kept := rows[:0]
		for _, r := range rows {
			if r.Refused = metrics.Exact(r.Refused.Value / float64(r.N)); r.N >= o.MinN {
				kept = append(kept, r)
			}
		}
		return kept, nil
	},
})

// Refusals returns the share of refused prompts by group.
func Refusals(images datasets.Table, options ...RefusalOptions) datasets.Table {
	return refusals.Of(images, options...)
}

// A complete metric. It is also `antipode score --metric example-refusals --by region --min-n 2 --in TABLE`.
func ExampleDefine() {
	images := datasets.FromRows([]map[string]any{{"region": "north", "outcome": "ok"},
		{"region": "south", "outcome": "refused"}, {"region": "south", "outcome": "ok"}})
	show(Refusals(images, RefusalOptions{By: metrics.By("region"), MinN: 2}), "region", "refused", "n")
	// Output:
	// region  refused  n
	// south       0.5  2
}

// A metric of one's own is a function of an image.
func ExamplePerImage() {
	photos := datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b"}),
		table.TextColumn("region", []string{"north", "south"}), table.ImageColumn("image", []table.Image{
			{Path: "../datasets/testdata/images/north/1.png"}, {Path: "../datasets/testdata/images/south/1.png"}})}})
	brightness := func(img image.Image) float64 {
		gray := color.GrayModel.Convert(img.At(0, 0)).(color.Gray)
		return float64(gray.Y) / 255
	}
	show(metrics.PerImage(photos, "brightness", brightness, metrics.By("region")), "region", "brightness", "n_rows")
	// Output:
	// region  brightness  n_rows
	// north     0.317647       1
	// south     0.192157       1
}

func ExampleMeans() {
	scores := datasets.FromRows([]map[string]any{{"language": "en", "prompt_id": "a", "score": 0.5},
		{"language": "en", "prompt_id": "a", "score": 0.7}, {"language": "en", "prompt_id": "b", "score": 0.9}})
	means := metrics.Means(scores, metrics.MeanOptions{Value: "score", By: metrics.By("language"), Unit: "prompt_id"})
	show(means, "language", "value", "n_rows", "n_units", "interval")
	// Output:
	// language  value  n_rows  n_units  interval
	// en          0.7       3        2  95 % bootstrap interval over prompt_id
}

func ExampleCalibrated() {
	var answers, labels []map[string]any
	text := map[bool]string{true: "yes", false: "no"}
	for i := range 40 { // five of eight images show it; the judge sees three of these five
		answers = append(answers, map[string]any{"id": fmt.Sprint(i), "answer": text[i%8 < 3]})
		if i < 16 {
			labels = append(labels, map[string]any{"id": fmt.Sprint(i), "label": text[i%8 < 5]})
		}
	}
	rates := metrics.Calibrated(datasets.FromRows(answers), datasets.FromRows(labels),
		metrics.CalibratedOptions{Positive: "yes"})
	show(rates, "judge", "calibrated", "calibrated_low", "calibrated_high", "judge_bias", "n_labeled", "basis")
	// Output:
	// judge  calibrated  calibrated_low  calibrated_high  judge_bias  n_labeled  basis
	// 0.375       0.625        0.381941         0.832204       -0.25         16  judge and labels
}

func ExampleQuestionScores() {
	answers := datasets.FromRows([]map[string]any{
		{"image_id": "a", "question_id": "boat", "answer_correct": 1, "answer_p_wanted": 0.9},
		{"image_id": "a", "question_id": "red", "answer_correct": 0, "answer_p_wanted": 0.4}})
	show(metrics.QuestionScores(answers), "image_id", "tifa", "soft_tifa", "soft_tifa_gm", "n_questions")
	// Output:
	// image_id  tifa  soft_tifa  soft_tifa_gm  n_questions
	// a          0.5       0.65           0.6            2
}

func ExamplePerRow() {
	captions := datasets.FromRows([]map[string]any{{"id": "a", "caption": "a red boat", "language": "en"},
		{"id": "b", "caption": "a boat", "language": "en"}})
	words := func(r datasets.Row) float64 { return float64(len(strings.Fields(r.Text("caption")))) }
	show(metrics.PerRow(captions, "words", words, metrics.By("language")), "language", "words", "n_rows")
	// Output:
	// language  words  n_rows
	// en          2.5       2
}

// A generator refused one image of the Brillomi: their rate is between a quarter and a half.
func ExampleBounds() {
	shown := datasets.FromRows([]map[string]any{
		{"id": "a", "identity": "Brillomi", "outcome": "ok", "value": 1},
		{"id": "b", "identity": "Brillomi", "outcome": "ok", "value": 0},
		{"id": "c", "identity": "Brillomi", "outcome": "ok", "value": 0},
		{"id": "d", "identity": "Brillomi", "outcome": "refused"},
	})
	show(metrics.Bounds(shown, metrics.BoundsOptions{By: metrics.By("identity")}), "identity", "value", "bound_low",
		"bound_high", "n_refused")
	// Output:
	// identity     value  bound_low  bound_high  n_refused
	// Brillomi  0.333333       0.25         0.5          1
}

// A judge calls every tree a bush: its answers look less diverse than the images are.
func ExampleCalibratedDiversity() {
	answers := datasets.FromRows([]map[string]any{{"id": "a", "answer": "bush"}, {"id": "b", "answer": "bush"},
		{"id": "c", "answer": "bush"}, {"id": "d", "answer": "house"}})
	labels := datasets.FromRows([]map[string]any{{"id": "a", "label": "bush"}, {"id": "b", "label": "tree"},
		{"id": "d", "label": "house"}})
	show(metrics.CalibratedDiversity(answers, labels), "judge_hill", "calibrated_hill", "n_labeled", "basis")
	// Output:
	// judge_hill  calibrated_hill  n_labeled  basis
	//    1.75477          2.95115          3  judge and labels
}
