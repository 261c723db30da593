// Package dallemini is DALL·E mini and DALL·E mega (Dayma et al. 2021, github.com/borisdayma/dalle-mini): a BART with
// gated linear units and the norms of NormFormer, which reads a text and writes the tokens of an image, and a VQGAN
// (package vqgan), which turns these into pixels.
//
// # Folders
//
// [Open] reads a folder as dalle-mini writes it (dalle-mini/dalle-mini, dalle-mini/dalle-mega): config.json, the
// tokenizer, and flax_model.msgpack or the same tensors in safetensors. Its subfolder vqgan has the folder of the VQGAN
// (dalle-mini/vqgan_imagenet_f16_16384), unless `antipode models pull` downloaded that. Layers may be scanned, with all
// layers of a parameter in one tensor, or not.
//
// # Prompts
//
// The models were trained on normalized texts, in ASCII; [Normalizer] is the original's normalization. For a prompt in
// another script its transliteration is what the model reads.
//
// # Sampling
//
// The decoder runs for the prompt and for the empty prompt, with one token row: logits = u + s·(c − u), where s is the
// condition scale (super conditioning). Keys and values of both are cached. The random numbers of an image are those of
// its own seed (package textgen); JAX's generator is not reproduced, so that images differ from the original's with the
// same seed and have the same distribution.
//
// Letters of the shapes: B texts, S tokens of a text, N tokens of an image, D width, H heads, d = D/H, F width of a
// gated linear unit, V image vocabulary with the start token; G, R and Q are those of package textgen.
package dallemini
