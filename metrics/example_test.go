package metrics_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"strings"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

var show = tabulartest.Show

// images returns n images with a vector, half of them in each of two regions; those of the south are shifted.
func images(n int, shift float32) datasets.Table {
	f := &table.Frame{}
	var id, region []string
	var vectors [][]float32
	for i := range n {
		id, region = append(id, fmt.Sprint("i", i)), append(region, []string{"north", "south"}[i%2])
		vectors = append(vectors, []float32{float32(i / 2 % 5), float32(i/10) + shift*float32(i%2)})
	}
	f.Columns = []table.Column{table.TextColumn("id", id), table.TextColumn("region", region),
		table.VectorColumn("full", vectors), table.VectorColumn("object_only", vectors),
		table.VectorColumn("background_only", vectors), table.ImageColumn("image", make([]table.Image, n))}
	return datasets.FromFrame(f)
}

func sets() metrics.Sets { return metrics.Sets{Real: images(60, 0), Generated: images(60, 2.5)} }

// byRegion returns scores of three regions.
func byRegion(up float64) datasets.Table {
	f := &table.Frame{Columns: []table.Column{
		table.TextColumn("object", []string{"bag", "bag", "bag", "bag", "bag", "bag"}),
		table.TextColumn("region", []string{"Africa", "Europe", "SouthEastAsia", "Africa", "Europe", "SouthEastAsia"}),
		table.TextColumn("vector", []string{"object_only", "object_only", "object_only", "background_only",
			"background_only", "background_only"}),
		table.NumberColumn("precision", []float64{0.5, 0.625, 0.75, 0.5, 0.5, 0.5}),
		table.NumberColumn("coverage", []float64{0.375, 0.5, 0.5, 0.25 + up, 0.5, 0.625})}}
	return datasets.FromFrame(f)
}

// Reference and generated images agree in the north and differ in the south.
func ExamplePrecisionCoverage() {
	show(metrics.PrecisionCoverage(sets(), metrics.PrecisionCoverageOptions{By: metrics.By("region"),
		Comparison: metrics.Comparison{Boundary: "<="}}),
		"region", "precision", "coverage", "n_real", "n_used")
	// Output:
	// region  precision  coverage  n_real  n_used
	// north           1         1      30      30
	// south    0.666667  0.666667      30      30
}

func ExampleGaps() {
	show(metrics.Gaps(sets(), metrics.GapsOptions{By: metrics.By("region"), Scores: []string{"coverage"}}),
		"region", "score", "n_real", "n_generated")
	// Output:
	// region  score     n_real  n_generated
	// north   coverage      30           30
	// south   coverage      30           30
}

// South is no reference group.
func ExampleGapsToControls() {
	south := datasets.FromRows([]map[string]any{{"region": "south"}})
	show(metrics.GapsToControls(sets(), south, metrics.GapsOptions{By: metrics.By("region")}),
		"region", "score", "flagged")
	// Output:
	// region  score      flagged
	// south   precision  yes
	// south   coverage   yes
}

// Two equal runs; the reference images are the same for both.
func ExampleCompare() {
	run := sets()
	score := func(generated datasets.Table) datasets.Table {
		return metrics.PrecisionCoverage(metrics.Sets{Real: run.Real, Generated: generated},
			metrics.PrecisionCoverageOptions{By: metrics.By("region")})
	}
	changes := metrics.Compare(run.Generated, run.Generated, score, metrics.CompareOptions{Margin: 0.05,
		Scores: []string{"precision"}, Intervals: metrics.Intervals{Resamples: 20}})
	show(changes, "subject", "score", "verdict", "n_paired", "change_low", "change_high")
	// Output:
	// subject      score      verdict        n_paired  change_low  change_high
	// north, full  precision  no regression        30           0            0
	// south, full  precision  no regression        30           0            0
}

func ExampleHyperspheres() {
	show(metrics.Hyperspheres(sets(), metrics.HyperspheresOptions{By: metrics.By("region")}).Head(2),
		"region", "source", "id", "radius", "n_inside")
	// Output:
	// region  source  id   radius  n_inside
	// north   real    i0  1.41421         3
	// north   real    i2        1         1
}

func ExampleHubShares() {
	show(metrics.HubShares(sets(), metrics.HyperspheresOptions{By: metrics.By("region"),
		Comparison: metrics.Comparison{Boundary: "<="}}).Head(2),
		"region", "without", "share", "n_hubs")
	// Output:
	// region  without  share  n_hubs
	// north   top 1        0       1
	// north   top 5        0       5
}

func ExampleGallery() {
	show(metrics.Gallery(sets(), metrics.GalleryOptions{Selection: metrics.Hubs, By: metrics.By("region"), N: 1,
		Matches: 2, Comparison: metrics.Comparison{Boundary: "<="}}), "group", "role", "distance", "rank", "id")
	// Output:
	// group  role       distance  rank  id
	// i12    reference               0  i12
	// i12    match             0     1  i12
	// i12    match             1     2  i2
	// i51    reference               0  i51
	// i51    match           0.5     1  i21
	// i51    match           0.5     2  i31
}

func ExampleRegionSummary() {
	show(metrics.RegionSummary(byRegion(0)), "vector", "score", "worst_region", "average", "worst", "ratio")
	// Output:
	// vector           score      worst_region   average  worst    ratio
	// object_only      precision  Africa           0.625    0.5      1.5
	// background_only  precision  Africa             0.5    0.5        1
	// object_only      coverage   Africa        0.458333  0.375  1.33333
	// background_only  coverage   Africa        0.458333   0.25      2.5
}

func ExampleTemplateDeltas() {
	show(metrics.TemplateDeltas(byRegion(0), byRegion(0.125)).Where("score", "==", "coverage").
		Where("vector", "==", "background_only").Head(2), "vector", "of", "original", "changed", "percent")
	// Output:
	// vector           of            original  changed  percent
	// background_only  average       0.458333      0.5  9%
	// background_only  worst region      0.25    0.375  50%
}

func ExampleDisparityRatios() {
	show(metrics.DisparityRatios(byRegion(0)), "name", "ratio", "background", "object")
	// Output:
	// name                       ratio  background   object
	// ratio-of-ratios, coverage  1.875         2.5  1.33333
	// span ratio, coverage           3       0.375    0.125
	// span ratio, precision          0           0     0.25
}

func ExampleObjectMeans() {
	show(metrics.ObjectMeans(byRegion(0)), "object", "vector", "precision", "coverage", "n_regions")
	// Output:
	// object  vector           precision  coverage  n_regions
	// bag     object_only          0.625  0.458333          3
	// bag     background_only        0.5  0.458333          3
}

func ExampleTrendLines() {
	show(metrics.TrendLines(byRegion(0), datasets.Table{}, metrics.TrendLinesOptions{AnyRegions: true}), "trend",
		"verdict")
	// Output:
	// trend                                       verdict
	// average precision, object above background  pass
	// average coverage about equal                pass
	// best/worst coverage larger for background   pass
}

func ExampleTrendLines_changed() {
	show(metrics.TrendLines(byRegion(0), byRegion(0.125), metrics.TrendLinesOptions{AnyRegions: true}).
		Where("verdict", "==", "pass"), "trend")
	// Output:
	// trend
	// average precision, object above background
	// average coverage about equal
	// best/worst coverage larger for background
	// average background coverage clearly up
	// worst background coverage clearly up
	// average background precision little changed
}

func ExampleInjectedVerdicts() {
	gaps := datasets.FromRows([]map[string]any{
		{"region": "a", "vector": "object_only", "score": "coverage", "flagged": "yes", "gap": -0.25,
			"gap_low": -0.5, "gap_high": -0.125},
		{"region": "b", "vector": "object_only", "score": "coverage", "flagged": "no", "gap": 0.0,
			"gap_low": -0.125, "gap_high": 0.125}})
	injected := datasets.FromRows([]map[string]any{{"region": "a", "component": "object", "score": "coverage"}})
	show(metrics.InjectedVerdicts(gaps, injected), "region", "injected", "verdict", "gap")
	// Output:
	// region  injected  verdict        gap
	// a       yes       found        -0.25
	// b       no        not flagged      0
}

func ExampleTagShares() {
	tags := datasets.FromRows([]map[string]any{{"id": "i0", "tag": "rusty"}})
	show(metrics.TagShares(images(1, 0), tags), "tag", "share", "n_tagged", "n_inspected")
	// Output:
	// tag    share  n_tagged  n_inspected
	// rusty      1         1            1
}

func ExampleClassFilter() {
	bags := images(6, 0).With("object", "bag").With("outcome", "ok")
	show(metrics.ClassFilter(bags, metrics.ClassFilterOptions{MinImages: 3}), "object", "region", "kept", "n_images")
	// Output:
	// object  region  kept  n_images
	// bag     north   yes          3
	// bag     south   yes          3
}

func ExampleDuplicateVectors() {
	rows := datasets.FromRows([]map[string]any{{"id": "a", "full": []float32{1, 2}}, {"id": "b",
		"full": []float32{1, 2}}, {"id": "c", "full": []float32{3, 4}}})
	show(metrics.DuplicateVectors(rows), "id", "kept", "copies")
	// Output:
	// id  kept  copies
	// a   no         2
	// b   no         2
	// c   yes        1
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

// boxes returns images of 10 × 10 pixels with masks of so many columns from the left; 0 = unmasked.
func boxes(columns ...int) datasets.Table {
	f := table.Frame{Columns: []table.Column{table.TextColumn("id", nil), table.TextColumn("region", nil),
		table.MaskColumn("mask", nil)}}
	for i, n := range columns {
		m := mask.New(10, 10)
		for p := range m.Pix {
			m.Pix[p] = p%10 < n
		}
		stored := mask.Encode(m)
		if n == 0 {
			stored = table.Mask{}
		}
		f.Columns[0].Texts = append(f.Columns[0].Texts, fmt.Sprint(i))
		f.Columns[1].Texts = append(f.Columns[1].Texts, []string{"north", "south"}[i*2/len(columns)])
		f.Columns[2].Masks = append(f.Columns[2].Masks, stored)
	}
	return datasets.FromFrame(&f)
}

func ExampleMaskTrust() {
	show(metrics.MaskTrust(boxes(4, 4, 4, 5, 0, 10), boxes(4, 4, 5, 0, 0, 5),
		metrics.MaskTrustOptions{By: metrics.By("region")}),
		"region", "unmasked", "agreement", "n_images", "n_compared")
	// Output:
	// region  unmasked  agreement  n_images  n_compared
	// north          0   0.933333         3           3
	// south   0.333333       0.25         3           2
}

// The gap of the south holds; that of the north depends on where the masks end.
func ExampleGapSensitivity() {
	gaps := func(north, south float64, flagged string) datasets.Table {
		return datasets.FromFrame(&table.Frame{Columns: []table.Column{
			table.TextColumn("region", []string{"north", "south"}),
			table.TextColumn("vector", []string{"full", "full"}),
			table.TextColumn("score", []string{"coverage", "coverage"}),
			table.TextColumn("flagged", []string{flagged, "yes"}),
			table.NumberColumn("gap", []float64{north, south}),
			table.NumberColumn("gap_low", []float64{north - 0.1, south - 0.1}),
			table.NumberColumn("gap_high", []float64{north + 0.1, south + 0.1}),
			table.TextColumn("interval", []string{"95 % interval", "95 % interval"}),
			table.NumberColumn("n_real", []float64{64, 64}), table.NumberColumn("n_generated", []float64{64, 64})}})
	}
	show(metrics.GapSensitivity(gaps(-0.125, -0.25, "yes"), metrics.GapVariants{Eroded: gaps(0, -0.25, "no"),
		Dilated: gaps(-0.25, -0.375, "yes")}), "region", "verdict", "gone_with", "gap", "gap_eroded", "gap_dilated")
	// Output:
	// region  verdict                      gone_with     gap  gap_eroded  gap_dilated
	// north   segmentation can explain it  eroded     -0.125           0        -0.25
	// south   holds                                    -0.25       -0.25       -0.375
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
