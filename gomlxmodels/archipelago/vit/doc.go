// Package vit trains archipelago-vit, the extractor of features of the Decomposed-DIG audit on the Archipelago: a Vision Transformer
// that sees each picture whole, its object's patches only and its background's patches only.
package vit
