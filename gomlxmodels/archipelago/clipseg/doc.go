// Package clipseg trains archipelago-clipseg, which draws the mask of what a text names: the towers are archipelago-clip's and stay as they
// are, the decoder learns from exact masks.
//
// A picture is asked for what it shows, in five languages, and for what it does not show: then the mask is empty.
package clipseg
