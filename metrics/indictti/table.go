package indictti

import (
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

const citation = "Mittal et al., ECCV 2024 (IndicTTI)"

// Languages lists the languages of the result, in that order: one that the table lacks gives a row without a value. The default is those of the table.
func Languages(codes ...string) metrics.Setting {
	return tabular.Set("languages", strings.Join(codes, ","))
}

// CommonPrompts scores the prompts that every group has (the paper's Tables 2–4 and 6–8); the default is each group's own (Tables 9–11).
func CommonPrompts() metrics.Setting { return tabular.Set("prompts", "common") }

// FailOnMissing makes a missing picture an error; the default counts them.
func FailOnMissing() metrics.Setting { return tabular.Set("missing", "fail") }

// Index names the column that tells the pictures of a prompt apart, equal across languages; the default is "seed".
func Index(column string) metrics.Setting { return tabular.Set("index", column) }

// ReferenceVector names the vector column of the reference table.
func ReferenceVector(column string) metrics.Setting {
	return tabular.Set("reference-vector", column)
}

// SkipEmpty leaves pictures with an empty caption out of CLGC; the default keeps them, with the vector of the empty text.
func SkipEmpty() metrics.Setting { return tabular.Set("empty", "skip") }

// PairsBy chooses the reading of equation 6; the default is [MeanUnequal].
func PairsBy(n PairNormaliser) metrics.Setting { return tabular.Set("pairs", string(n)) }

// NormalisedBy chooses the reading of equations 10 and 12; the default is [Mean].
func NormalisedBy(n Normaliser) metrics.Setting { return tabular.Set("normaliser", string(n)) }

// OverallBy chooses the reading of equation 9: the default is [MeanPairs]; "all" gives a row for each.
func OverallBy(n OverallNormaliser) metrics.Setting { return tabular.Set("overall", string(n)) }

// IndicOnly leaves English out of the overall SCAL; the default includes it.
func IndicOnly() metrics.Setting { return tabular.Set("of", "indic") }

// Comparing chooses the pictures that DWL compares; the default is [AllImages].
func Comparing(i Images) metrics.Setting { return tabular.Set("images", string(i)) }

// Filter exempts words from the rule of capitals: "i", "after-stop", "both"; "none" turns the rule off. The default, "strict", exempts none.
func Filter(rule string) metrics.Setting { return tabular.Set("filter", rule) }

// Tolerance is the largest difference of ratings that counts as agreement: 0 (the default) or 1.
func Tolerance(t float64) metrics.Setting {
	return tabular.Set("tolerance", strconv.FormatFloat(t, 'g', -1, 64))
}

// CLGC is the metric indictti-clgc, Cyclic Language-Grounded Correctness (equations 2 and 3), a row for each language:
//
//	CLGC(l) = mean over prompts k and pictures r of φ(t(p_k), t(c(i(k,l,r))))
//
// captions holds a row for each picture: language, prompt_id, the sentence vector of the picture's generated caption in the column text ([metrics.Vector]
// names another), and where there are any outcome, seed and the caption itself; english a row for each prompt: prompt_id and the sentence vector of its English text
// ([ReferenceVector]). Cosine in [−1, 1], higher is more faithful. Columns: language, clgc, clgc_low, clgc_high (bootstrap over prompts), n_prompts the
// score rests on, n_excluded (no reference), n_asked (prompts × indices), n_refused, n_missing, n_used, n_empty captions ([SkipEmpty]).
//
// Other settings: [metrics.By], [Languages], [CommonPrompts], [FailOnMissing], [Index], [metrics.Draws], [metrics.Level], [metrics.SeedOf].
func CLGC(captions, english datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("indictti-clgc", map[string]datasets.Table{"in": captions, "reference": english}, settings)
}

// IGC is the metric indictti-igc, Image-Grounded Correctness (equation 4), a row for each language:
//
//	IGC(l) = mean over prompts k and pictures r of φ(f(q_k), f(i(k,l,r)))
//
// pictures and photographs (the data set's, a row for each prompt) have vectors of one image encoder, by default in the column full. Range, columns and settings are as of [CLGC].
func IGC(pictures, photographs datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("indictti-igc", map[string]datasets.Table{"in": pictures, "reference": photographs}, settings)
}

// LGC is the metric indictti-lgc, Language-Grounded Correctness (equation 5), a row for each language:
//
//	LGC(l) = mean over prompts k and pictures r of φ(t(p_k), f(i(k,l,r)))
//
// pictures (column clip_image) and English texts (column clip_text, a row for each prompt) have vectors of one joint space, in the paper BLIP-2's. Range, columns and settings
// are as of [CLGC].
func LGC(pictures, english datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("indictti-lgc", map[string]datasets.Table{"in": pictures, "reference": english}, settings)
}

// SCWL is the metric indictti-scwl, Self-Consistency Within Language (equations 10 and 11), a row for each language:
//
//	SCWL(l) = mean over prompts k of the mean over pictures u < v of φ(f(i(k,l,u)), f(i(k,l,v)))
//
// [NormalisedBy] gives the printed formula, twice that. Cosine in [−1, 1], higher is steadier; it says nothing of right or wrong. n_excluded counts prompts with one
// picture. Columns and settings are as of [CLGC].
func SCWL(pictures datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-scwl", pictures, settings)
}

// DWL is the metric indictti-dwl, Distinctiveness Within Language (equation 12), a row for each language:
//
//	DWL(l) = 1 − mean over prompts a < b of φ(f(i(a,l)), f(i(b,l)))
//
// [Comparing] says which pictures of two prompts, [NormalisedBy] which factor. In [0, 2], higher is more varied; it depends on how related the prompts are. Columns and settings
// are as of [CLGC]; for the interval see [Distinctiveness].
func DWL(pictures datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-dwl", pictures, settings)
}

// SCAL is the metric indictti-scal, Self-Consistency Across Languages by pair (equations 6 and 7, Figure 3), a row for each ordered pair:
//
//	SCAL(a,b) = mean over prompts k of the mean over pictures u ≠ v of φ(f(i(k,a,u)), f(i(k,b,v)))
//
// [PairsBy] names other readings. Cosine in [−1, 1], higher is more alike. The column kind is SCWL where the two languages are one; n_excluded counts prompts that a language has too few
// pictures of. Settings are as of [CLGC].
func SCAL(pictures datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-scal", pictures, settings)
}

// SCALOverall is the metric indictti-scal-overall (equation 9), one number for all languages, English included unless [IndicOnly]:
//
//	SCAL = mean over languages a ≠ b of SCAL(a,b)
//
// [OverallBy] names other readings, [PairsBy] those of the pairs; the columns normaliser and pairs say which. Its interval resamples prompts for all pairs at once.
func SCALOverall(pictures datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-scal-overall", pictures, settings)
}

// DropFromEnglish is the metric indictti-drop: CLGC, IGC or LGC of English less the unweighted mean of the other languages (sections 5 and 6 of the paper, there in
// points of 100 times the cosine), with an interval that keeps the prompts they share. It takes what [CLGC], [IGC] or [LGC] take; name the vectors with
// [metrics.Vector] and [ReferenceVector] (default: full, IGC). In [−2, 2], 0 is no drop.
func DropFromEnglish(pictures, references datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("indictti-drop", map[string]datasets.Table{"in": pictures, "reference": references}, settings)
}

// DropOfScores is the metric indictti-score-drop: the same from a table of scores by language, for example a printed one, and so without an interval. column
// names the score. Languages without a value are left out of the mean.
func DropOfScores(scores datasets.Table, column string, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-score-drop", scores, append([]metrics.Setting{tabular.Set("score", column)}, settings...))
}

// SelectPrompts is the metric indictti-prompts: of many random draws (the option iterations, 1000) of size captions, the one with the lowest mean cosine over pairs (section 3.1 and
// supplement of the paper). captions holds id, caption and the sentence vector (column text) of each English caption. Left out first are captions with a capitalised word but the
// first ([Filter]), without text or vector, and repetitions. [metrics.SeedOf] sets the draws; the order of the rows does not.
func SelectPrompts(captions datasets.Table, size int, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-prompts", captions, append([]metrics.Setting{tabular.Set("size", strconv.Itoa(size))}, settings...))
}

// CaptionFilter is the metric indictti-filter: which captions the rule of capitals keeps, and the word that takes each other one out; see [Capitalised].
func CaptionFilter(captions datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-filter", captions, settings)
}

// TranslationRatings is the metric indictti-ratings: mean XSTS rating (1 to 5) and percent agreement (a share in [0, 1]) of the user study, by language and for all (Figure 8), with
// intervals over prompts; see [Ratings]. ratings holds language, prompt_id, annotator and rating.
func TranslationRatings(ratings datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-ratings", ratings, settings)
}

var (
	pictureColumns = datasets.Columns("language:text", "prompt_id:text")
	inPictures     = metrics.Input{Role: "in", Columns: pictureColumns, About: "one row for each picture, with its vector; also outcome, and seed (equal seeds = equal noise)"}
	inReference    = metrics.Input{Role: "reference", Columns: datasets.Columns("prompt_id:text"), Optional: true, About: "one row for each prompt, with the vector that its pictures are compared with; must be given"}

	drawsOption = metrics.Option{Name: "draws", Default: "1000", About: "bootstrap draws of prompts; 0 = no intervals"}
	levelOption = metrics.Option{Name: "level", Default: "0.95", About: "the intervals' nominal probability"}
	english     = metrics.Option{Name: "english", Default: "en", About: "the code of English in the column language"}
	normaliser  = metrics.Option{Name: "normaliser", Default: string(Mean), Values: []string{string(Mean), string(Literal)}, About: "reading of the double sum: the mean, or the printed formula (twice the mean)"}
	pairs       = metrics.Option{Name: "pairs", Default: string(MeanUnequal), Values: []string{string(MeanUnequal), string(MeanUpper), string(MeanAll), string(LiteralPair)}, About: "reading of equation 6: mean over u ≠ v, over u < v, over all pairs, or the printed formula (twice the mean)"}
)

// vectorOptions are the options of every score on pictures.
func vectorOptions(vector string, more ...metrics.Option) []metrics.Option {
	return append([]metrics.Option{
		{Name: "vector", Default: vector, About: "the vector column that is compared"},
		{Name: "index", Default: "seed", About: "the column that tells a prompt's pictures apart, equal across languages; without it they go by id"},
		{Name: "languages", About: "the languages of the result, A,B,…; empty = those of the table, English first"},
		english,
		{Name: "prompts", Default: "complete", Values: []string{"complete", "common"}, About: "each group's own prompts, or those that every group has"},
		{Name: "missing", Default: "count", Values: []string{"count", "fail"}, About: "missing pictures are counted, or an error"},
		drawsOption, levelOption,
	}, more...)
}

// byColumns are the grouping columns followed by others.
func byColumns(names ...string) func(metrics.Args) []client.ColumnSpec {
	return func(a metrics.Args) []client.ColumnSpec {
		var all []string
		for _, by := range a.By {
			all = append(all, "="+by)
		}
		return tabular.Specs(append(all, names...)...)
	}
}
