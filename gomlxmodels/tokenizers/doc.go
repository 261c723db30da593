// Package tokenizers turns texts into token ids, and back, as the tokenizer of a Hugging Face model folder does: WordPiece
// (BERT, MPNet), Unigram (XLM-R), byte-level byte-pair encoding (GPT-2, RoBERTa, OPT) and CLIP's. [Open] reads tokenizer.json, else
// vocab.txt, else vocab.json and merges.txt; the ids are those of the tokenizers library and of transformers.
//
//	t, err := tokenizers.Open(folder)
//	e, err := t.Encode("A house by the sea", 0) // e.IDs: [CLS] … [SEP], cut to what the model takes
//
// # What a text may hold
//
// Anything. Invalid UTF-8 becomes U+FFFD as in Python's decode(errors="replace"). A special token written out in a text
// ("[SEP]", "</s>") becomes that token, as in transformers: [Encoding.Special] counts them. What is in no vocabulary is counted
// too, and so are tokens and words: a language that falls into many tokens is cut short early.
//
// # Why not go-huggingface's hftokenizer
//
// It cuts Unigram words greedily where the model asks for the likeliest cut, has no precompiled character map, ends byte-level
// words at spaces alone, counts a WordPiece word's length in bytes, and reads no vocab.txt and no merges.txt. On the texts of
// the test it gave other ids for many lines (internal/pyref/tokenizers.py writes them), so this package has stages of its own.
package tokenizers
