// Package indictti provides the data of IndicTTI (Mittal et al., ECCV 2024, "Navigating Text-to-Image Generative Bias
// across Indic Languages"): the table of languages, the captions that prompts are selected from, nested prompt sets,
// the planned number of images, and the printed tables.
//
// # Languages
//
// A language is a pair of language and script, xxx_Ssss (ISO 639-3, ISO 15924); English is en. There are 31: English
// and 30 pairs of 27 Indic languages in 13 scripts. languages.csv is the default; [Options.Languages] names another
// file, in which each row adds a language ([ReadLanguages]). Each language names the source of its captions: 24 come
// from the caption data set (NLLB), 6 are translated from English (IndicTrans2).
//
// # Captions
//
// LAION-COCO-NLLB (Hugging Face visheratin/laion-coco-nllb, CC BY-NC 4.0; the paper says COCO-NLLB) has the columns
// id, url, eng_caption, captions (a list of pairs of code and caption, about 200 per image) and score. [Released] is
// the table of its Parquet files; [Captions] parses the pairs from JSON. No ids of MS-COCO are needed: any table with
// an English caption and captions by code works.
//
// # Prompts
//
// A prompt is the caption itself, without a template. [Nested] samples the sets of 1000 ⊃ 200 ⊃ 50 prompts and the
// 40 common ones. The paper calls the sets of 200 and 50 random; two independent samples would share about ten
// prompts, not 40, so the sets are nested. [Plan] counts the images of the study.
//
// # Printed tables
//
// [PrintedCells] are Tables 2–4 and 6–11, transcribed from a damaged copy of the paper. A cell that could not be read
// has no value (lost), one of which only the first digits could be read is cut, one whose row or digit is in doubt is
// uncertain. No value was guessed.
package indictti
