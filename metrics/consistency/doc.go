// Package consistency measures how well images match a prompt when it is given in other languages, and how similar and
// how distinct images are within a language and across languages (IndicTTI, Mittal et al., "Navigating Text-to-Image
// Generative Bias across Indic Languages", ECCV 2024).
//
// # Scores
//
// With languages l, prompts k = 1…P, images r = 0…n−1 per prompt (the paper's sums run to n inclusive while dividing by
// n), cosine φ and features x(k,l,r) of an image:
//
//	CLGC(l)     = mean over k, r of φ(t(p_k), t(c(i(k,l,r))))     English prompt and the image's caption, eq. 2–3
//	IGC(l)      = mean over k, r of φ(f(q_k), x(k,l,r))           photograph of the data set and image, eq. 4
//	LGC(l)      = mean over k, r of φ(t_B(p_k), f_B(i(k,l,r)))    English prompt and image in a joint space, eq. 5
//	SCAL(a,b,k) = mean over u ≠ v of φ(x(k,a,u), x(k,b,v))        eq. 6
//	SCAL(a,b)   = mean over k of SCAL(a,b,k)                      eq. 7
//	SCAL        = mean over a ≠ b of SCAL(a,b)                    eq. 9; there is no eq. 8
//	SCWL(l)     = mean over k, u < v of φ(x(k,l,u), x(k,l,v))     eq. 10–11
//	DWL(l)      = 1 − mean over a < b of φ(x(a,l), x(b,l))        eq. 12, misprinted there as SWL
//	drop        = score(en) − mean over the other languages       sections 5 and 6
//
// All are in [−1, 1], DWL in [0, 2]; the paper prints 100 times the value as "%". Higher CLGC, IGC and LGC are more
// faithful. SCAL, SCWL and DWL do not distinguish correct from incorrect images. DWL depends on how related the prompts
// are: compare it only over the same prompts (option Prompts: "common").
//
// # Methods
//
// Equations 6, 10 and 12 as printed sum over ordered pairs and divide by the number of unordered ones, which doubles a
// mean, and equation 9 divides N(N−1) terms by N. [PairNormalizer], [Normalizer], [OverallNormalizer] and [DWLImages]
// are the variants; the default of each is the mean. The column method of a table names the variant.
//
// # Missing images
//
// An image is identified by its index: images with equal seeds start from the same noise, which is why SCAL leaves
// out u = v. Scores use the available images and count the others. A prompt with fewer than two images in a language
// is left out of SCWL and, except for mean_all, of SCAL, and counted. A score without any term is NaN, never 0. A
// vector of zeros, NaN or another width is an error.
//
// # The study
//
// [CaptionPool] filters captions, [SelectPrompts] samples prompts, [PromptSets] nests the sets of each model,
// [CheckTranslations] checks a table of translations, [Prompts] returns the prompts in every language with their
// source. [Completeness] counts the images, [PaperCells] compares scores with the printed values, [Motifs]
// counts manual tags and [TranslationRatings] evaluates ratings of translations. Package datasets/indictti contains
// the languages, the size of the study and the printed values.
//
// # Intervals
//
// Bootstrap intervals (package interval) resample prompts, all images of a prompt in all languages together, so that
// differences and means over languages have intervals too. DWL is a mean over pairs of prompts; a resample would pair
// a prompt with its own copy, so its first-order terms, one number per prompt, are resampled ([ComputeDWL]).
// With fewer than two prompts there is no interval.
package consistency
