// Package significance says whether a difference between two groups may be chance, how large it is, and which difference
// a given number of pictures could have shown: permutation tests, corrections for families of tests, effect sizes,
// smallest detectable gaps.
//
// It is for scores of single pictures or prompts (a similarity, a label, a rating), whose rows can be exchanged between groups where there
// is no difference. Scores of whole sets, such as precision and coverage, have intervals instead: package interval.
//
// Pure functions take slices: [Means], [Paired], [Holm], [BenjaminiHochberg], [CohensD], [CohensH], [CliffsDelta], [SmallestMeanGap], [SmallestShareGap]. Table forms read a column of values
// and one of groups: [PermutationTest], [EffectSizes], [SmallestGaps], [AdjustP], [ClusteredMeans]. In tables a value that is missing (NaN) is counted and left out, an empty group gives a
// blank with its reason, infinity and an id that occurs twice are errors; the order of the rows does not matter. Rows of one prompt are not independent: name the column that holds
// them together ([Unit]), or compare the same prompts ([PairedBy]).
//
// Report a p-value with its effect size and counts, and correct a family: looking at thirty languages at 5 % finds one or two differences
// where there are none.
package significance
