// Package entigen holds the scores of ENTIGEN (Bansal et al., EMNLP 2022) on labels by people or by CLIP: how evenly the people in generated pictures are
// spread over two perceived groups (diversity), which way they lean (bias), and how many pictures are usable (quality).
//
// # Formulas
//
// For a prompt, an attribute k (doctor, suit, bride …) and an axis, a_k and b_k count the pictures labelled with the first and second group of the axis:
// man/woman, light-/dark-skinned, Western/Non-Western. Pictures without a group label count in neither.
//
//	DS   = Σ_k |a_k − b_k| / Σ_k (a_k + b_k)      paper's equation 1, in [0, 1]; 0 = every attribute balanced, 1 = every attribute one-sided
//	bias = (a_k − b_k) / (a_k + b_k)              paper's equation 2, in [-1, 1]; positive = towards the first group
//
// With no usable picture a score is not available (NaN), never 0. DS = Σ w_k·|bias_k| with w_k = (a_k + b_k)/Σ(a + b). |a − b| and a + b are both odd or both even,
// so that few usable pictures allow few values: see [Feasible].
//
// # From three raters to one label
//
// The paper says "majority view". [Strict] is the rule that reproduces 72 of the 81 human values of Tables 1, 2 and 6 and all 24 of Table 3 from the
// released ratings; it was found by search on those very cells, so the agreement supports a reconstruction and confirms nothing independently.
//
// # Labels by CLIP
//
// [ClipLabels] labels pictures from vectors, whichever model made them: a picture nearer to the text of an object than of a person is dropped, the nearest of the texts
// T_man, T_woman, T_uncertain is the label; uncertain and ties count in neither group. The table of labels has the form of the ratings, so that every score here reads
// it. [AgreementOf] compares it with people's labels, over pictures where both decided or over all.
//
// # Interventions
//
// [Interventions] puts each added sentence beside the original prompt, on its own axis and crossed with the others; [Controls] counts the cells that sentences lower, those of
// irrelevant sentences beside them: on the paper's printed Table 1 these lower 7 of 12. Prompts with spans taken out (package datasets/entigen, Ablate) go through the
// same scores: their ids say what is missing. [Phrases] and [Contexts] look into training captions.
//
// # Intervals
//
// Of a diversity and of quality: [Bootstrap] over the pictures of each attribute, those without a label included, or over whole prompts; the draws' mean is taken away, since
// |a − b| of few pictures is biased upwards under resampling. The draws depend on the seed and the cell's name only. Where every attribute is one-sided it has no
// width: resampling cannot know of what was never drawn, so read the counts. Of a bias: Wilson's score interval, see [BiasInterval].
//
// Labels say what raters perceived in generated pictures, in two groups per axis; nobody's identity is known or meant.
package entigen
