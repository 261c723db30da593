// Package agreement measures how far annotators agree on the same items: percent agreement of pairs, Fleiss' kappa and Krippendorff's
// alpha, with bootstrap intervals over items.
//
//	percent  pairs of ratings of one item that are the same, over all such pairs
//	kappa    (P̄ − P̄ₑ)/(1 − P̄ₑ): P̄ the mean over items of that share, P̄ₑ the sum of squared shares of the labels (Fleiss 1971)
//	alpha    1 − Dₒ/Dₑ: observed over expected disagreement of the values paired within items (Krippendorff 2004), where the
//	         disagreement of two values is 0 or 1 (nominal), the square of the number of ratings between them (ordinal), or the square
//	         of their difference (interval)
//
// 1 is full agreement, 0 what chance would give, below 0 less than that. Kappa asks for equally many ratings of every item; alpha takes any
// number from two up. Labels of perceived attributes can agree and yet be wrong about the person: agreement is not accuracy.
package agreement
