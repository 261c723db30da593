// Package indictti holds the data side of IndicTTI (Mittal et al., ECCV 2024, "Navigating Text-to-Image Generative Bias across Indic Languages"):
// the table of languages, the captions that prompts are taken from, nested sets of prompts, the pictures a study asks for, and the printed tables.
//
// # Languages
//
// A language is a pair of language and script, xxx_Ssss (ISO 639-3, ISO 15924), English is en: 31 in all, of 27 Indic languages in 13 scripts. They are
// configuration (languages.csv is the default): a row more in a file of one's own is a language more ([ReadLanguages]). Each says where its captions
// come from: 24 from the caption data set (NLLB), 6 translated from English (IndicTrans2).
//
// # Captions
//
// LAION-COCO-NLLB (Hugging Face visheratin/laion-coco-nllb, CC BY-NC 4.0; the paper says COCO-NLLB) has the columns id, url, eng_caption, captions (a list of
// pairs of code and caption, about 200 of each picture) and score. [Released] is the table of its Parquet files, [Captions] reads the pairs from JSON text. Nothing here asks for ids of MS-COCO: any table
// with an English caption and captions by code will do.
//
// # Prompts
//
// Prompts are the captions themselves, without a template. [Nested] draws the sets of 1000 ⊃ 200 ⊃ 50 prompts and the common 40. The paper calls the sets of 200 and 50
// random; two independent ones would share about ten prompts and not 40, so they are drawn one inside the other. [Plan] is what a study asks for, without asking.
//
// # Printed tables
//
// [PrintedCells] are Tables 2–4 and 6–11. They were read from a damaged copy of the paper: a cell that could not be read has no value, one of which only the first
// digits could be is cut, one whose row or digit is doubtful is uncertain. Nothing was filled in.
package indictti
