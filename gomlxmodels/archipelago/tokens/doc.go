// Package tokens is the tokenizer of the Archipelago's models: CLIP's, with a vocabulary of its own for the world's five languages.
//
// Byte pairs are learned from [Texts], everything the world says, until each word of the English and Latin ones is one token and
// each character of the other scripts is. CLIP's expression cuts a word of Devanagari or Arabic at every vowel sign and does not cut
// Han at all; the lexicon's words in these scripts are therefore added tokens, which are found in a text before it is cut. So every
// word of the world is one token, and any other text falls into the bytes that no pair joins: nothing is lost.
//
// [Write] writes the files of a CLIPTokenizer: vocab.json, merges.txt, tokenizer.json, tokenizer_config.json and
// special_tokens_map.json. They are the same whenever they are written.
package tokens
