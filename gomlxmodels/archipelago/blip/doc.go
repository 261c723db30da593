// Package blip trains archipelago-blip, the captioner of the Archipelago: a BLIP that says what a picture shows in the words of
// archipelago.Picture.Caption, "a round lantern on the shore, Velmora", and of a figure asked for by a prefix, what its crest and its
// banner are.
package blip
