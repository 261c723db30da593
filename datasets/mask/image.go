package mask

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"antipode/datasets/table"
	"antipode/internal/imagefile"
	"antipode/internal/jpeg"
)

// Guess is how the object of a mask image was guessed, if it was.
type Guess int

// The guesses.
const (
	Sure     Guess = iota
	Soft           // of several gray values, the object is the pixels of at least a threshold
	Numbered       // no pixel reaches the threshold: the object is all that is not black
)

// FromImage is [Read] with the threshold 0.5, without the report.
func FromImage(img image.Image) (Bitmap, error) {
	b, _, err := Read(img, 0)
	return b, err
}

// Read reads a mask image: every pixel that is not black is object. A gray value of 1 counts, also of 16 bits; so
// does every palette color but black, whatever its index; a fully transparent pixel is background. Where no pixel has
// any color but transparency varies, the opaque pixels are the object (a black cut-out).
//
// A mask of more gray values than black and another one is Soft: with smooth edges, or from a lossy file. Its object is
// the pixels of at least threshold of white, a share of the range that is above 0 and at most 1; 0 = 0.5. If no pixel
// reaches it, the mask is Numbered: the values are objects or classes, and all but black is object. Images of several
// colors are Soft if they are lossy, or if their transparency has more than two values, which is then compared with the
// threshold.
//
// An image that lacks pixels of its bounds, and one of more than 100 million pixels, is an error.
func Read(img image.Image, threshold float64) (b Bitmap, guess Guess, err error) {
	r := img.Bounds()
	if r.Empty() || r.Dx() > imagefile.MaxPixels/r.Dy() {
		return Bitmap{}, Sure, fmt.Errorf("mask: %d×%d pixels (width×height) is not the size of an image", r.Dx(),
			r.Dy())
	}
	defer func() {
		if recover() != nil { // a plane of the image, such as that of its transparency, is smaller than its bounds
			b, err = Bitmap{}, fmt.Errorf("mask: the image lacks some of its %d×%d pixels", r.Dx(), r.Dy())
		}
	}()
	threshold = cmp.Or(threshold, 0.5)
	shown, opaque := newPlane(r, threshold), newPlane(r, threshold)
	gray, at, i := true, pixels(img), 0
	for y := range r.Dy() {
		for x := range r.Dx() {
			c := at(r.Min.X+x, r.Min.Y+y)
			shown.set(i, max(c.R, c.G, c.B))
			opaque.set(i, c.A)
			i++
			gray = gray && c.R == c.G && c.G == c.B
		}
	}
	switch img.(type) {
	case *image.Paletted:
		gray = false
	case *jpeg.Image, *image.YCbCr, *image.NYCbCrA:
		gray = true
	}
	b = Bitmap{Width: r.Dx(), Height: r.Dy()}
	if !slices.Contains(shown.object, true) && slices.Contains(opaque.object, false) {
		shown = opaque
	}
	b.Pix = shown.object
	switch more := shown.values > 2 || shown.values == 2 && !slices.Contains(shown.object, false); {
	case gray && more && slices.Contains(shown.reaches, true):
		b.Pix, guess = shown.reaches, Soft
	case gray && more:
		guess = Numbered
	case !gray && opaque.values > 2:
		for i, reaches := range opaque.reaches {
			b.Pix[i] = b.Pix[i] && reaches
		}
		guess = Soft
	}
	return b, guess, nil
}

// plane collects the values of pixels.
type plane struct {
	cut             uint16
	object, reaches []bool // not 0; at least cut
	last            uint16
	seen            [2]uint16
	values          int // different ones, up to 3
}

func newPlane(r image.Rectangle, threshold float64) *plane {
	n := r.Dx() * r.Dy()
	return &plane{cut: uint16(math.Ceil(threshold * math.MaxUint16)), object: make([]bool, n), reaches: make([]bool, n)}
}

func (p *plane) set(i int, v uint16) {
	p.object[i], p.reaches[i] = v != 0, v >= p.cut
	if v == p.last && p.values > 0 || p.values == 3 {
		return
	}
	if p.last = v; !slices.Contains(p.seen[:p.values], v) {
		if p.values < 2 {
			p.seen[p.values] = v
		}
		p.values++
	}
}

func pixels(img image.Image) func(x, y int) color.RGBA64 {
	of := func(c color.Color) color.RGBA64 {
		r, g, b, a := c.RGBA()
		return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
	}
	switch p := img.(type) {
	case *image.Paletted:
		colors := make([]color.RGBA64, 256) // an index beyond the palette is transparent
		for i, c := range p.Palette[:min(256, len(p.Palette))] {
			colors[i] = of(c)
		}
		return func(x, y int) color.RGBA64 { return colors[p.ColorIndexAt(x, y)] }
	case *image.Gray:
		return func(x, y int) color.RGBA64 {
			v := uint16(p.Pix[p.PixOffset(x, y)]) * 0x101
			return color.RGBA64{R: v, G: v, B: v, A: math.MaxUint16}
		}
	case image.RGBA64Image:
		return p.RGBA64At
	}
	return func(x, y int) color.RGBA64 { return of(img.At(x, y)) }
}

// Inverted reports whether a mask looks as if object and background were exchanged: more than half of it is object,
// which touches all four borders. A mask that cannot be decoded does not.
func Inverted(m table.Mask) bool {
	if area, err := Area(m); err != nil || 2*area <= m.Size[0]*m.Size[1] {
		return false
	}
	b, err := Decode(m)
	if err != nil {
		return false
	}
	row := func(y int) bool { return slices.Contains(b.Pix[y*b.Width:][:b.Width], true) }
	column := func(x int) bool {
		for y := range b.Height {
			if b.At(x, y) {
				return true
			}
		}
		return false
	}
	return row(0) && row(b.Height-1) && column(0) && column(b.Width-1)
}

// TouchesBorder reports whether an object pixel is at the border of the image.
func (b Bitmap) TouchesBorder() bool {
	for x := range b.Width {
		if b.At(x, 0) || b.At(x, b.Height-1) {
			return true
		}
	}
	for y := range b.Height {
		if b.At(0, y) || b.At(b.Width-1, y) {
			return true
		}
	}
	return false
}

// Gray returns the mask as an image: 255 = object, 0 = background.
func (b Bitmap) Gray() *image.Gray {
	g := image.NewGray(image.Rect(0, 0, b.Width, b.Height))
	for i, p := range b.Pix {
		if p {
			g.Pix[i] = 255
		}
	}
	return g
}

// Cells reduces the mask to a grid: a cell is object if any pixel in it is object. This converts a mask to
// the patches of a vision transformer (Decomposed-DIG, section 3.2). columns and rows must not exceed the mask's size.
func (b Bitmap) Cells(columns, rows int) Bitmap {
	out := New(columns, rows)
	for y := range b.Height {
		for x := range b.Width {
			if b.Pix[y*b.Width+x] {
				out.Set(x*columns/b.Width, y*rows/b.Height, true)
			}
		}
	}
	return out
}
