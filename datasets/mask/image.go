package mask

import (
	"fmt"
	"image"
	"image/color"

	"antipode/internal/imagefile"
)

// FromImage reads a mask image: every pixel that is not black is object. A gray value of 1 counts; so
// does every palette color but black, whatever its index; a fully transparent pixel is background. Where no pixel has
// any color but transparency varies, the opaque pixels are the object (a black cut-out). An image that lacks pixels of
// its bounds, and one of more than 100 million pixels, is an error.
func FromImage(img image.Image) (b Bitmap, err error) {
	r := img.Bounds()
	if r.Empty() || r.Dx() > imagefile.MaxPixels/r.Dy() {
		return Bitmap{}, fmt.Errorf("mask: %d×%d pixels (width×height) is not the size of an image", r.Dx(), r.Dy())
	}
	defer func() {
		if recover() != nil { // a plane of the image, such as that of its transparency, is smaller than its bounds
			b, err = Bitmap{}, fmt.Errorf("mask: the image lacks some of its %d×%d pixels", r.Dx(), r.Dy())
		}
	}()
	b = New(r.Dx(), r.Dy())
	if g, ok := img.(*image.Gray); ok {
		for y := range b.Height {
			row := g.Pix[y*g.Stride : y*g.Stride+b.Width]
			for x, v := range row {
				b.Pix[y*b.Width+x] = v != 0
			}
		}
		return b, nil
	}
	shown, clear := false, false
	opaque := make([]bool, len(b.Pix))
	at := shows(img)
	for y := range b.Height {
		for x := range b.Width {
			i := y*b.Width + x
			b.Pix[i], opaque[i] = at(r.Min.X+x, r.Min.Y+y)
			shown = shown || b.Pix[i]
			clear = clear || !opaque[i]
		}
	}
	if !shown && clear {
		b.Pix = opaque
	}
	return b, nil
}

// shows returns a function that reports whether a pixel has a color other than black and whether it is not transparent.
func shows(img image.Image) func(x, y int) (bool, bool) {
	of := func(c color.Color) (bool, bool) {
		r, g, b, a := c.RGBA()
		return r|g|b != 0, a != 0
	}
	if p, ok := img.(*image.Paletted); ok {
		shown, opaque := make([]bool, len(p.Palette)), make([]bool, len(p.Palette))
		for i, c := range p.Palette {
			shown[i], opaque[i] = of(c)
		}
		return func(x, y int) (bool, bool) {
			i := p.ColorIndexAt(x, y)
			return int(i) < len(shown) && shown[i], int(i) < len(opaque) && opaque[i]
		}
	}
	return func(x, y int) (bool, bool) { return of(img.At(x, y)) }
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
