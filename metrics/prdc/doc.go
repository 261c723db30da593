// Package prdc computes precision, coverage, density and recall of generated pictures against real ones, from their
// feature vectors.
//
// With real vectors h_1…h_N, generated vectors g_1…g_M, Euclidean distance d, and r_j the distance of h_j to its k-th
// nearest other real vector (the Decomposed-DIG paper uses k = 3):
//
//	ball_j    = { z : d(z, h_j) < r_j }
//	precision = #{ i : g_i lies in some ball } / M        realism, 0…1, higher is better
//	coverage  = #{ j : some g_i lies in ball_j } / N      diversity, 0…1, higher is better
//	density   = #{ (i, j) : g_i lies in ball_j } / (k·M)  0…, 1 is what real pictures would get
//	recall    = precision with the two sets exchanged     diversity, 0…1
//
// Precision and recall are those of Kynkäänniemi et al. 2019, density and coverage those of Naeem et al. 2020.
//
// # Ties, duplicates, missing pictures
//
// The boundary does not belong to the ball, unless [Options].Closed. A radius is 0 where a vector has k or more exact copies; such a
// ball holds nothing (with Closed: its copies), and [Result.Warnings] counts them. A generated picture without a usable
// component is a nil row: it counts in M and lies in no ball. To leave it out of the count, leave the row out.
//
// # Exactness
//
// Distances are computed in float64 and rounded to float32 as in package prdc of Python (scikit-learn's distances of
// float32 arrays), so every comparison comes out as there: scores agree to float64 rounding. The one difference: the distance of two exact
// copies is 0 here; scikit-learn's formula leaves a remainder (up to 3e-7 of the vectors' length) unless the products
// are exact, as they are for small whole numbers.
//
// # Memory
//
// Nothing of size N×M is ever held. A [Neighbours] does the comparing; [Plain] is the pure Go one, the one on the accelerator lives elsewhere and gives
// the same result to the last bit.
package prdc
