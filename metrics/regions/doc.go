// Package regions summarizes scores by region as in the Decomposed-DIG paper: the average, the worst and the best
// region, ratios and spans (section 4), the change with a second prompt template (Table 1), scores per object
// (Figures 10 and 11), and the trends expected of a new run. It also implements the rules for images without a mask
// and counts classes and duplicates to leave out.
//
// Among equal scores the first region in alphabetical order is the worst, and the best. A region without a score
// (NaN) is an error, as is an empty list. All regions have the same weight.
package regions
