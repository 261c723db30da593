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
// The interval is that of the score over other sets of the same numbers of images, not of its limit for infinitely many:
// that of half-samples (package interval) whose deviations are scaled by √(h/(n−h)) for h of n images, 1 for half of
// them. Samples have the proportions of Cells. The gaps of the groups have simultaneous intervals from the same
// half-samples; a row is flagged where that of its gap excludes 0. [HillNumbers] samples the estimated population
// instead, which includes categories that were not seen.
//
// # Rows without a vector
//
// Images without the vector (object_only where no mask was found) are left out, with a note and the count n_unmasked. A
// group without generated images has no score; one without reference images is an error.
package distribution
