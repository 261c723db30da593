// Package indictti holds the scores of IndicTTI (Mittal et al., "Navigating Text-to-Image Generative Bias across Indic Languages",
// ECCV 2024): how much of a caption's meaning a picture keeps when the caption is given in another language, and how alike and how
// distinct the pictures are within a language and across languages.
//
// With languages l, prompts k = 1…P, pictures r = 0…n−1 of each (the paper's sums run to n inclusive while they divide by n), cosine φ and
// x(k,l,r) the features of a picture:
//
//	CLGC(l)     = mean over k, r of φ(t(p_k), t(c(i(k,l,r))))     English caption and the picture's caption, eq. 2–3
//	IGC(l)      = mean over k, r of φ(f(q_k), x(k,l,r))           the data set's photograph and the picture, eq. 4
//	LGC(l)      = mean over k, r of φ(t_B(p_k), f_B(i(k,l,r)))    English caption and picture in a joint space, eq. 5
//	SCAL(a,b,k) = mean over u ≠ v of φ(x(k,a,u), x(k,b,v))        eq. 6
//	SCAL(a,b)   = mean over k of SCAL(a,b,k)                      eq. 7
//	SCAL        = mean over a ≠ b of SCAL(a,b)                    eq. 9; there is no eq. 8
//	SCWL(l)     = mean over k, u < v of φ(x(k,l,u), x(k,l,v))     eq. 10–11
//	DWL(l)      = 1 − mean over a < b of φ(x(a,l), x(b,l))        eq. 12, misprinted there as SWL
//	drop        = score(en) − mean over the other languages       sections 5 and 6
//
// All lie in [−1, 1], DWL in [0, 2]; the paper prints 100 times the value as "%". Higher CLGC, IGC and LGC are more faithful. SCAL, SCWL and
// DWL cannot tell right pictures from wrong ones: two wrong pictures that look alike agree. DWL depends on how related the prompts are, so compare only over
// the same prompts ([CommonPrompts]).
//
// # Readings
//
// Read literally, equations 6, 10 and 12 sum over ordered pairs and divide by the number of unordered ones, which doubles a mean, and equation 9
// divides N(N−1) terms by N. [PairNormaliser], [Normaliser], [OverallNormaliser] and [Images] name the readings; the zero option of each is the mean. Every table says
// which one made it.
//
// # What is missing
//
// A picture is told by its index: with seeds in common, u = v are pictures from the same noise, which is why SCAL leaves them out. Scores take the pictures
// there are and count those that are not. A prompt with fewer than two pictures in a language is left out of SCWL and, but for mean_all, of SCAL, and counted. A score with nothing
// to rest on is NaN, never 0. A vector of zeros, NaN or another width is an error.
//
// # The study around the scores
//
// [CaptionPool] says which captions prompts may be drawn from, [SelectPrompts] draws them, [PromptSets] nests the sets of each model, [PromptTable] gives the texts in every language with
// their source. [Completeness] counts what came back; [ResultTable] is the paper's layout, [PrintedCells] the comparison with its printed values, [Motifs] tabulates hand tags and
// [TranslationRatings] the study of translations. Languages, dry run and printed values are package datasets/indictti's.
//
// # Intervals
//
// Percentile bootstrap over prompts: all pictures of a prompt, in all languages, come and go together, so differences and means over languages have intervals of
// their own. DWL is a mean over pairs of prompts; resampling would pair a prompt with its own copy, so its first-order terms are resampled, which
// are one number a prompt ([Distinctiveness]). With fewer than two prompts there is no interval.
package indictti
