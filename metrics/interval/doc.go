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
// All bootstrap intervals of the module are those of [Bootstrap]: whole units (annotators, images, prompts), each
// stratum separately, are sampled with replacement. [BootstrapMean], [BootstrapRatio], and [BootstrapOf] for any
// function of sums take rows with the names of their units. Rows of one prompt are correlated; treated as independent
// they give intervals that are too narrow.
//
//	low, high = the quantiles of the resamples at a and 1 − a,  a = Φ(−√(n/f)·t)
//
// for n units in n − f strata and the (1+level)/2 quantile t of Student's distribution with f degrees of freedom: the
// expanded percentile interval (Hesterberg, The American Statistician 69, 2015, section 5.3). The percentile interval
// (a = (1−level)/2; Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13) is too narrow for few
// units: the variance of a resample is too small by f/n, and normal quantiles are shorter than Student's. The quantile
// is type 6 of Hyndman and Fan (The American Statistician 50, 1996), numpy's "weibull": see [Quantile].
//
// The choice is by coverage: how often nominal 95 % intervals of a mean, with 1000 resamples, contain it in 2000
// samples (TestCalibrationOfMethods), for the numbers of units that the audits have. The expanded interval misses 95 %
// by 1.3 points on average over these rows but shares of 0.1 of up to 15 units, type 7 by 2.6, type 6 by 2.4, basic by
// 6.1, BCa by 2.7 and studentized by 3.8.
//
//	mean of            n   percentile of type 7   of type 6   basic   BCa   studentized   expanded, type 6
//	normal             9                   88.9        89.3    89.2  88.9          94.6               94.4
//	normal            10                   90.0        90.2    89.9  90.1          95.0               94.6
//	normal            30                   93.3        93.4    93.5  93.3          95.3               94.7
//	normal           108                   94.4        94.5    94.7  94.3          95.1               94.9
//	exponential        9                   85.3        85.6    83.7  87.6          93.6               90.5
//	exponential       30                   92.3        92.6    91.0  93.3          95.3               93.9
//	exponential      108                   94.0        94.3    93.4  95.2          95.5               94.8
//	0 or 1, 30 %       9                   93.6        93.6    77.3  94.1          77.3               95.5
//	0 or 1, 50 %       9                   93.8        94.6    82.3  98.6          82.3               96.6
//	0 or 1, 10 %      10                   64.0        64.0    64.0  63.9          64.0               64.1
//	0 or 1, 10 %      30                   95.4        95.4    80.7  95.1          80.0               95.7
//	0 or 1, 30 %     108                   93.5        94.0    93.2  94.5          95.7               94.5
//
// No bootstrap covers a share that is 0 in the sample (0.9¹⁰ = 35 % of samples of a share of 10 %): see [Wilson]. Means
// and ratios of means over prompts, each with an effect of its own, are covered in 93 to 96 % of trials with 15 prompts
// and more, and in 78 % without clusters.
//
// An interval does not always contain its value. With BootstrapOptions.Centered it is that of half-samples, for scores
// that resampling biases; [BootstrapOptions.Label] says so.
//
// # Many gaps at once
//
// [Simultaneous] widens the intervals of a family (all gaps between regions) by the largest studentized deviation of
// each half-sample (max-t), so that all contain their values at once with the stated probability.
package interval
