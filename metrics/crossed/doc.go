// Package crossed analyzes values that are divided by several factors at once, such as group, template, seed and rater:
// [Design.Components] divides their variance among the factors, and [Design.Gaps] compares groups as samples of the
// other factors' levels, so that a difference is more than that of one template or of one rater.
//
// Components: Koch, "Some further remarks concerning A general approach to the estimation of variance components",
// Technometrics 10, 1968; Searle, Casella and McCulloch, Variance Components, 1992. Gaps: Cameron, Gelbach and Miller,
// "Robust inference with multiway clustering", Journal of Business & Economic Statistics 29, 2011.
package crossed
