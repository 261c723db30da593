// Package entigen reads the released human ratings of ENTIGEN (Bansal et al., EMNLP 2022): does a sentence added to a prompt,
// which argues for fairness without naming any visible trait, make the people that a text-to-image model draws more evenly spread over two
// groups?
//
// # What the ratings mean
//
// Three raters per picture said whether it shows a person, whether it shows what the prompt describes, and which of two groups the person's looks
// suggest: man or woman, light- or dark-skinned; for weddings, a Western or Non-Western scene. These are perceptions of expression in generated
// pictures by raters in the US and UK; nobody's identity is known or meant. Every column says "perceived".
//
// # Identifiers
//
// The sheets carry the crowd platform's identifiers of workers, assignments and tasks, and approval rates. They are replaced by labels and
// blanked before anything is stored, and no table holds even the labels: raters are numbered 1 to 3 within a picture.
//
// # Which prompt a picture was made with
//
// Pictures lie in folders Prompt1, Prompt2, …; what they mean was found by fitting the paper's numbers, one mapping for all three models
// ([PromptOf]). For objects of two models the folder of the skin-colour prompt spells "race". Folders that the paper reports nothing about keep their own name.
//
// # Prompts
//
// [Build] makes the prompt set: attributes of a category, a base prompt, sentences appended to it ([Intervention]); in two grammars, the paper's templates word for
// word or the released file's. Axes, categories, attributes and interventions of one's own come in by [PromptOptions]; [Lint] finds words in a sentence that tell a
// generator what to show; [Ablate] takes spans out of a prompt; [WriteSheets] writes ratings as sheets that [Read] reads back.
package entigen
