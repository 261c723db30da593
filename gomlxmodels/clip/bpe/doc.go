// Package bpe is CLIP's tokenizer: text to token ids by byte-level byte-pair encoding (Radford et al. 2021, arXiv 2103.00020,
// section 2.4), as transformers' CLIPTokenizer does it. It reads tokenizer.json, or vocab.json and merges.txt.
//
// A text is composed (NFC), its white space made plain, its letters made small; it is cut into words (runs of letters,
// single digits, runs of other characters, English contractions); the bytes of a word are joined pair by pair, the pair that
// comes first in the list of merges first. Texts in scripts the vocabulary hardly knows fall into many tokens and are cut
// short early: [Encoding.Pieces] and [Encoding.Unknown] tell.
package bpe
