// Package metrics defines what computes scores from tables, and has the metrics that every audit may use. Those of one
// subject are in the packages below this one.
//
// A metric is a function from tables to a table: disparity.PrecisionCoverage takes reference and generated images with
// their vectors and returns a row for each group with scores, confidence intervals and counts. Constructing it does
// no work; the result is a [datasets.Table] that computes when it is shown, saved or read. Metrics take numbers,
// never models. The same metrics are available as `antipode score --metric NAME`.
//
// # Options
//
// Each constructor takes at most one options struct, as last argument. The zero value of every field is its default:
//
//	scores := disparity.PrecisionCoverage(metrics.Sets{Real: photos, Generated: images},
//		disparity.PrecisionCoverageOptions{Vector: "background_only", By: metrics.By("region")})
//
// The same name means the same everywhere: By are the grouping columns, Vector is the vector column, Resamples the
// number of half-samples or bootstrap samples (-1 = no intervals), Level the confidence level, Seed the seed of the
// resamples, Method the variant of a definition. Options that many metrics share are embedded structs: [Intervals] and
// disparity.Comparison. `antipode score --metric NAME --help` describes each option of a metric with its range and
// default, and each column of its result with its unit. With an invalid value the table has an error that lists the
// valid ones.
//
// # Two runs
//
// [Compare] scores two tables, of two models for example, by the same metric and says which scores got worse.
//
// # Answers of a judge
//
// [Calibrated] and [CalibratedGaps] are the rates of a model's answers to a question, and their gaps, corrected by
// labels of a random sample. [QuestionScores] scores each image by its answers to several questions (TIFA, Soft-TIFA).
//
// # A metric of your own
//
// [PerImage] returns the means of a function of an image by group, with intervals, [PerRow] those of a function of a
// row, and [Means] those of a column:
//
//	metrics.PerImage(images, "width", func(img image.Image) float64 {
//		return float64(img.Bounds().Dx())
//	}, metrics.By("region"))
//
// # Packages
//
// The packages below this one have pure functions on slices and constructors of tables:
//
//	prdc             precision, coverage, density and recall, and which images are in which balls
//	distribution     Fréchet and kernel distances, image retrieval, Vendi score, Hill numbers
//	disparity        realism and diversity of images by region, and its gaps (Decomposed-DIG)
//	consistency      correctness and consistency of images across languages
//	concepts         concepts that a model possesses in each language
//	representation   identity groups in images, diversity, annotators' ratings
//	stereotypes      attributes that images associate with identity groups
//	clipscore        similarity of images and prompts by CLIP
//	tokens           how well a text encoder's vocabulary covers languages
//	agreement        agreement of annotators
//	interval         confidence intervals
//	significance     tests, effect sizes, corrections for multiple tests
//	power            number of images that an audit needs
//
// # Defining a metric
//
// [Define] defines a metric by an options struct, a row struct and a function. The columns of the result, the flags
// of the command and their help are derived from the tags of the two structs, which package operation documents. The
// example of [Define] is a complete metric.
package metrics
