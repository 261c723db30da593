// Package agreement measures the agreement of annotators on the same items: percent agreement of pairs, Fleiss' kappa
// and Krippendorff's alpha, with bootstrap intervals over items.
//
//	percent  share of equal pairs among the pairs of ratings of an item
//	kappa    (P̄ − P̄ₑ)/(1 − P̄ₑ): P̄ the mean of that share, P̄ₑ the sum of squared label shares (Fleiss 1971)
//	alpha    1 − Dₒ/Dₑ: observed over expected disagreement of values paired in items (Krippendorff 2004), where
//	         disagreement of two values is 0 or 1 (nominal), the square of the number of ratings between them
//	         (ordinal), or the square of their difference (interval)
//
// 1 is full agreement, 0 the agreement expected by chance. Kappa requires equally many ratings of every item; alpha
// accepts any number from two up. Agreement is not accuracy: annotators can agree on a perceived attribute of a
// person and be wrong.
package agreement
