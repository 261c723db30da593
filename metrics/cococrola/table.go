package cococrola

import (
	"strconv"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/cococrola"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Profile sets all readings at once: [Paper] (the default) or [PublicCode].
func Profile(name string) metrics.Setting { return tabular.Set("profile", name) }

// Reading sets one option by name, for example Reading("self", "literal"); `antipode score --metric NAME --help` lists them.
func Reading(option, value string) metrics.Setting { return tabular.Set(option, value) }

// Source is the source language of Xc by model, "LANGUAGE,MODEL=LANGUAGE,…"; the default is "en,CogView 2=zh", as in the paper.
func Source(list string) metrics.Setting { return tabular.Set("source", list) }

// Draws is the number of bootstrap draws; the default is 1000, 0 = no intervals.
func Draws(n int) metrics.Setting { return tabular.Set("draws", strconv.Itoa(n)) }

// Tables are what [ConceptScores] reads.
type Tables struct {
	Images datasets.Table // a row for each picture asked for: model, language, concept, vectors; id; outcome
	Words  datasets.Table // a row for each concept's bare word: language, concept, text vector; the zero Table = none, and then no Wc
}

// ConceptScores is the metric cococrola-scores (equations 2 to 6, section 5.6), a row for each model, language and concept, with x its pictures, y those in the source language, z pictures of other
// concepts in the same language, t the bare English word and u the pictures in t's space:
//
//	inverse_distinctiveness (Dt)   mean cosine of x and z                          [-1, 1]       distinctiveness is 1 − Dt
//	self_consistency (Sc)          mean cosine of different pictures of x          [-1, 1]       blank under two pictures
//	cross_consistency (Xc)         mean cosine of x and y                          [-1, 1]       at the source language itself: Sc, or by Reading("self", "literal") Sc + (1 − Sc)/n
//	text_match (Wc)                mean of 100 × cosine of t and u                 [-100, 100]
//	possessed                      no where Xc < 0.5 and Wc < 25, else yes; blank where that is open
//
// Each score has its _low and _high (95 % bootstrap over pictures). n_asked, n_refused, n_used (with a vector), n_reference (y), n_others (z) and n_text (u) count pictures; source, vector, joint and
// profile say what was compared. Columns of vectors are options: "vector" (full) for Dt, Sc and Xc, "joint" (clip_image) and, among the words, "text" (clip_text) for Wc. Settings: [Profile],
// [Reading], [Source], [ByWording], [Draws], [metrics.SeedOf].
func ConceptScores(t Tables, settings ...metrics.Setting) datasets.Table {
	inputs := map[string]datasets.Table{"in": t.Images}
	if len(t.Words.Columns()) > 0 || t.Words.IsOpen() || t.Words.Err() != nil {
		inputs["words"] = t.Words
	}
	return tabular.Table("cococrola-scores", inputs, settings)
}

// LanguageMeans is the metric cococrola-means, the cells of Table 2, one a row, from the table of [ConceptScores]: the mean over concepts of Dt, Sc, Xc and Wc for each model and language, and
// share_possessed (an addition: the paper defines no such share), each with a 95 % bootstrap interval over concepts. Rows and columns "Avg" are means of the unrounded cells over models and
// languages. Blank scores are left out, or count as −1 (Reading("blank", "minus-one"), the authors' code); n_asked, n_used, n_text and n_answered count concepts.
func LanguageMeans(scores datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("cococrola-means", scores, settings)
}

// PaperTable is the metric cococrola-table: Table 2 in its own layout, from the table of [LanguageMeans] or datasets/cococrola's Printed: a row for each model, then the averages; 100 × Xc and Wc for
// each language, rounded to integers. Reading("languages", "en,hi,Avg") names other languages.
func PaperTable(means datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("cococrola-table", means, settings)
}

// PaperCells is the metric cococrola-cells: own means beside the printed Table 2, a row for each cell that both have.
func PaperCells(means datasets.Table) datasets.Table {
	return tabular.Of("cococrola-cells", means, nil)
}

// ColumnWins is the metric cococrola-wins (section 5.3): in which languages a model has the best mean Xc or Wc, alone or shared (n_wins, n_shared, languages, shared), of means as printed (×100,
// rounded) or, with Reading("round", "none"), as they are. Averages take no part.
func ColumnWins(means datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("cococrola-wins", means, settings)
}

// Ranking is the metric cococrola-ranking (section 5.5): concepts in order of a score, for each model and language; equal scores share a rank, blank ones have none. Readings: score, order
// (descending or ascending), top.
func Ranking(scores datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("cococrola-ranking", scores, settings)
}

// LanguageCorrelations is the metric cococrola-correlations: Pearson's r of a score between every two languages (Figure 7), with r_squared and the least-squares line language_b =
// slope · language_a + intercept, over pairs of concept and model (n_used); blank under three pairs or where a score does not vary.
func LanguageCorrelations(scores datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("cococrola-correlations", scores, settings)
}

// Failures is the metric cococrola-failures (section 5.2): the concepts that are not possessed, with the kind of failure that their scores suggest, see [KindOf]: generic collision where Dt is
// high, else specific collision where Sc is high, else non-specific. What is high is an addition of this project: the median of the model's scores, or Reading("high_sc", …) and "high_dt".
func Failures(scores datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("cococrola-failures", scores, settings)
}

var (
	cellColumns  = datasets.Columns("model:text", "language:text", "concept:text")
	scoreColumns = append(append([]client.ColumnSpec(nil), cellColumns...), datasets.Columns("cross_consistency:number", "text_match:number")...)

	inImages = metrics.Input{Role: "in", Columns: cellColumns, About: "one row for each picture asked for, with its vectors; also id, and outcome where pictures may be missing"}
	inWords  = metrics.Input{Role: "words", Columns: datasets.Columns("language:text", "concept:text"), Optional: true, About: "one row for each concept's bare word, with its text vector; without it there is no Wc"}
	inScores = metrics.Input{Role: "in", Columns: scoreColumns, About: "scores by model, language and concept, as cococrola-scores gives them"}
	inMeans  = metrics.Input{Role: "in", Columns: datasets.Columns("model:text", "language:text", "cross_consistency:number", "text_match:number"), About: "means by model and language, as cococrola-means gives them"}

	drawsOption   = metrics.Option{Name: "draws", Default: "1000", About: "bootstrap draws; 0 = no intervals"}
	profileOption = metrics.Option{Name: "profile", Default: Paper, About: "the paper's readings or those of the authors' code", Values: []string{Paper, PublicCode}}
	scoreOption   = metrics.Option{Name: "score", Default: "cross_consistency", About: "the score", Values: scoreNames}
	scoreOptions  = []metrics.Option{
		{Name: "vector", Default: "full", About: "vector column for Dt, Sc and Xc: the vision tower's pooled output, as in the authors' code, or any other"},
		{Name: "joint", Default: "clip_image", About: "vector column of the pictures in the space of the words"},
		{Name: "text", Default: "clip_text", About: "vector column of the table of words"},
		{Name: "source", Default: "en,CogView 2=zh", About: "source language of Xc: LANGUAGE,MODEL=LANGUAGE,…"},
		{Name: "wording", About: "the column that names the wording of a prompt, for example prompt_id: each is scored as a model, MODEL / WORDING"},
		{Name: "word", Default: English, About: "language of the word of Wc: a code, or source"},
		profileOption,
		reading("self", "whether Xc in the source language counts a picture's match with itself", string(ExcludeSelf), string(Literal)),
		{Name: "m", Default: profileReading, About: "pictures in the sample of Dt; 0 = one of each other concept; profile = 100"},
		reading("sample", "whether each concept has its own sample of Dt or a model's concepts share one", string(PerConcept), string(Shared)),
		reading("own", "whether the sample of Dt may hold the concept's own pictures", string(NotOwn), string(OrOwn)),
		reading("replacement", "whether the sample of Dt may hold a concept twice", string(Without), string(With)),
		reading("product", "what Wc averages: 100 × cosine, or the dot product of the vectors as they are", string(Cosine), string(Dot)),
		{Name: "when", Default: "both", About: "not possessed where both Xc and Wc are low, or either", Values: []string{"both", "either"}},
		{Name: "xc_below", Default: "0.5", About: "below it Xc is low"},
		{Name: "wc_below", Default: "25", About: "below it Wc is low"},
		drawsOption,
	}
	tableOptions = []metrics.Option{{Name: "languages", Default: strings.Join(append(append([]string(nil), data.Languages...), data.Average), ","), About: "columns of the table, in order"}}
)

// profileReading leaves an option to the profile.
const profileReading = "profile"

func reading(name, about string, values ...string) metrics.Option {
	return metrics.Option{Name: name, Default: profileReading, About: about, Values: append([]string{profileReading}, values...)}
}
