package stereotypes_test

import (
	"strings"

	"antipode/datasets"
	"antipode/datasets/visage"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/stereotypes"
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

// pairs are attributes of two invented identities: how many of SeeGULL's annotators call the pair a stereotype, how
// offensive it was rated, and three scores of how visual the attribute is.
func pairs() datasets.Table {
	const head = "identity attribute na_stereo offensiveness score_asia score_europe score_na"
	return tableOf(head,
		[]any{"Veltan", "tall hats", 3, -1, 5, 5, 4}, []any{"Veltan", "long coats", 2, -1, 4, 4, 5},
		[]any{"Veltan", "rude", 3, 2, 1, 2, 2}, []any{"Norran", "tall hats", 0, -1, 5, 5, 4},
		[]any{"Norran", "boats", 2, 0, 5, 5, 5}, []any{"Norran", "nets", 2, 1, 4, 5, 5})
}

// annotations are the attributes that annotators were shown for two images of each identity, and those they selected.
func annotations() datasets.Table {
	const head = "identity image_number attribute selected na_stereo offensiveness score_asia score_europe score_na"
	var rows [][]any
	for image := 1; image <= 2; image++ {
		rows = append(rows,
			[]any{"Veltan", image, "tall hats", 1, 3, -1, 5, 5, 4},
			[]any{"Veltan", image, "long coats", image - 1, 2, -1, 4, 4, 5},
			[]any{"Veltan", image, "smiling", 2 - image, 0, -1, 5, 5, 5},
			[]any{"Norran", image, "boats", 1, 2, 0, 5, 5, 5},
			[]any{"Norran", image, "nets", image - 1, 2, 1, 4, 5, 5},
			[]any{"Norran", image, "smiling", 0, 0, -1, 5, 5, 5})
	}
	return tableOf(head, rows...)
}

// captions are captions of three images of each identity.
func captions() stereotypes.CaptionTables {
	return stereotypes.CaptionTables{Attributes: pairs(), Captions: tableOf("identity image_id caption",
		[]any{"Veltan", "v1", "a man in long coats and tall hats"}, []any{"Veltan", "v2", "people in tall hats"},
		[]any{"Veltan", "v3", "a street at night"}, []any{"Norran", "n1", "boats and nets on a beach"},
		[]any{"Norran", "n2", "a woman with nets"}, []any{"Norran", "n3", "boats in a harbor"})}
}

// images are vectors of the three sets of study 2: default prompts, with a stereotype, and with another attribute.
func images() datasets.Table {
	return tableOf("identity set attribute full",
		[]any{"Veltan", "d", "", []float32{1, 0}}, []any{"Veltan", "d", "", []float32{0.8, 0.6}},
		[]any{"Veltan", "s", "tall hats", []float32{1, 0}}, []any{"Veltan", "ns", "boats", []float32{0, 1}},
		[]any{"Norran", "d", "", []float32{0, 1}}, []any{"Norran", "s", "boats", []float32{0.6, 0.8}},
		[]any{"Norran", "ns", "tall hats", []float32{0, 1}})
}

// The visual stereotypes of an identity are the attributes that enough annotators call a stereotype and that can be
// seen in an image: "rude" is not one.
func ExampleStereotypeCounts() {
	tabulartest.Show(stereotypes.StereotypeCounts(pairs()), "identity", "n_stereotypes", "n_used")
	// Output:
	// identity  n_stereotypes  n_used
	// Norran                2       3
	// Veltan                2       3
}

// Each label counts the attributes to which at least two of the three annotators gave it.
func ExampleConsensus() {
	tabulartest.Show(stereotypes.Consensus(pairs(),
		stereotypes.ConsensusOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"label", "share", "n_attributes", "n_used")
	// Output:
	// label                share  n_attributes  n_used
	// Strongly Agree     66.6667             4       6
	// Agree              16.6667             1       6
	// Disagree           16.6667             1       6
	// Strongly Disagree        0             0       6
	// Unsure                   0             0       6
}

// Annotators selected the stereotypes of Veltan in three of four showings, and the other attribute in one of two.
func ExampleTendencies() {
	tabulartest.Show(stereotypes.Tendencies(annotations(),
		stereotypes.TendencyOptions{Method: stereotypes.Clean, Intervals: metrics.Intervals{Resamples: -1}}),
		"identity", "l_stereo", "l_random", "theta_text", "n_stereotypes", "n_images")
	// Output:
	// identity  l_stereo  l_random  theta_text  n_stereotypes  n_images
	// Norran        0.75         0  N/A                     2         2
	// Veltan        0.75       0.5  1.50                    2         2
}

func ExampleLikelihoods() {
	tabulartest.Show(stereotypes.Likelihoods(annotations(),
		stereotypes.TendencyOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"identity", "attribute", "likelihood", "n_used", "kind")
	// Output:
	// identity  attribute   likelihood  n_used  kind
	// Norran    boats                1       2  stereotype
	// Norran    nets               0.5       2  stereotype
	// Norran    smiling              0       2  random
	// Veltan    tall hats            1       2  stereotype
	// Veltan    long coats         0.5       2  stereotype
	// Veltan    smiling            0.5       2  random
}

func ExampleOverallRatio() {
	tabulartest.Show(stereotypes.OverallRatio(annotations(),
		stereotypes.TendencyOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"aggregation", "ratio", "n_identities")
	// Output:
	// aggregation      ratio  n_identities
	// ratio-of-means       3             2
	// mean-of-theta      1.5             1
	// median-of-theta    1.5             1
}

// The input must hold every identity of the paper's tables; here each has the same made-up answers.
func ExamplePaperTable() {
	var rows [][]any
	for _, p := range visage.PrintedTables() {
		rows = append(rows, []any{p.Identity, 1, "a", 1, 3, 5, 5, 5}, []any{p.Identity, 1, "b", 1, 0, 5, 5, 5})
	}
	tables := stereotypes.PaperTable(tableOf(
		"identity image_number attribute selected na_stereo score_asia score_europe score_na", rows...))
	tabulartest.Show(tables.Head(2), "identity", "printed_theta", "theta", "cells_equal")
	// Output:
	// identity  printed_theta  theta  cells_equal
	// Togolese  N/A            1.00             0
	// Zimbabwe  N/A            1.00             0
}

// Of the stereotypes that annotators saw in images of Norran, "nets" was rated 1 and "boats" 0.
func ExampleOffensiveness() {
	tabulartest.Show(stereotypes.Offensiveness(annotations(),
		stereotypes.OffensivenessOptions{Intervals: metrics.Intervals{Resamples: -1},
			OffensivenessVariant: stereotypes.OffensivenessVariant{Weight: "likelihood"}}),
		"identity", "offensiveness", "n_present", "n_rated")
	// Output:
	// identity  offensiveness  n_present  n_rated
	// Norran         0.333333          2        2
	// Veltan               -1          2        2
}

// Two of the three captions of Veltan name an attribute.
func ExampleCaptionShares() {
	tabulartest.Show(stereotypes.CaptionShares(captions(), stereotypes.CaptionOptions{
		Intervals: metrics.Intervals{Resamples: -1}}),
		"identity", "share_any", "share_stereotype", "n_used", "n_vocabulary")
	// Output:
	// identity  share_any  share_stereotype  n_used  n_vocabulary
	// Norran            1                 1       3             4
	// Veltan     0.666667          0.666667       3             4
}

// The attribute of a pair that was rated offensive is masked.
func ExampleSalience() {
	tabulartest.Show(stereotypes.Salience(captions(), stereotypes.SalienceOptions{
		Intervals: metrics.Intervals{Resamples: -1}}),
		"identity", "attribute", "rank", "salience", "share", "stereotype")
	// Output:
	// identity  attribute                   rank  salience     share  stereotype
	// Norran    boats                          1   0.25993  0.666667  yes
	// Norran    masked 1 (rated offensive)     2   0.25993  0.666667  yes
	// Veltan    long coats                     1  0.313889  0.333333  yes
	// Veltan    tall hats                      2  0.297063  0.666667  yes
}

// Of the four salient stereotypes, annotators saw two in more than half of the images.
func ExampleSalienceAgreement() {
	salient := stereotypes.Salience(captions(),
		stereotypes.SalienceOptions{ShowOffensive: true, Intervals: metrics.Intervals{Resamples: -1}})
	seen := stereotypes.Likelihoods(annotations(),
		stereotypes.TendencyOptions{Intervals: metrics.Intervals{Resamples: -1}})
	tabulartest.Show(stereotypes.SalienceAgreement(salient, seen,
		stereotypes.AgreementOptions{Threshold: 0.6, Intervals: metrics.Intervals{Resamples: -1}}), "share", "n_seen",
		"n_used", "n_identities")
	// Output:
	// share  n_seen  n_used  n_identities
	//   0.5       2       4             2
}

// The result has the form of the annotations, so that the scores of annotations can be computed from captions.
func ExampleCaptionAttributes() {
	found := stereotypes.CaptionAttributes(captions(), stereotypes.CaptionAttributeOptions{ShowOffensive: true})
	tabulartest.Show(stereotypes.Likelihoods(found, stereotypes.TendencyOptions{MinAttributes: -1,
		Intervals: metrics.Intervals{Resamples: -1}}),
		"identity", "attribute", "likelihood", "kind")
	// Output:
	// identity  attribute   likelihood  kind
	// Norran    boats         0.666667  stereotype
	// Norran    nets          0.666667  stereotype
	// Norran    long coats           0  random
	// Norran    tall hats            0  random
	// Veltan    tall hats     0.666667  stereotype
	// Veltan    long coats    0.333333  stereotype
	// Veltan    boats                0  random
	// Veltan    nets                 0  random
}

// Default images of Veltan are more similar to the images with a stereotype in the prompt; those of Norran are not.
func ExamplePulls() {
	pulls := stereotypes.Pulls(images(),
		stereotypes.PullOptions{PullVariant: stereotypes.PullVariant{Intervals: metrics.Intervals{Resamples: -1}}})
	tabulartest.Show(pulls, "identity", "s_d_s", "s_d_ns", "pull", "n_used")
	tabulartest.Show(stereotypes.PullCount(pulls), "share", "n_positive", "n_used")
	// Output:
	// identity  s_d_s  s_d_ns  pull  n_used
	// Norran      0.8       1  -0.2       3
	// Veltan      0.9     0.3   0.6       4
	// share  n_positive  n_used
	//   0.5           1       2
}

func ExamplePullCount() {
	printed := visage.PrintedPull("")
	tabulartest.Show(stereotypes.PullCount(printed,
		stereotypes.PullCountOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"share", "n_positive", "n_used")
	// Output:
	// share  n_positive  n_used
	// 0.896296         121     135
}
