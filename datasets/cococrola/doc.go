// Package cococrola reads the released concepts and prompt templates of CoCo-CroLa v0.1 (Saxon and Wang, ACL 2023): 193 concepts, each a word in
// seven languages, and one template a language, `a photograph of $$$`, whose slot $$$ takes the word.
//
// # Rows and ids
//
// [Prompts] gives one row for each concept, language and picture asked for. Its id is the stem of the file name of the authors' scripts,
// ROW-LANGUAGE-CONCEPT-PICTURE counted from 0 (0-en-eye-0), so that their pictures can be joined by id. A concept is known by its English word.
// Another language is another column of the concept file and another key of the template file.
//
// # A list of one's own
//
// [BuildList] is the paper's way to a list (section 4.1, Appendix A), with translators and dictionary plugged in; [ConceptList] runs it on recorded answers, offline, with a reason for every word that
// was dropped.
//
// # What is known to be wrong with the words
//
// The list was translated by machine. The authors corrected some Spanish, Chinese and Japanese words later ([Options.Corrected]); some concepts
// share a word in a language ([Collisions]); not every concept is a tangible noun. The Hebrew template starts with a space and has none before the
// slot: it is filled as released.
package cococrola
