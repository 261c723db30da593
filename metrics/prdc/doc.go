// Package prdc computes precision, coverage, density and recall of generated images relative to real images, from
// their feature vectors.
//
// With real vectors h_1…h_N, generated vectors g_1…g_M, Euclidean distance d, and r_j the distance of h_j to its k-th
// nearest other real vector (the Decomposed-DIG paper uses k = 3):
//
//	ball_j    = { z : d(z, h_j) < r_j }
//	precision = #{ i : g_i in some ball } / M             realism, 0…1, higher is better
//	coverage  = #{ j : some g_i in ball_j } / N           diversity, 0…1, higher is better
//	density   = #{ (i, j) : g_i in ball_j } / (k·M)       0…, 1 for images distributed as the real ones
//	recall    = precision with the two sets exchanged     diversity, 0…1
//
// Precision and recall are those of Kynkäänniemi et al. 2019, density and coverage those of Naeem et al. 2020.
//
// A [Manifold] names the images in each ball, and selects those that the Decomposed-DIG paper inspects: backgrounds and
// objects of low diversity ([LowDiversityBackgrounds], [LowDiversityObjects]), images outside the manifold
// ([Manifold.OutOfManifold]), and hubs, real images whose balls contain many generated ones ([Manifold.Hubs],
// [Manifold.LeaveOut]), in a fixed order or sampled with a seed; [Tags.Shares] counts tags that a person assigned.
//
// # Ties, duplicates, missing images
//
// The boundary does not belong to the ball, unless [Options].Closed. The radius of a vector with k or more exact
// copies is 0, as is that of one whose differences to others are below 1e-22, whose squares float32 does not hold; such
// a ball is empty (with Closed it contains the copies), and Result.ZeroRadii says how many there are. A generated image
// without a usable component is a nil row: it counts in M and is in no ball. To exclude it from M, omit the row.
//
// # Exactness
//
// Distances are computed in float64 and rounded to float32 as in the Python package prdc (scikit-learn's distances of
// float32 arrays), so every comparison has the same result: scores agree to float64 rounding. One difference: the
// distance of two exact copies is 0 here; scikit-learn's formula has a rounding error (up to 3e-7 of the vectors'
// length) unless the products are exact, as they are for small integers.
//
// # Memory
//
// No array of size N×M is allocated. [Neighbors] computes the distances: [Plain] in pure Go, another type on the
// accelerator with bitwise equal results.
package prdc
