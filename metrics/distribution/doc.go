// Package distribution computes the scores of distributions of images: distances between generated and reference images,
// and the diversity of one set, by group, with intervals.
//
//	score                 metric             pure function      grows with n     use
//	[FrechetDistance]     frechet-distance   [Frechet]          falls, about 1/n realism and diversity in one number
//	[KID]                 kid                [MMD] Polynomial   no               the same for few images
//	[CMMD]                cmmd               [MMD] Gaussian     falls, as 1/n    the same with CLIP's vectors
//	[ImageRetrieval]      image-retrieval    [RetrievalLimit]   yes; limit: no   diversity, as share of the reference
//	[VendiScore]          vendi              [Vendi]            yes              diversity without a reference
//	[HillNumbers]         hill-numbers       [Abundances]       yes; see At      diversity of answers or clusters
//	[InceptionScore]      inception-score    [Inception]        yes              none; older papers
//
// # Equal numbers of images
//
// A score that depends on n compares nothing if groups have different n: a group with fewer images has a larger Fréchet
// distance and a smaller Vendi score whatever they show. With intervals and By, every group is therefore scored at the
// numbers of images of the smallest one, as the mean over Samples random samples (column n_each); N sets another number.
// Without intervals (Resamples -1, --resamples 0) and N the score is the value of the reference implementation on all
// rows.
//
// # Intervals
//
// The interval is that of the score over other sets of the same numbers of images, not of its limit for infinitely many.
// It is from random samples of three quarters of the images, without replacement and with the proportions of Cells: as
// that of half-samples (package interval), with deviations from the mean scaled by √(h/(n−h)) for h of n images, and for
// scores of one set by the ratio of Student's quantile to the normal one.
//
// The choice is by coverage: how often nominal 95 % intervals, with 100 resamples, contain the expected score in 400 sets
// (TestCalibrationOfIntervals; for three worlds the least and the most; half of the images without Student's quantile).
// Half of the images are too few for scores that few images saturate, such as Vendi's; a bootstrap with replacement adds
// copies, which all of these scores see. The intervals are too wide where both sets have one distribution: a distance of
// 0 has no variance of first order.
//
//	score               n = 12              36                  100
//	                    1/2       3/4       1/2       3/4       1/2       3/4
//	frechet-distance    99–100    98–99     98–100    96–100    97–100    96–100
//	kid                 100       98–100    98–100    97–100    97–100    96–100
//	cmmd                99–100    98–100    97–100    97–100    96–100    95–100
//	image-retrieval     97–99     98–99     97–99     99–100    98–99     99–100
//	vendi, order 1      73–85     94–95     94–99     96–99     94–100    96–100
//	inception-score     90–91     92–94     91–94     92–94     94–95     94–95
//
// [HillNumbers] has intervals from samples of the estimated population instead, which includes categories that were not
// seen.
//
// A gap is a group's score less the mean of the others, independent estimates ([interval.Bounded.MinusMean]); the
// intervals of all gaps hold at once, and a row is flagged where that of its gap excludes 0. In worlds without a
// disparity, four groups of 6 to 100 images, at most 8 of 200 had a flagged gap (TestCalibrationOfAlarms).
//
// # Rows without a vector
//
// Images without the vector (object_only where no mask was found) are left out, with a note and the count n_unmasked. A
// group without generated images has no score; one without reference images is an error.
package distribution
