// Package clipseg trains archipelago-clipseg, which segments what a text names. Its towers are the frozen ones of
// archipelago-clip; the decoder is trained on exact masks.
//
// Each image has a prompt that describes it, in one of five languages, and one that may not; the mask of a prompt that
// does not describe the image is empty.
package clipseg
