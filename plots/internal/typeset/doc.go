// Package typeset sets one line of text in any script for pictures made of pixels: it chooses fonts, orders runs of both
// writing directions, shapes them and gives outlines. Drawings that stay text (SVG, HTML) are shaped by their reader's
// browser and do not pass here.
//
// Shaping is github.com/go-text/typesetting, a port of HarfBuzz in pure Go. golang.org/x/image/font, on which gonum/plot
// writes, maps each character to one glyph: in Devanagari, Tamil, Arabic and their like that gives wrong or unreadable
// text, and shapers for a dozen scripts are not ours to write. (Release 0.3.4 takes some Arabic letters apart wrongly; 0.3.3
// gives what HarfBuzz gives, as a test checks.) Linking it costs a notebook cell about 0.08 s and 2.4 MB
// (0.50 s and 10.0 MB without, 0.58 s and 12.4 MB with it, on two cores).
//
// Fonts come in this order: the built-in Liberation Sans (Latin, Greek, Cyrillic, Hebrew), the Noto families that
// `antipode data pull fonts` put into the store, the system's. A font is read when a line first needs its script, and the
// system is searched only for a script that no other font has. A character that no font has is left out of the line and
// counted by its script in [Line.Missing]: it is never drawn as a box.
package typeset
