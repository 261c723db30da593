package power_test

import (
	"fmt"

	"antipode/datasets"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/power"
	"antipode/metrics/significance"
)

// pool is a table of 40 images of each of three languages with a score each; those of ta score lower.
func pool() datasets.Table {
	var rows []map[string]any
	for i := range 40 {
		for _, language := range []string{"en", "hi", "ta"} {
			score := float64(i*7%40) / 10 // 0 … 3.9 in a mixed order
			if language == "ta" {
				score -= 2
			}
			rows = append(rows, map[string]any{"id": fmt.Sprint(language, i), "language": language, "score": score})
		}
	}
	return datasets.FromRows(rows)
}

// audit compares every language with English.
func audit(pool datasets.Table) datasets.Table {
	return significance.PermutationTest(pool, significance.TestOptions{Value: "score", Group: "language",
		Against: "en", Resamples: 200})
}

// pools names the disparity of the pool.
func pools() power.Pools {
	return power.Pools{Pool: pool(), Injected: datasets.FromRows([]map[string]any{{"group_a": "ta", "size": -2.0}})}
}

var options = power.Options{Cells: []string{"language"}, Sizes: []int{6, 16}, Resamples: 50,
	Subject: []string{"group_a"}, Value: "difference", P: "p", Sign: "below", Seed: 1}

// With 6 images per language the audit misses the gap of ta in part of the samples, with 16 in none.
func ExampleCurve() {
	curve := power.Curve(pools(), audit, options)
	tabulartest.Show(curve, "kind", "subject", "n", "found", "estimate", "n_found", "n_resamples")
	// Output:
	// kind      subject                    n  found   estimate  n_found  n_resamples
	// control   hi                         6   0.04      -0.01        2           50
	// injected  ta                         6   0.54   -1.94667       27           50
	// family    any that is not injected   6   0.04                   2           50
	// control   hi                        16      0  -0.018625        0           50
	// injected  ta                        16      1   -1.97987       50           50
	// family    any that is not injected  16      0                   0           50
}

func ExampleFindings() {
	findings := power.Findings(pools(), audit, options)
	tabulartest.Show(findings.Where("n", "==", 16).Head(4), "subject", "resample", "found", "estimate", "p")
	// Output:
	// subject  resample  found  estimate           p
	// hi              1  no          0.1    0.875622
	// ta              1  yes    -2.13125  0.00995025
	// hi              2  no     -0.48125    0.258706
	// ta              2  yes     -2.3625  0.00995025
}

func ExampleNeeded() {
	curve := power.Curve(pools(), audit, options)
	tabulartest.Show(power.Needed(curve).Where("subject", "==", "ta"), "subject", "estimate", "n", "n_rows", "power")
	// Output:
	// subject  estimate   n  n_rows  power
	// ta       -1.97987  16      48    0.8
}
