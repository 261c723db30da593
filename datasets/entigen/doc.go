// Package entigen reads the released human ratings of ENTIGEN (Bansal et al., EMNLP 2022). The study adds a sentence to
// a prompt that argues for fairness without naming a visible trait, and measures whether the people in the generated
// images are more evenly distributed over two perceived groups.
//
// # Ratings
//
// Three raters of each image stated whether it shows a person, whether it shows what the prompt describes, and which of
// two groups they perceive: man or woman, light-skinned or dark-skinned; for weddings, a Western or Non-Western scene.
// These are perceptions of generated images by raters in the US and the UK; no one's identity is known. The names of
// all columns contain "perceived". [Ratings] is the table of the ratings, and package metrics/representation computes
// the paper's scores from it. `antipode data pull entigen` downloads the data set.
//
// # Identifiers
//
// The released sheets contain identifiers of workers, assignments and tasks of the crowdsourcing platform, and approval
// rates. Before anything is stored, identifiers are replaced by labels and approval rates are removed. Tables contain
// no labels either: raters are numbered from 1 to 3 within an image.
//
// # Prompts of the images
//
// Images are in folders Prompt1, Prompt2, …, whose prompts are not documented. [PromptOf] is the mapping that
// reproduces the paper's numbers, the same for all three models. In the objects of two models the folder of the
// skin-color prompt is spelled "race". A folder that the paper does not report keeps its name.
//
// # Building prompts
//
// [Build] returns the prompt set: for each category a base prompt, and the base prompt followed by each [Intervention],
// filled with each attribute, in the grammar of the paper or of the released file. [PromptOptions] adds axes,
// categories, attributes and interventions. [Lint] finds words in a sentence that name a visible trait. [Ablate]
// removes spans of a prompt.
package entigen
