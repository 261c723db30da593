package agreement_test

import (
	"fmt"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/agreement"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/interval"
)

// Three annotators state the perceived gender in three images; they disagree about the second.
func ExampleScores() {
	var rows []map[string]any
	for image, labels := range map[string][]string{"a": {"woman", "woman", "woman"}, "b": {"woman", "man", "man"},
		"c": {"man", "man", "man"}} {
		for _, label := range labels {
			rows = append(rows, map[string]any{"image_id": image, "label": label})
		}
	}
	tabulartest.Show(agreement.Scores(datasets.FromRows(rows),
		agreement.Options{Intervals: metrics.Intervals{Resamples: -1}}),
		"percent", "kappa", "alpha", "n_items", "n_ratings", "scale")
	// Output:
	// percent  kappa  alpha  n_items  n_ratings  scale
	// 0.777778   0.55    0.6        3          9  nominal
}

// Two items have three ratings each, on a scale of two labels.
func ExampleCompute() {
	scores, err := agreement.Compute(agreement.Counts{{3, 0}, {1, 2}}, agreement.Nominal, nil)
	fmt.Printf("percent %.2f, kappa %.2f, alpha %.2f, %v\n", scores.Percent, scores.Kappa, scores.Alpha, err)
	// Output: percent 0.67, kappa 0.25, alpha 0.38, <nil>
}

func ExampleComputeIntervals() {
	counts := agreement.Counts{{3, 0}, {1, 2}, {0, 3}, {3, 0}, {2, 1}, {0, 3}}
	ranges, err := agreement.ComputeIntervals(counts, agreement.Nominal, nil,
		interval.BootstrapOptions{Resamples: 1000, Level: 0.95, Seed: 1})
	fmt.Printf("percent in [%.2f, %.2f], %v\n", ranges.Percent[0], ranges.Percent[1], err)
	// Output: percent in [0.38, 1.00], <nil>
}
