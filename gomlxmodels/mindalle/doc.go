// Package mindalle is minDALL-E (Kim et al. 2021, github.com/kakaobrain/minDALL-E): a GPT that reads a text and writes
// the tokens of an image, and a VQGAN (package vqgan), which turns these into pixels. The published weights may not be
// used commercially (CC BY-NC-SA 4.0).
//
// # Folders
//
// [Open] reads a folder as released: config.yaml, stage1_last.ckpt (the VQGAN), stage2_last.ckpt (the GPT) and
// tokenizer with bpe-16k-vocab.json and bpe-16k-merges.txt.
//
// # Sampling
//
// Texts are in lower case, without start and end token, and padded; the padding is attended to. There is no start
// token: the first image token follows the last text position. The random numbers of an image are those of its own seed
// (package textgen), not torch's.
//
// Letters of the shapes: D width; R, Q and the others are those of package textgen.
package mindalle
