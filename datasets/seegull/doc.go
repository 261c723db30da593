// Package seegull reads SeeGULL (Jha et al., ACL 2023): pairs of a nationality and an attribute, with the number of
// annotators who know the pair as a stereotype and ratings of how offensive it is. It also defines which pairs may be
// shown.
//
// Content warning: the data contain offensive stereotypes. They record what annotators know as stereotypes, not facts
// about people.
//
// # Reading
//
// [Stereotypes] is the table of the pairs; [Load] returns them as Go values. `antipode data pull seegull` downloads the
// data set. The [Report] of a load states what was read and how it differs from the published file.
//
// # Ratings
//
// Three annotators rated a pair from -1 (not offensive) to 4. Version 2 publishes a mean of 0 for 1197 pairs without
// ratings. Their offensiveness is NaN here, so that 0 is always a rating.
//
// # Masking
//
// Committed or published output must not pair a real identity with an attribute that is rated offensive (mean above 0)
// or is not rated; a pair that SeeGULL does not list is not rated. [Shown] implements this rule. A [Masker] replaces
// such attributes by numbered labels, which keep them distinct. Tables mask by default; the option ShowOffensive turns
// masking off, and [Caution] is the line to print with the result.
package seegull
