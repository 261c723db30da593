// Package cococrola reads the released concepts and prompt templates of CoCo-CroLa v0.1 (Saxon and Wang, ACL 2023): 193
// concepts, each with a word in seven languages, and one template per language, such as `a photograph of $$$`, in which
// the word replaces $$$.
//
// # Rows and ids
//
// [Prompts] has one row per concept, language and image. Its id is the stem of the file names of the authors' scripts,
// ROW-LANGUAGE-CONCEPT-NUMBER counted from 0 (0-en-eye-0), so that their images can be joined by id. A concept is
// identified by its English word. To add a language, add a column to the concept file and a key to the template file.
//
// # Images and scores of the paper's models
//
// [DemoImages] and [DemoScores] read the authors' demo repository, which `antipode data list` names as cococrola-demo:
// images and scores of eight of the nine models. Not yet tested on the repository itself.
//
// # Building a concept list
//
// [BuildList] implements the pipeline of the paper (section 4.1, Appendix A) for any translators and dictionary.
// [ConceptList] runs it offline on recorded answers and gives a reason for every word that was dropped.
//
// # Known errors in the words
//
// The list was translated by machine. The authors later corrected some Spanish, Chinese and Japanese words
// ([Options.Corrected]); some concepts share a word in a language ([Collisions]); not every concept is a tangible noun.
// The Hebrew template starts with a space and has no space before the slot: it is used as released.
package cococrola
