// Package shape describes a drawing: what package plots lays out and package paint makes an image or a PDF file of,
// which is another process where plots is part of a notebook cell.
package shape

import "image/color"

// Scene is a drawing: shapes in paint order, in CSS pixels from the top left corner.
type Scene struct {
	Width, Height float64
	Title         string
	Paper         color.NRGBA
	Shapes        []Shape
	Note          Style // of the line that counts the characters that no font has
}

// Style is that of a line of text.
type Style struct {
	Size   float64
	Color  color.NRGBA
	Margin float64 // at its left and its right
}

// Shape is one of its fields.
type Shape struct {
	Path   *Path   `json:",omitempty"`
	Disc   *Disc   `json:",omitempty"`
	Label  *Label  `json:",omitempty"`
	Raster *Raster `json:",omitempty"`
}

// Point is a place: x, y.
type Point [2]float64

// Path is a line or, where it has a fill, an area. An alpha of 0 means not stroked or not filled.
type Path struct {
	Points []Point
	Closed bool
	Stroke color.NRGBA
	Width  float64
	Dash   bool
	Fill   color.NRGBA
}

// Disc is a circle.
type Disc struct {
	At     Point
	Radius float64
	Stroke color.NRGBA
	Width  float64
	Fill   color.NRGBA
}

// Anchor is the part of a line of text that is at its place.
type Anchor string

// Where it is: at the beginning, in the middle or at the end.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	End    Anchor = "end"
)

// Label is one line of text; At is on its baseline. Turn is in degrees, clockwise.
type Label struct {
	At     Point
	Text   string
	Size   float64
	Bold   bool
	Color  color.NRGBA
	Anchor Anchor
	Turn   float64
}

// Raster is an image in a box. Data is its file (JPEG or PNG) and MIME its type; Alt is its text alternative.
type Raster struct {
	At            Point
	Width, Height float64
	Data          []byte
	MIME          string
	Alt           string
}

// Format is what a scene is painted as.
type Format string

const (
	PNG     Format = "png"     // with the resolution
	PDF     Format = "pdf"     // a page of the scene's size
	Preview Format = "preview" // a PNG with a palette, of a limited size
)

// Request is for a scene in a format.
type Request struct {
	Scene  Scene
	Format Format
	DPI    int    // dots per inch of a PNG
	Limit  int    // bytes of a preview
	Fonts  string // folder of the fonts that were pulled; "" = none
}

// Reply is the file, or why there is none.
type Reply struct {
	Data  []byte
	Error string
}

// Painter paints in this process; nil where package paint is not linked: a backend paints then.
var Painter func(Request) Reply
