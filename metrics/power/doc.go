// Package power answers "how many images do I need?" and "how often would I be wrong?" for any audit, by resampling a pool of pictures.
//
// A pool is a table with many pictures in each cell (region × object, language × prompt, …). The metric power draws n of them from each
// cell without replacement, runs the whole audit on the draw, reads which rows it finds, and does so again many times, at several n:
//
//	audit := func(pool datasets.Table) datasets.Table {
//		return metrics.Gaps(metrics.Sets{Real: photos, Generated: pool}, metrics.Vector("full"), metrics.Of("coverage"), metrics.By("region"))
//	}
//	curve := power.Curve(power.Pools{Pool: drawn}, audit, power.Cells("region", "object"), power.Sizes(4, 8, 16),
//		power.Subject("region"), power.Estimate("gap"), power.Below(0))
//
// On a pool in which something is wrong, the share of draws that find it is the power; on one in which nothing is, the share of draws with any
// finding is the family-wise rate of false alarms. With [Pools.Other], a pool of the same cells where nothing is wrong, [Shares] gives the
// power for smaller gaps: of each draw only that share comes from the pool.
//
// # What an audit is
//
// Any function from the pool to a table that uses scores and the verbs of tables. What does not depend on the pool (photos, words) is computed once. Models belong
// before the pool: embed it, then resample. From the command line an audit is a chain of metrics, "NAME option=value …" joined by "|", where the first
// reads the pool and each other one the table before it; parts joined by ";" are put below each other:
//
//	antipode score --metric power --in pool.parquet --fixed1 photos.parquet --cells language,prompt_id --sizes 1,2,4 --subject group_a --value difference --p p --sign below \
//	    --audit 'indictti-igc by=prompt_id draws=0 | permutation-test value=igc group=language unit=prompt_id design=paired against=en'
//
// A row is found where its interval excludes the null value ([Estimate], on the side of [Below], [Above] or both), or where its p-value, corrected over
// all rows of the draw ([P], [Correct]), is at most [Alpha] and the estimate lies on that side.
//
// # What the numbers mean
//
// found is a share of resamples, with Wilson's interval for their number. It speaks of this pool: draws of one pool share pictures, the more so the nearer n comes to
// the pool's size, and at the pool's size all are the same. What the pool happens to hold by chance is in every draw, so a rate of false alarms
// from one pool scatters around the audit's own; use a pool several times as large as n, or several pools, or let labels be exchanged ([Exchanged]): then chance is all there is, and no draw
// inherits an accident of the pool. Draws of one number r at several n are
// nested: the pictures of the smaller are among those of the larger, so that a curve is smoother than its points' intervals say, and its points go together.
//
// # What it costs
//
// The audit runs shares × sizes × resamples times, on as many cores as there are; a run stops at an interrupt, and the same question is answered from the store. So do inside it only what a finding
// needs: no intervals where p-values decide (Draws(0)), and no more permutations than the correction asks for: the least p of D permutations is 1/(D+1), which times the number of tests has to lie well below alpha. Do
// not save on half-samples or bootstrap draws where their intervals decide. Distances to vectors that do not depend on the pool are computed once.
//
// [Curve] gives the share of findings, [Findings] what each draw showed, [Needed] the smallest n that is enough.
//
// Every draw, and the seed of every audit, depends on the seed, on r and on the cell's name alone: not on the other sizes, on the number of resamples or on how many run at once.
package power
