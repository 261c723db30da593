// Package distribution computes the scores of distributions of images by group, with intervals: distances between
// generated and reference images ([FrechetDistance], [KID], [CMMD]), the share of reference images that are retrieved
// ([ImageRetrieval]), the diversity of one set ([VendiScore], of answers or clusters [HillNumbers]), and the
// [InceptionScore]. docs/scores.md says which to use when.
//
// # Equal numbers of images
//
// A score that depends on n compares nothing if groups have different n: a group with fewer images has a larger
// Fréchet distance and a smaller Vendi score whatever they show. With intervals and By, every group is therefore
// scored at the numbers of images of the smallest one, as the mean over Samples random samples (column n_each); N
// sets another number. Without intervals (Resamples -1, --resamples 0) and N a score is the reference
// implementation's value on all rows.
//
// # Intervals
//
// The interval is that of the score over other sets of the same numbers of images, not of its limit for infinitely
// many. It is from random samples of three quarters of the images, without replacement and with the proportions of
// Cells: as that of half-samples (package interval), with deviations from the mean scaled by √(h/(n−h)) for h of n
// images, and for scores of one set by the ratio of Student's quantile to the normal one. [HillNumbers] samples the
// estimated population instead, which includes categories that were not seen. A gap is a group's score less the mean
// of the others ([interval.Bounded.MinusMean]); the intervals of all gaps hold at once, and a row is flagged where
// that of its gap excludes 0. docs/scores.md has the simulations that the choices rest on.
//
// # Rows without a vector
//
// Images without the vector (object_only where no mask was found) are left out, with a note and the count n_unmasked. A
// group without generated images has no score; one without reference images is an error.
package distribution
