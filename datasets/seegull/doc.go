// Package seegull reads SeeGULL (Jha et al., ACL 2023), textual stereotypes about nationalities with counts of the
// annotators who know them and ratings of how offensive they are, and keeps the project's rule on showing them.
//
// Content warning: the data contain offensive stereotypes.
//
// # Rated and unrated
//
// A pair of identity and attribute carries three ratings from -1 (not offensive) to 4 and their mean. Version 2 writes a mean of 0
// for 1197 pairs that nobody rated. The loader gives those no value (NaN), so that 0 always means a rating of 0.
//
// # What is shown
//
// Output that is committed or published never pairs a real identity with an attribute that SeeGULL rates offensive (mean
// above 0) or leaves unrated, pairs that it does not list among them. [Shown] is that rule, and [Masker] gives such
// attributes a label that keeps them apart without naming them. Tables mask by default; the user's explicit wish to see
// them turns it off.
package seegull
