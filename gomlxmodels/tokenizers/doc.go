// Package tokenizers turns texts into token ids, and back, as the tokenizer of a Hugging Face model folder does:
// WordPiece (BERT, MPNet), Unigram (XLM-R), byte-level byte-pair encoding (GPT-2, RoBERTa, OPT) and CLIP's. [Open]
// reads tokenizer.json, else vocab.txt, else vocab.json and merges.txt, else a SentencePiece model of XLM-R; the ids
// are those of the tokenizers library and of transformers. docs/parity.md says where SentencePiece itself differs.
//
//	t, err := tokenizers.Open(folder)
//	e, err := t.Encode("A house by the sea", 0) // e.IDs: [CLS] … [SEP], cut to what the model takes
//
// # What a text may hold
//
// Anything. Invalid UTF-8 becomes U+FFFD as in Python's decode(errors="replace"). A special token written out in a
// text ("[SEP]", "</s>") becomes that token, as in transformers: [Encoding.Special] counts them. What is in no
// vocabulary is counted too, and so are tokens and words: a language that falls into many tokens is cut short early.
//
// Characters are classed as the library classes them, which is by several versions of Unicode: unicode.go.
//
// # Why not go-huggingface's hftokenizer
//
// Version 0.4.0 cuts Unigram words greedily where the model requires the likeliest segmentation, has no precompiled
// character map, follows other tables of characters, counts a word's length in bytes, ends byte-level words at
// spaces alone, takes added tokens without the white space they strip, and reads neither vocab.txt nor merges.txt.
// Of the test's 2,000 lines it gives other ids for 97 (RoBERTa) to 1,992 (Unigram), for 121 with the real tokenizer
// of all-MiniLM-L6-v2, so each stage here is our own.
package tokenizers
