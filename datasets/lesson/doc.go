// Package lesson is what the notebooks of notebooks/lessons use next to the other packages: [Check] says whether an
// answer is right or prints a hint, [Predicted] shows a prediction next to the result, and [Points] and [FairWorlds]
// are their data.
package lesson
