// Package power estimates, for any audit, how many images it needs and how often it raises a false alarm, by resampling
// a pool of images.
//
// A pool is a table with many images in each cell (region × object, language × prompt, …). The metric power samples n
// of them from each cell without replacement, runs the whole audit on the sample, reads which rows it finds, and
// repeats this many times for several n:
//
//	audit := func(pool datasets.Table) datasets.Table {
//		return significance.PermutationTest(pool, significance.TestOptions{Value: "clip", Group: "language"})
//	}
//	curve := power.Curve(power.Pools{Pool: generated}, audit, power.Options{Cells: []string{"language"},
//		Sizes: []int{4, 8, 16}, Subject: []string{"group_a", "group_b"}, Value: "difference", P: "p"})
//
// If the pool has a disparity, the share of samples that find it is the power. If it has none, the share of samples
// with any finding is the family-wise rate of false alarms. With [Pools.Other], a pool of the same cells without
// disparities, Shares measures the power for smaller gaps.
//
// # Audits
//
// An audit is any function from the pool to a table that uses metrics, table operations and verbs of tables. What does
// not depend on the pool (reference images, words) is computed once. Run models before: embed the pool, then resample
// it. On the command line an audit is a chain of operations, "NAME option=value …" joined by "|": the first reads the
// pool, each other one the table before it. Parts joined by ";" are concatenated:
//
//	antipode score --metric power --in pool.parquet --cells language,prompt_id --sizes 1,2,4 --subject group_a \
//	    --value difference --p p --sign below --audit 'indictti-igc by=prompt_id resamples=0 |
//	    permutation-test value=igc group=language unit=prompt_id paired=true against=en'
//
// A row is a finding if its interval excludes Null on the side Sign, or, with P, if its p-value, corrected over all
// rows of the sample, is at most Alpha and the estimate is on that side.
//
// # Interpretation
//
// found is a share of resamples of this pool. Samples of one pool share images, more so the nearer n is to the pool's
// size; at the pool's size all are equal. A chance difference of the pool is in every sample, so the rate of false
// alarms from one pool varies around the audit's rate. Use a pool several times as large as n, or several pools, or
// Exchange. The samples of resample r are nested: the images at a smaller n are among those at a larger one, so the
// points of a curve are correlated.
//
// # Cost
//
// The audit runs shares × sizes × resamples times, on all cores; the result is stored. In the audit compute only what
// a finding needs: no intervals if p-values decide (Resamples: -1), and no more permutations than the correction
// requires: the smallest p of D permutations is 1/(D+1), which times the number of tests must be well below Alpha. Do
// not reduce half-samples or bootstrap resamples if their intervals decide. Distances to vectors that do not depend
// on the pool are computed once.
//
// [Curve] returns the share of findings, [Findings] the result of each sample, [Needed] the smallest sufficient n.
// [Resample] is the pure function.
//
// Each sample, and the seed of each audit, depends only on the seed, the number of the resample and the cell's name.
package power
