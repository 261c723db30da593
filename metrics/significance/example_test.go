package significance_test

import (
	"fmt"

	"antipode/datasets"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/significance"
)

// scores is a table of image scores: six prompts in three languages. Tamil scores lower than the other two.
func scores() datasets.Table {
	var rows []map[string]any
	for language, values := range map[string][]float64{"en": {31, 28, 30, 33, 29, 32}, "hi": {30, 29, 31, 31, 28, 32},
		"ta": {25, 24, 27, 26, 23, 28}} {
		for i, v := range values {
			rows = append(rows, map[string]any{"language": language, "prompt_id": fmt.Sprint("p", i), "score": v})
		}
	}
	return datasets.FromRows(rows)
}

// Paired compares the same prompts in two languages. With six pairs all 64 permutations are evaluated.
func ExamplePermutationTest() {
	tests := significance.PermutationTest(scores(), significance.TestOptions{Value: "score", Group: "language",
		Against: "en", Unit: "prompt_id", Paired: true})
	tabulartest.Show(tests, "group_a", "group_b", "difference", "p", "p_holm", "n_a", "permutations")
	// Output:
	// group_a  group_b  difference        p  p_holm  n_a  permutations
	// hi       en        -0.333333     0.75    0.75    6            64
	// ta       en               -5  0.03125  0.0625    6            64
}

func ExampleEffectSizes() {
	sizes := significance.EffectSizes(scores(), significance.EffectOptions{Value: "score", Group: "language",
		Against: "en", Unit: "prompt_id"})
	tabulartest.Show(sizes, "group_a", "difference", "difference_low", "difference_high", "cohens_d", "cliffs_delta")
	// Output:
	// group_a  difference  difference_low  difference_high  cohens_d  cliffs_delta
	// hi        -0.333333        -1.59429         0.833333  -0.19803     -0.111111
	// ta               -5        -6.59429             -3.5  -2.67261     -0.972222
}

// The second test is a finding only without the correction for multiple tests.
func ExampleAdjustP() {
	tests := datasets.FromRows([]map[string]any{{"test": "a", "p": 0.001}, {"test": "b", "p": 0.04},
		{"test": "c", "p": 0.3}})
	tabulartest.Show(significance.AdjustP(tests), "test", "p", "p_holm", "p_bh", "found_holm", "found_bh", "n_tests")
	// Output:
	// test      p  p_holm   p_bh  found_holm  found_bh  n_tests
	// a     0.001   0.003  0.003  yes         yes             3
	// b      0.04    0.08   0.06  no          no              3
	// c       0.3     0.3    0.3  no          no              3
}

// The disparity of Tamil was injected; the finding about Hindi is a false alarm.
func ExampleVerdicts() {
	findings := datasets.FromRows([]map[string]any{
		{"language": "hi", "difference": -2.0, "difference_low": -3.0, "difference_high": -1.0},
		{"language": "ta", "difference": -5.0, "difference_low": -7.0, "difference_high": -3.0},
		{"language": "te", "difference": 0.5, "difference_low": -1.0, "difference_high": 2.0}})
	injected := datasets.FromRows([]map[string]any{{"language": "ta"}})
	tabulartest.Show(significance.Verdicts(findings, injected, significance.VerdictOptions{On: []string{"language"}}),
		"language", "difference", "verdict")
	// Output:
	// language  difference  verdict
	// hi                -2  flagged by mistake
	// ta                -5  found
	// te               0.5  not flagged
}

func ExampleMeans() {
	r, err := significance.Means([]float64{1, 2, 3}, []float64{4, 5, 6}, 0, 0)
	fmt.Printf("difference %.0f, p = %.2f of %d permutations, %v\n", r.Difference, r.P, r.Permutations, err)
	// Output: difference -3, p = 0.10 of 20 permutations, <nil>
}

// Images that a segmenter is sure of have better masks.
func ExampleRankCorrelation() {
	masks := datasets.FromRows([]map[string]any{{"mask_score": 0.9, "iou": 0.8}, {"mask_score": 0.6, "iou": 0.2},
		{"mask_score": 0.8, "iou": 0.5}, {"mask_score": 0.7, "iou": 0.6}})
	tabulartest.Show(significance.RankCorrelation(masks, significance.CorrelationOptions{X: "mask_score", Y: "iou"}),
		"x", "y", "spearman", "n")
	// Output:
	// x           y    spearman  n
	// mask_score  iou       0.8  4
}
