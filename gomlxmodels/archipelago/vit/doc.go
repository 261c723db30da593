// Package vit trains archipelago-vit, the encoder of the Decomposed-DIG audit on the Archipelago: a Vision Transformer
// trained on whole images, on the object's patches only, and on the background's patches only.
package vit
