// Package cococrola holds the scores of CoCo-CroLa (Saxon and Wang, ACL 2023): does a text-to-image model possess a concept in a language, that is,
// draw it distinctly, consistently and correctly when asked in that language?
//
// # Scores
//
// x_1 … x_n are the pictures of concept k in language l of one model, as vectors of one image encoder; y_1 … y_N those of the same concept in the source
// language ls; z_1 … z_m pictures of other concepts in l; t the text vector of the concept's word, u_1 … u_n the pictures in the space of that text
// encoder; sim is the cosine. Vectors are float32, sums float64.
//
//	Dt = 1/(m·n) · Σ_j Σ_i sim(x_i, z_j)               equations 2, 3   [-1, 1]      lower is more distinct
//	Sc = 1/(n² − n) · Σ_j (Σ_i sim(x_i, x_j) − 1)      equation 4       [-1, 1]      higher is more consistent; needs n ≥ 2
//	Xc = 1/(n·N) · Σ_j Σ_i sim(x_i, y_j)               equation 5       [-1, 1]      higher is more correct, if ls is
//	Wc = 1/n · Σ_i t·u_i                               equation 6       [-100, 100]  higher is more correct; 100 × cosine
//
// Dt grows as pictures get less distinct: its column is inverse_distinctiveness, and distinctiveness is 1 − Dt. Xc rewards an error that ls makes too.
// The printed sums run from 0 to n while dividing by n; here they run over n pictures.
//
// # What the paper leaves open
//
// [Options] names each reading; [ProfileOf] gives two sets of them:
//
//	                      paper                                        public-code
//	Dt: m                 100, or all other concepts if fewer          100
//	Dt: sample            own for each concept                         one for all concepts of a model
//	Dt: replacement       without                                      without
//	Dt: the concept       not in its own sample                        may be in it
//	Xc where l = ls       without a picture's match with itself        the same
//	Wc                    100 × cosine, English word                   the same
//	blank cell in means   left out, counted                            −1
//	correlations          all models                                   without CogView 2; values outside 0 to 1 dropped
//
// The paper says neither m nor how the sample is drawn; the column "paper" is this package's default for it. With a picture's match with itself
// ([Literal], equation 5 to the letter) Xc at l = ls is Sc + (1 − Sc)/n. A black picture in place of one that failed, as the public code has it, is
// a matter of the pictures: give its vector, with outcome ok. The source language is en, for CogView 2 zh; the word of Wc is English for all.
//
// Wordings of a prompt (Appendix B) are scored as models are, MODEL / WORDING (the option wording of cococrola-scores), and compared by [Wordings].
//
// # Possession
//
// [Rule]: not possessed where Xc < 0.5 and Wc < 25 (section 5.6); "and" can be read as both or either. The share of concepts possessed is an addition: the paper
// defines none.
//
// # Blanks
//
// Pictures that were refused or failed, and rows without a vector, are left out and counted. A score that cannot be computed (no picture, n = 1 for Sc, no
// picture in ls for Xc) is NaN in Go and blank in a table; means leave it out and count it. A zero vector, NaN, infinity, vectors of unequal width and
// an id that occurs twice are errors.
//
// # Intervals
//
// Of one concept's scores: percentile bootstrap over its pictures (Xc: also over those of ls), given the sample z of Dt; blank under three pictures, and
// narrow at few: with 10 pictures nominal 95 % intervals of Sc, Xc and Wc held the truth in about 9 of 10 simulated data sets. Of means, shares and
// correlations: percentile bootstrap over concepts, all languages and models of a concept together. Draws depend on seed and names only, not on the order of rows.
package cococrola
