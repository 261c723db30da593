// Package representation computes the scores of ENTIGEN (Bansal et al., EMNLP 2022) from labels of the people perceived
// in generated images:
//
//   - diversity: how unevenly images fall into two perceived groups ([Diversity])
//   - bias: which group has more images ([Bias])
//   - quality: how many images are usable ([Quality])
//
// Labels come from raters (package datasets/entigen) or from CLIP ([ClipLabels]). They describe what raters or a
// model perceived in generated images, in two groups of each axis. They do not state anyone's identity.
//
// # Formulas
//
// For a prompt, an attribute k (doctor, suit, bride, …) and an axis, a_k and b_k are the numbers of images labeled with
// the first and the second group of the axis: man and woman, light-skinned and dark-skinned, Western and Non-Western,
// or the groups of an axis added by the option Axes. Images without a group count in neither.
//
//	DS   = Σ_k |a_k − b_k| / Σ_k (a_k + b_k)      equation 1, in [0, 1]: 0 = every attribute is balanced
//	bias = (a_k − b_k) / (a_k + b_k)              equation 2, in [-1, 1]: above 0 = more images of the first group
//
// Without a usable image a score is NaN, not 0. DS is the mean of |bias_k|, weighted by a_k + b_k. A small number of
// usable images allows few values of DS, because |a − b| and a + b have the same parity; [Feasible] tests whether a
// printed value is possible. [EvenDiversity] is the DS expected by chance from perfectly even prompts.
//
// # Labels from raters
//
// Several raters answer about each image; a rule turns their votes into one label ([Label], option Rule). The paper
// describes its rule only as "majority view". [Strict] reproduces 72 of the 81 values by people in Tables 1, 2 and 6
// and all 24 of Table 3. It was selected by a search over these values, so the agreement does not confirm it
// independently.
//
// # Labels by CLIP
//
// [ComputeClipLabels] labels images from their vectors and those of five texts ([ClipTexts]). An image that is more
// similar to the text of an object than to that of a person has no group. The label is that of the most similar of the
// other three texts; "uncertain" and ties are no group. [ClipLabels] returns the labels in the form of ratings, so that
// all scores accept them. [ClipAgreement] and [ClipConfusion] compare them with the labels from raters.
//
// # Interventions
//
// [Interventions] compares each added sentence with the original prompt, on the axis of the sentence and on the others.
// [Controls] counts the cells in which a sentence lowers DS, and compares them with irrelevant sentences: in the
// paper's printed Table 1 irrelevant sentences lower 7 of 12. Ablated prompts (Ablate of package datasets/entigen) have
// ids that state the removed words and are scored in the same way. [Phrases] and [Contexts] search training captions.
//
// # Intervals
//
// Intervals of diversity and quality come from a bootstrap over the images of each attribute, those without a label
// included, or over whole prompts (option Cluster). The mean of the resamples is subtracted, because |a − b| of few
// images is biased upwards in a resample; see [Bootstrap]. Resamples depend only on the seed and the name of the cell.
// If every attribute has images of one group only, the interval has no width; read the counts. The interval of a bias
// is Wilson's score interval, see [BiasInterval].
//
// # Reproducing the paper
//
// [PaperTable] prints one of Tables 1, 2, 3 and 6 in the paper's layout, and [PaperCells] lists each printed value next
// to the computed one. [Gaps] lists requested images that are missing.
package representation
