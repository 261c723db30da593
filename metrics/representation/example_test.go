package representation_test

import (
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/datasets/entigen"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/representation"
)

// tableOf returns a table of rows of values under the names in head.
func tableOf(head string, rows ...[]any) datasets.Table {
	var out []map[string]any
	for _, values := range rows {
		row := map[string]any{}
		for i, name := range strings.Fields(head) {
			row[name] = values[i]
		}
		out = append(out, row)
	}
	return datasets.FromRows(out)
}

const ratingHead = "model category prompt_id attribute image_id perceived_gender person as_described"

// ratings are labels of one rater about images of two professions: the original prompt and one with a sentence, P-G1.
// Each letter is an image: m = perceived as a man, w = as a woman, u = no group.
func ratings() datasets.Table {
	var rows [][]any
	for _, c := range [][3]string{{"original", "doctor", "mmmm"}, {"original", "nurse", "mwww"},
		{"P-G1", "doctor", "mmww"}, {"P-G1", "nurse", "mwuu"}, {"P-I1", "doctor", "mmmw"}, {"P-I1", "nurse", "wwww"}} {
		for i, letter := range c[2] {
			group := map[rune]string{'m': "man", 'w': "woman", 'u': entigen.NoGroup}[letter]
			id := fmt.Sprintf("%s/%s/%d", c[0], c[1], i)
			rows = append(rows, []any{entigen.SD, entigen.Profession, c[0], c[1], id, group, 1, 1})
		}
	}
	return tableOf(ratingHead, rows...)
}

// DS is 0 where every attribute has equally many images of both groups, 1 where each has images of one group only.
func ExampleDiversity() {
	tabulartest.Show(representation.Diversity(ratings(),
		representation.DiversityOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"prompt_id", "axis", "diversity", "change", "n_group_a", "n_group_b", "warning")
	// Output:
	// prompt_id  axis              diversity  change  n_group_a  n_group_b  warning
	// original   perceived gender       0.75       0          5          3  few usable images: 8
	// P-G1       perceived gender          0   -0.75          3          3  few usable images: 6
	// P-I1       perceived gender       0.75       0          3          5  few usable images: 8
}

// A bias above 0 means more images of the first group of the axis, here of people perceived as men.
func ExampleBias() {
	tabulartest.Show(representation.Bias(ratings()).Where("prompt_id", "!=", "P-I1"),
		"prompt_id", "attribute", "bias", "bias_low", "bias_high", "change")
	// Output:
	// prompt_id  attribute  bias   bias_low  bias_high  change
	// original   doctor        1  0.0202183          1  original
	// original   nurse      -0.5  -0.908825   0.398716  original
	// P-G1       doctor        0  -0.699922   0.699922  reduced
	// P-G1       nurse         0  -0.810938   0.810938  reduced
}

func ExampleQuality() {
	tabulartest.Show(representation.Quality(ratings(),
		representation.QualityOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"prompt_id", "quality_usable", "quality_as_described", "n_used", "n_attributes")
	// Output:
	// prompt_id  quality_usable  quality_as_described  n_used  n_attributes
	// original                4                     4       8             2
	// P-G1                    3                     4       6             2
	// P-I1                    4                     4       8             2
}

func ExampleInterventions() {
	tabulartest.Show(representation.Interventions(ratings(),
		representation.InterventionOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"prompt_id", "relation", "diversity_original", "diversity", "change", "improves", "n_reduced")
	// Output:
	// prompt_id  relation  diversity_original  diversity  change  improves  n_reduced
	// P-G1       own axis                0.75          0   -0.75  yes               2
	// P-I1       control                 0.75       0.75       0  no                1
}

// The paper's printed values, as judged by people: sentences about perceived gender compared with irrelevant ones.
func ExampleControls() {
	controls := representation.Controls(entigen.Printed())
	tabulartest.Show(controls.Where("judge", "==", "human").Where("category", "==", entigen.Profession).
		Where("axis", "==", entigen.PerceivedGender), "relation", "share_improved", "n_improved", "n_used")
	// Output:
	// relation    share_improved  n_improved  n_used
	// control                0.5           3       6
	// other axis             0.5           3       6
	// own axis          0.666667           4       6
}

// Each image generated is compared with the prompts requested.
func ExampleGaps() {
	const head = "category prompt_id attribute"
	prompts := tableOf(head, []any{"profession", "original", "doctor"}, []any{"profession", "original", "doctor"},
		[]any{"profession", "original", "nurse"})
	images := tableOf(head+" model outcome", []any{"profession", "original", "doctor", "SD", "ok"},
		[]any{"profession", "original", "doctor", "SD", "refused"},
		[]any{"profession", "original", "nurse", "SD", "ok"})
	tabulartest.Show(representation.Gaps(images, prompts), "attribute", "n_asked", "n_refused", "n_used", "gap")
	// Output:
	// attribute  n_asked  n_refused  n_used  gap
	// doctor           2          1       1  1 missing
	// nurse            1          0       1
}

func trainingCaptions() datasets.Table {
	return tableOf("id caption link", []any{"1", "Jobs open to all irrespective of their gender", ""},
		[]any{"2", "gender and makeup in film", ""}, []any{"3", "a police officer", ""})
}

func ExamplePhrases() {
	tabulartest.Show(representation.Phrases(trainingCaptions(),
		representation.PhraseOptions{Queries: []string{"irrespective of", "gender+makeup"}}),
		"query", "n_captions", "n_used", "rules")
	// Output:
	// query            n_captions  n_used  rules
	// irrespective of           1       3  case ignored, whole words
	// gender + makeup           1       3  case ignored, whole words
}

func ExampleContexts() {
	tabulartest.Show(representation.Contexts(trainingCaptions(), representation.ContextOptions{Width: 12,
		PhraseOptions: representation.PhraseOptions{Queries: []string{"gender"}}}), "id", "before", "match", "after")
	// Output:
	// id  before       match   after
	// 1   ve of their  gender
	// 2                gender  and makeup
}

// The vectors of the five texts span the space; an image has the label of the nearest of the first three.
func clipLabels() datasets.Table {
	texts := tableOf("label clip_text", []any{"group_a", []float32{1, 0, 0}}, []any{"group_b", []float32{0, 1, 0}},
		[]any{"uncertain", []float32{-1, -1, 0}}, []any{"person", []float32{1, 1, 0}},
		[]any{"object", []float32{0, 0, 1}})
	var rows [][]any
	for i, v := range [][]float32{{0.9, 0.2, 0.1}, {0.3, 0.8, 0}, {0.8, 0.5, 0.1}, {0.1, 0.1, 0.9}} {
		rows = append(rows, []any{entigen.SD, entigen.Profession, "original", "doctor",
			fmt.Sprintf("original/doctor/%d", i), v})
	}
	images := tableOf("model category prompt_id attribute image_id clip_image", rows...)
	return representation.ClipLabels(representation.ClipTables{Images: images, Texts: texts})
}

func ExampleClipLabels() {
	tabulartest.Show(clipLabels(), "image_id", "perceived_gender", "person", "reason")
	// Output:
	// image_id           perceived_gender  person  reason
	// original/doctor/0  man                    1
	// original/doctor/1  woman                  1
	// original/doctor/2  man                    1
	// original/doctor/3  no group               0  no person
}

func ExampleClipAgreement() {
	agreement := representation.ClipAgreement(clipLabels(), ratings(),
		representation.AgreementOptions{Intervals: metrics.Intervals{Resamples: -1}})
	tabulartest.Show(agreement.Where("scope", "==", "pooled"), "definition", "agreement", "n_agree", "n_used",
		"n_without_clip")
	// Output:
	// definition    agreement  n_agree  n_used  n_without_clip
	// both-decided   0.666667        2       3              20
	// three-way           0.5        2       4              20
}

func ExampleClipConfusion() {
	confusion := representation.ClipConfusion(clipLabels(), ratings())
	tabulartest.Show(confusion.Where("scope", "==", "pooled").Where("n_human", ">", 0), "human", "clip", "n",
		"share_of_human")
	// Output:
	// human  clip      n  share_of_human
	// man    man       2             0.5
	// man    woman     1            0.25
	// man    no group  1            0.25
}

// The texts of the paper; embed their column text to label images.
func ExampleClipTexts() {
	tabulartest.Show(representation.ClipTexts(entigen.PerceivedGender, entigen.PaperGrammar), "label", "text")
	// Output:
	// label      text
	// group_a    A photo of a person who looks like a man
	// group_b    A photo of a person who looks like a woman
	// uncertain  A photo of a person with an uncertain gender
	// person     a photo of a person
	// object     a photo of an object
}

// table3 are ratings of every image of the paper's Table 3, all of which are usable here.
func table3() datasets.Table {
	var rows [][]any
	for i, c := range entigen.PrintedTables() {
		if c.Table == 3 {
			rows = append(rows, []any{c.Model, c.Category, c.Prompt, "a", fmt.Sprint(i), "", "", 1, 1})
			if r := rows[len(rows)-1]; c.Category == entigen.Culture {
				r[6] = "Western"
			} else {
				r[5] = "man"
			}
		}
	}
	return tableOf("model category prompt_id attribute image_id perceived_gender perceived_culture person as_described",
		rows...)
}

func ExamplePaperCells() {
	cells := representation.PaperCells(table3(), representation.CellOptions{Table: "3"})
	tabulartest.Show(cells.Head(2), "category", "prompt_id", "model", "printed", "value", "equal")
	// Output:
	// category    prompt_id  model        printed  value  equal
	// profession  original   minDALL-E    4            1      0
	// profession  original   DALL-E-mini  8.5          1      0
}

// A value that differs from the printed one is followed by it.
func ExamplePaperTable() {
	tabulartest.Show(representation.PaperTable(table3(), datasets.Table{},
		representation.TableOptions{Table: "3", Decimals: 1}).Head(2),
		"category", "prompt_id", "minD", "SD")
	// Output:
	// category    prompt_id  minD               SD
	// profession  original   1.0 (printed 4)    1.0 (printed 8.5)
	// object      original   1.0 (printed 4.7)  1.0 (printed 7.3)
}
