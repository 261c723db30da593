// Package tokens is the tokenizer of the Archipelago's models: CLIP's byte-level BPE with a vocabulary for the world's
// five languages.
//
// Merges are learned from [Texts], all texts of the world, until each word in Latin script and each character of the
// other scripts is one token. The regular expression of CLIP splits words in Devanagari and Arabic at every vowel sign
// and does not split Han; the lexicon's words in these scripts are therefore added tokens, which are matched before the
// split. Every word of the world is then one token, and any other text is encoded by its bytes without loss.
//
// [Write] writes the files of a CLIPTokenizer: vocab.json, merges.txt, tokenizer.json, tokenizer_config.json and
// special_tokens_map.json. Their content is deterministic.
package tokens
