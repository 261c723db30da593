// Package concepts measures which concepts a text-to-image model possesses in which languages: whether it generates a
// concept distinctly, consistently and correctly when prompted in a language (CoCo-CroLa, Saxon and Wang, ACL 2023).
//
// # Scores
//
// x_1 … x_n are the images of a concept in a language by one model, as vectors of one image encoder; y_1 … y_N are
// those of the same concept in the source language; z_1 … z_m are images of other concepts in the same language; t is
// the text vector of the concept's word and u_1 … u_n are the images in the space of that text encoder; sim is the
// cosine. Vectors are float32, sums are float64.
//
//	Dt = 1/(m·n) · Σ_j Σ_i sim(x_i, z_j)               equations 2, 3   [-1, 1]      lower is more distinct
//	Sc = 1/(n² − n) · Σ_j (Σ_i sim(x_i, x_j) − 1)      equation 4       [-1, 1]      higher is more consistent; n ≥ 2
//	Xc = 1/(n·N) · Σ_j Σ_i sim(x_i, y_j)               equation 5       [-1, 1]      higher is more correct
//	Wc = 1/n · Σ_i t·u_i                               equation 6       [-100, 100]  higher is more correct
//
// Dt grows as images become less distinct: its column is inverse_distinctiveness, and distinctiveness is 1 − Dt. Xc
// assumes that images in the source language are correct: it also rewards shared errors. The printed sums run from 0
// to n while dividing by n; here they run over n images.
//
// # Profiles
//
// The paper does not define everything. [ScoreOptions] has an option for each choice; a profile sets their defaults:
//
//	                              paper                                        public-code
//	Dt: m                         100, or all other concepts if fewer          100
//	Dt: sample                    per concept                                  shared by all concepts of a model
//	Dt: replacement               without                                      without
//	Dt: the concept itself        excluded from its sample                     may be sampled
//	Xc in the source language     without an image's similarity to itself      the same
//	Wc                            100 × cosine, English word                   the same
//	blank score in means          left out, counted                            −1
//	correlations                  all models                                   without CogView 2, values in [0, 1]
//
// The paper states neither m nor the sampling: its profile holds the defaults of this package. With [Literal]
// (equation 5 as printed) Xc in the source language is Sc + (1 − Sc)/n. The public code replaces a failed image by a
// black one; to do the same, provide its vector with outcome ok. The source language is en, and zh for CogView 2; the
// word of Wc is English for all models.
//
// Prompt templates (Appendix B) are scored like models, named MODEL / TEMPLATE ([ScoreOptions.Template]), and compared
// by [CompareTemplates].
//
// # Possession
//
// A concept is not possessed if Xc < 0.5 and Wc < 25 (section 5.6); [Rule] also offers "or". The share of possessed
// concepts is an addition: the paper defines none.
//
// # Words
//
// [SimilarPairs], [SimilarityMatrix], [DistinctVectors] and [NearestConcepts] examine the texts of the concepts
// before any image is generated: which concepts an encoder hardly distinguishes, and in which languages. They are
// additions, as is [WordVectors], a substitute for a text encoder.
//
// # Missing values
//
// Refused or failed images and rows without a vector are left out and counted. A score that is undefined (no image, n
// = 1 for Sc, no image in the source language for Xc) is NaN in Go and blank in a table; means leave it out and count
// it. A zero vector, NaN, infinity, vectors of different widths and repeated ids are errors.
//
// # Intervals
//
// Intervals of a concept's scores are bootstrap intervals over its images (for Xc also over those of the
// source language), given the sample z of Dt; they are blank under three images. With 10
// images, nominal 95 % intervals of Sc, Xc, Wc and Dt covered the true value in 96 % of simulated data sets.
// Intervals of means, shares and correlations resample concepts, all languages and models of a concept together.
// Resamples depend on the seed and on names, not on the order of rows.
package concepts
