package consistency_test

import (
	"fmt"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/consistency"
	"antipode/metrics/internal/tabulartest"
)

// images is a table of two images of one prompt in English and Hindi, with vectors in the column full.
func images() datasets.Table {
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"1", "2", "3", "4"}),
		table.TextColumn("language", []string{"en", "en", "hin_Deva", "hin_Deva"}),
		table.TextColumn("prompt_id", []string{"p1", "p1", "p1", "p1"}),
		table.NumberColumn("seed", []float64{1, 2, 1, 2}),
		table.VectorColumn("full", [][]float32{{1, 0}, {1, 1}, {0, 1}, {3, 4}}),
	}})
}

// translations is a table of captions with one column per language.
func translations() datasets.Table {
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c"}),
		table.TextColumn("caption", []string{"a red bus", "a view of Delhi", "two dogs"}),
		table.TextColumn("hin_Deva", []string{"एक लाल बस", "दिल्ली का दृश्य", "दो कुत्ते"})}})
}

// references is a table of one vector per prompt.
func references() datasets.Table {
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("prompt_id", []string{"p1"}),
		table.VectorColumn("full", [][]float32{{1, 0}})}})
}

// scores is a table of IGC by model and language.
func scores() datasets.Table {
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("model", []string{"Dalle3", "Dalle3"}),
		table.TextColumn("language", []string{"en", "hin_Deva"}),
		table.NumberColumn("igc", []float64{0.49, 0.45})}})
}

// captions is a table of English captions with sentence vectors.
func captions() datasets.Table {
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c"}),
		table.TextColumn("caption", []string{"a red bus", "a view of Delhi", "two dogs"}),
		table.VectorColumn("text", [][]float32{{1, 0}, {0, 1}, {1, 1}})}})
}

var show = tabulartest.Show

func ExampleIGC() {
	show(consistency.IGC(images(), references(), consistency.IGCOptions{Intervals: metrics.Intervals{Resamples: -1},
		ImageOptions: consistency.ImageOptions{Missing: "fail"}}),
		"language", "igc", "n_prompts", "n_used", "n_missing")
	// Output:
	// language       igc  n_prompts  n_used  n_missing
	// en        0.853553          1       2          0
	// hin_Deva       0.3          1       2          0
}

func ExampleCLGC() {
	show(consistency.CLGC(images(), references(), consistency.CLGCOptions{Vector: "full", ReferenceVector: "full"}),
		"language", "clgc", "n_used", "n_empty")
	// Output:
	// language      clgc  n_used  n_empty
	// en        0.853553       2        0
	// hin_Deva       0.3       2        0
}

func ExampleLGC() {
	show(consistency.LGC(images(), references(), consistency.LGCOptions{Vector: "full", ReferenceVector: "full"}),
		"language", "lgc", "n_used")
	// Output:
	// language       lgc  n_used
	// en        0.853553       2
	// hin_Deva       0.3       2
}

func ExampleDropFromEnglish() {
	show(consistency.DropFromEnglish(images(), references(),
		consistency.DropOptions{Intervals: metrics.Intervals{Level: 0.9}}),
		"drop", "english", "others", "n_languages", "n_prompts")
	// Output:
	// drop   english  others  n_languages  n_prompts
	// 0.553553  0.853553     0.3            1          1
}

func ExampleDropOfScores() {
	show(consistency.DropOfScores(scores(), consistency.ScoreDropOptions{By: []string{"model"}}))
	// Output:
	// model   score  drop  english  others  n_languages
	// Dalle3  igc    0.04     0.49    0.45            1
}

// The printed formula is twice the mean.
func ExampleSCWL() {
	show(consistency.SCWL(images()).Concat(consistency.SCWL(images(), consistency.SCWLOptions{Method: "literal"})),
		"language", "scwl", "method")
	// Output:
	// language      scwl  method
	// en        0.707107  mean
	// hin_Deva       0.8  mean
	// en         1.41421  literal
	// hin_Deva       1.6  literal
}

func ExampleDWL() {
	images := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("language", []string{"en", "en", "en"}),
		table.TextColumn("prompt_id", []string{"p1", "p2", "p3"}),
		table.VectorColumn("full", [][]float32{{1, 0}, {0, 1}, {3, 4}})}})
	show(consistency.DWL(images, consistency.DWLOptions{Intervals: metrics.Intervals{Resamples: -1}}), "language",
		"dwl", "n_prompts", "method")
	// Output:
	// language       dwl  n_prompts  method
	// en        0.533333          3  mean, all
}

func ExampleSCAL() {
	show(consistency.SCAL(images(), consistency.SCALOptions{Method: "mean_all"}),
		"language_a", "language_b", "kind", "scal", "n_used")
	// Output:
	// language_a  language_b  kind      scal  n_used
	// en          en          SCWL  0.707107       2
	// en          hin_Deva    SCAL  0.574264       4
	// hin_Deva    en          SCAL  0.574264       4
	// hin_Deva    hin_Deva    SCWL       0.8       2
}

func ExampleSCALOverall() {
	show(consistency.SCALOverall(images(), consistency.SCALOverallOptions{Method: "all"}),
		"method", "scal", "n_languages", "n_pairs")
	// Output:
	// method          scal  n_languages  n_pairs
	// mean_pairs  0.653553            2        1
	// half        0.326777            2        1
	// literal     0.653553            2        1
}

// Hindi was expected to have four images of the prompt.
func ExampleCompleteness() {
	show(consistency.Completeness(images(), consistency.CountOptions{N: 4}),
		"language", "n_prompts", "n_expected", "n_ok", "n_missing")
	// Output:
	// language  n_prompts  n_expected  n_ok  n_missing
	// en                1           4     2          2
	// hin_Deva          1           4     2          2
}

func ExampleMotifs() {
	tags := datasets.FromRows([]map[string]any{{"id": "1", "tag": "temple"}, {"id": "2", "tag": ""},
		{"id": "3", "tag": "temple"}, {"id": "3", "tag": "sari"}})
	motifs := consistency.Motifs(images(), tags, consistency.MotifOptions{Per: "language"})
	show(motifs, "script", "language", "tag", "share", "n_tagged", "n_inspected", "n_images")
	// Output:
	// script  language  tag     share  n_tagged  n_inspected  n_images
	// Deva    hin_Deva  sari        1         1            1         2
	// Deva    hin_Deva  temple      1         1            1         2
	// Latn    en        sari        0         0            2         2
	// Latn    en        temple    0.5         1            2         2
}

// One annotator of two rates a translation 5, the other 4.
func ExampleTranslationRatings() {
	ratings := datasets.FromRows([]map[string]any{
		{"language": "hin_Deva", "prompt_id": "p1", "annotator": "a", "rating": 5.0},
		{"language": "hin_Deva", "prompt_id": "p1", "annotator": "b", "rating": 4.0},
		{"language": "hin_Deva", "prompt_id": "p2", "annotator": "a", "rating": 3.0},
		{"language": "hin_Deva", "prompt_id": "p2", "annotator": "b", "rating": 3.0}})
	show(consistency.TranslationRatings(ratings,
		consistency.RatingOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"language", "rating", "agreement", "n_prompts", "n_used", "n_annotators")
	// Output:
	// language  rating  agreement  n_prompts  n_used  n_annotators
	// hin_Deva    3.75        0.5          2       4             2
	// all         3.75        0.5          2       4             2
}

func ExampleCaptionPool() {
	pool := consistency.CaptionPool(translations(), datasets.Table{}, consistency.PoolOptions{Caption: "caption"})
	show(pool, "id", "kept", "word", "n_captions")
	// Output:
	// id  kept  word   n_captions
	// a   no                    1
	// b   no    Delhi           1
	// c   no                    1
}

func ExampleSelectPrompts() {
	show(consistency.SelectPrompts(captions(), consistency.PromptOptions{N: 2, Samples: 10, Seed: 1}),
		"id", "caption", "mean_similarity", "n_pool", "n_asked")
	// Output:
	// id  caption    mean_similarity  n_pool  n_asked
	// a   a red bus         0.707107       2        3
	// c   two dogs          0.707107       2        3
}

func ExamplePromptSets() {
	show(consistency.PromptSets(captions(), datasets.Table{}, consistency.SetOptions{Sets: "large=3,small=2"}))
	// Output:
	// id  large  small
	// a   yes    yes
	// b   yes    no
	// c   yes    yes
}

func ExamplePrompts() {
	languages := datasets.FromRows([]map[string]any{{"code": "en", "caption_source": "original"},
		{"code": "hin_Deva", "caption_source": "NLLB"}})
	show(consistency.Prompts(consistency.Sources{Prompts: captions().Head(1), Captions: translations(),
		Languages: languages}), "id", "prompt_id", "script", "prompt", "caption_source")
	// Output:
	// id          prompt_id  script  prompt     caption_source
	// a-en        a                  a red bus  original
	// a-hin_Deva  a          Deva    एक लाल बस  NLLB
}

func ExampleCheckTranslations() {
	translations := datasets.FromRows([]map[string]any{
		{"id": "a", "language": "hin_Deva", "text": "एक लाल बस", "source": "IndicTrans2"},
		{"id": "b", "language": "hin_Deva", "text": "A view of Delhi", "source": "IndicTrans2"},
		{"id": "c", "language": "hin_Deva", "text": "do kutte", "source": "IndicTrans2"},
	})
	languages := datasets.FromRows([]map[string]any{{"code": "en", "caption_source": "original"},
		{"code": "hin_Deva", "caption_source": "IndicTrans2"}})
	show(consistency.CheckTranslations(translations, captions(), languages), "id", "problem", "detail")
	// Output:
	// id          problem       detail
	// b-hin_Deva  untranslated  the English caption
	// c-hin_Deva  wrong script  0 of 7 letters are Devanagari
}

func ExamplePaperCells() {
	cells := consistency.PaperCells(scores(), consistency.CellOptions{Table: 7})
	show(cells.Where("value", "present", nil))
	// Output:
	// model   language  printed  value  difference  equal  computed
	// Dalle3  en          48.92     49        0.08      0  Dalle3
	// Dalle3  hin_Deva    44.86     45        0.14      0  Dalle3
}

func ExampleComputeDrop() {
	drop, n := consistency.ComputeDrop(0.49, []float64{0.45, 0.41})
	fmt.Printf("%.2f over %d languages\n", drop, n)
	// Output: 0.06 over 2 languages
}

func ExampleComputeSCWL() {
	scores, err := consistency.ComputeSCWL(consistency.Images{
		Languages: []string{"en"}, Prompts: []string{"p1"},
		Vectors: [][][][]float32{{{{1, 0}, {3, 4}}}},
	}, consistency.Mean)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", scores[0].Value)
	// Output: 0.6
}

func ExampleCapitalized() {
	fmt.Println(consistency.Capitalized("A man at the Eiffel tower", consistency.Capitals{}))
	// Output: Eiffel
}
