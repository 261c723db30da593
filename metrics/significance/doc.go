// Package significance tests whether differences between groups may be due to chance, measures how large they are, and
// computes which difference a number of images can detect: permutation tests, corrections for multiple tests, effect
// sizes, minimum detectable effects.
//
// It is for scores of single images or prompts (a similarity, a label, a rating), whose rows are exchangeable
// between groups under the null hypothesis. Scores of whole sets, such as precision and coverage, have intervals
// instead: see package interval.
//
// # Functions
//
// [Means], [Paired], [Holm], [BenjaminiHochberg], [CohensD], [CohensH], [CliffsDelta], [Spearman] and
// [SmallestShareGap] take slices.
//
// # Tables
//
// [PermutationTest], [EffectSizes] and [AdjustP] read a column of values and a column of groups, as
// [antipode/metrics.Means] does, [RankCorrelation] two columns of scores. A missing value (NaN) is counted and left
// out; an empty group has no result, with a reason; an infinite value and an id that occurs twice are errors. The order
// of the rows does not matter.
//
// Rows of one prompt are not independent: name the column of what is independent (Unit), or compare the same prompts
// (Paired). Report a p-value with its effect size and counts, and correct for multiple tests: thirty tests at 5 % have
// one or two false findings on average.
package significance
