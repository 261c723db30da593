// Package significance says whether a difference between two groups may be chance, how large it is, and which difference
// a given number of pictures could have shown: permutation tests, corrections for families of tests, effect sizes,
// smallest detectable gaps.
//
// It is for scores of single pictures or prompts (a similarity, a label, a rating), whose rows can be exchanged between groups where there
// is no difference. Scores of whole sets, such as precision and coverage, have intervals instead: package interval.
//
// Report a p-value with its effect size and counts, and correct a family: looking at thirty languages at 5 % finds one or two differences
// where there are none.
package significance
