// Package regions turns one score per region into what the Decomposed-DIG paper reports: the average, the worst and the
// best region, ratios and spans (section 4), what a second prompt template changes (Table 1), scores per object (Figures
// 10 and 11), and the trends that a new run should show. It also prepares the rows: equal numbers per object and
// region, the rules for pictures without a mask, classes and duplicates to leave out.
//
// Tie rules: of equal scores the region first in alphabetical order is the worst, and the best. A region whose score is
// not available (NaN) is an error, as is an empty list. Regions weigh equally, whatever their number of pictures.
package regions
