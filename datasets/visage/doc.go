// Package visage reads the human annotations of ViSAGe (Jha et al., ACL 2024): which attributes can be seen in a picture at
// all, and which of them annotators saw in pictures of 135 nationality groups drawn by Stable Diffusion v1.4.
//
// Content warning: the attributes contain offensive stereotypes. Tables mask them by the rule of package seegull unless
// [Options.ShowOffensive] is set.
//
// # Two versions of the annotations
//
// The repository's current file is ImageAnnotations.csv (July 2024). The workbook before it (February 2024) was withdrawn by
// the maintainers a minute before the CSV appeared, without a reason given; the paper's Tables 1 and 2 come out of the
// workbook. The loader takes the current file where it is there, else the workbook or its CSV form, and the [Report] says which.
//
// # What the file holds
//
// Rows come in screens of four attributes and "none of the above"; the same attribute is shown again and again for the same
// picture; worker_id names a task, not a person. Rows without a picture are dropped and counted. Boxes are two corners in any order
// on a 512×512 picture; they are put in order and clamped. The pictures themselves were never released.
//
// # Prompts, regions, printed tables
//
// [Prompts] are the jobs of study 1, [SetPrompts] the default, stereotypical and other prompts of study 2, both from templates one may edit, with the article that the next word
// asks for. [Regions] maps identities to SeeGULL's eight regions, editable too. [Printed] and [PrintedPull] are the paper's tables. [WriteAnnotations] writes what
// [ReadAnnotations] reads.
package visage
