// Package blip trains archipelago-blip, a BLIP captioner for images of the Archipelago. It writes captions in the words
// of archipelago.Image.Caption, "a round lantern on the shore, Velmora", and, after a prefix, a figure's crest or
// banner.
package blip
