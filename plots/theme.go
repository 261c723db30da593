package plots

import (
	"fmt"
	"image/color"
	"math"
	"reflect"
)

// Theme is the style of figures. Sizes are in CSS pixels (1/96 inch). A field that is zero is that of [DefaultTheme].
type Theme struct {
	Series   []color.NRGBA // colors of series, in legend order; no two alike to a color-blind reader
	Ink      color.NRGBA   // text, axes, whiskers
	Muted    color.NRGBA   // captions, "no data"
	Rule     color.NRGBA   // grid lines
	Paper    color.NRGBA   // background
	Outline  color.NRGBA   // outline of a mask
	Low      color.NRGBA   // heat tables: below the reference, at full strength
	High     color.NRGBA   // heat tables: above the reference (or largest), at full strength
	Fonts    string        // CSS font families of SVG and HTML, in order of preference
	Width    float64       // width of a figure: 312 for a column of 3.25 inches, 648 for a text width of 6.75
	Title    float64       // font size of titles
	Text     float64       // font size of axes, labels, legends
	Small    float64       // font size of captions and numbers at marks
	Outlines float64       // width of a mask's outline; thinner on thumbnails of less than 120 pixels
	DPI      int           // resolution of PNG files and of images in PDF, 24 to 1200 dots per inch
	Bare     bool          // no title and no caption, which [Caption] returns
}

// complete sets the fields that are zero to those of the default theme.
func (t Theme) complete() Theme {
	own, other := reflect.ValueOf(&t).Elem(), reflect.ValueOf(DefaultTheme())
	for i := range own.NumField() {
		if f := own.Field(i); f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
			f.Set(other.Field(i))
		}
	}
	return t
}

// DefaultTheme returns the default style, 700 pixels wide, on white. Its colors are those of Okabe and Ito's Color
// Universal Design, moved apart: any two, and each and white, differ by at least 20 in CIE Lab, as seen with all cones
// and with those for red, for green or for blue missing (simulated as in Machado, Oliveira and Fernandes, A
// Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE TVCG 2009).
func DefaultTheme() Theme {
	return Theme{
		Series: []color.NRGBA{
			{0x0D, 0x64, 0xA1, 255}, // blue
			{0xE1, 0x93, 0x00, 255}, // orange
			{0x17, 0x9D, 0x6E, 255}, // bluish green
			{0xC6, 0x7C, 0xAB, 255}, // reddish purple
			{0xC4, 0x51, 0x00, 255}, // vermilion
			{0x5E, 0xC2, 0xFA, 255}, // sky blue
			{0x58, 0x58, 0x58, 255}, // gray, for black, which is the ink
			{0xF6, 0xE5, 0x42, 255}, // yellow
		},
		Ink:      color.NRGBA{0x22, 0x22, 0x22, 255},
		Muted:    color.NRGBA{0x5F, 0x5F, 0x5F, 255},
		Rule:     color.NRGBA{0xE3, 0xE3, 0xE3, 255},
		Paper:    color.NRGBA{255, 255, 255, 255},
		Outline:  color.NRGBA{0xE0, 0x00, 0x00, 255},
		Low:      color.NRGBA{0xD5, 0x5E, 0x00, 255},
		High:     color.NRGBA{0x00, 0x5A, 0x8E, 255},
		Fonts:    "'Liberation Sans',Arial,Helvetica,'Noto Sans',sans-serif",
		Width:    700,
		Title:    16,
		Text:     12,
		Small:    11,
		Outlines: 2,
		DPI:      192,
	}
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// mix interpolates from a (t = 0) to b (t = 1).
func mix(a, b color.NRGBA, t float64) color.NRGBA {
	at := func(x, y uint8) uint8 { return uint8(float64(x) + t*(float64(y)-float64(x)) + 0.5) }
	return color.NRGBA{at(a.R, b.R), at(a.G, b.G), at(a.B, b.B), 255}
}

// dark reports whether text in the color of the paper has more contrast on a color than ink (WCAG 2 contrast ratio).
func (t Theme) dark(c color.NRGBA) bool {
	return (luminance(t.Paper)+0.05)/(luminance(c)+0.05) > (luminance(c)+0.05)/(luminance(t.Ink)+0.05)
}

// luminance returns WCAG's relative luminance, 0 to 1.
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
