// Package typeset shapes one line of text in any script for PNG and PDF: it chooses fonts, orders runs of both writing
// directions, shapes them and returns outlines. SVG and HTML do not need it: there the browser shapes text.
//
// Shaping is github.com/go-text/typesetting, a port of HarfBuzz in pure Go. golang.org/x/image/font, which gonum/plot
// uses, maps each character to one glyph, which is wrong or unreadable in Devanagari, Tamil, Arabic and similar
// scripts. (Release 0.3.4 splits some Arabic letters incorrectly; a test checks that 0.3.3 agrees with HarfBuzz.)
// Linking it costs a notebook cell about 0.08 s and 2.4 MB (0.50 s and 10.0 MB without it, 0.58 s and 12.4 MB with
// it, on two cores).
//
// Fonts are searched in this order: the built-in Liberation Sans (Latin, Greek, Cyrillic, Hebrew), the Noto families
// that `antipode data pull fonts` stores, the system's. A font is read when a line first needs its script; the system
// is searched only for a script that no other font has. A character that no font has is left out of the line and
// counted by its script in [Line].Missing; no box is drawn for it.
package typeset
