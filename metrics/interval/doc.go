// Package interval computes confidence intervals of scores.
//
// # Half-sampling
//
// Precision, coverage, recall and density depend on nearest neighbors. Resampling with replacement puts copies of an
// image next to it, which shrinks every radius, so a bootstrap of these scores is wrong. [HalfSample] selects halves
// instead: each half-sample contains half of the real and half of the generated images of every cell (object and
// region), without replacement. Radii and score are computed again for each, and
//
//	low, high = value + (quantiles of the half-samples' scores − their mean)
//
// The score of a half-sample varies about the score of its full set as that varies about the population (for a mean:
// variance (1−½)·s²/(n/2) = s²/n), so no factor is needed. It also has a bias (fewer neighbors, larger radii), which
// subtracting the mean removes.
//
// The interval covers the expected score at the sizes of the sets: the mean score of many data sets with the same N,
// M, k and number per cell. It does not cover the limit for infinitely many images, which precision and coverage do
// not estimate. The calibration test of package prdc samples data sets from known distributions, takes the mean score
// of thousands of them as the truth and counts how often nominal 95 % intervals contain it: in 94 to 99 % of 400
// trials for all four scores (least for density).
//
// At the end of a score's range the interval may have no width: if every half-sample has a precision of 1, the interval
// is [1, 1].
//
// # Bootstrap
//
// [BootstrapMean], [BootstrapRatio], and [BootstrapOf] for any function of sums resample whole clusters (annotators,
// images, prompts) with replacement. Rows of one prompt are correlated; treated as independent they give intervals that
// are too narrow. The calibration test samples data sets in which every prompt has an effect: nominal 95 % intervals of
// a mean and of a ratio of means contain the truth in 93 to 95 % of trials with 40 prompts and more (92 % with 15), and
// in 77 % without clusters.
//
// # Many gaps at once
//
// [Simultaneous] widens the intervals of a family (all gaps between regions) by the largest studentized deviation of
// each half-sample (max-t), so that all contain their values at once with the stated probability.
package interval
