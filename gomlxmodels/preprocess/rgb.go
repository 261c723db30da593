package preprocess

import (
	"image"
	"image/color"

	"antipode/internal/exif"
)

// RGB is an 8-bit image: Pix holds Height rows of Width red-green-blue triples. It is an [image.Image] too.
type RGB struct {
	Width, Height int
	Pix           []uint8 // [Height·Width·3]
}

// NewRGB makes a black image.
func NewRGB(width, height int) *RGB {
	return &RGB{Width: width, Height: height, Pix: make([]uint8, 3*width*height)}
}

// ColorModel is part of [image.Image].
func (p *RGB) ColorModel() color.Model { return color.RGBAModel }

// Bounds is part of [image.Image].
func (p *RGB) Bounds() image.Rectangle { return image.Rect(0, 0, p.Width, p.Height) }

// At is part of [image.Image].
func (p *RGB) At(x, y int) color.Color {
	if x < 0 || y < 0 || x >= p.Width || y >= p.Height {
		return color.RGBA{}
	}
	i := 3 * (y*p.Width + x)
	return color.RGBA{p.Pix[i], p.Pix[i+1], p.Pix[i+2], 255}
}

// FromImage converts any image to RGB, dropping transparency: the colors stored under it stay. 16-bit channels keep
// their high byte. Color planes of an [image.YCbCr] are not smoothed; [Decode] does better.
func FromImage(img image.Image) *RGB {
	if p, ok := img.(*RGB); ok {
		return p
	}
	b := img.Bounds()
	out := NewRGB(b.Dx(), b.Dy())
	i := 0
	put := func(r, g, b uint8) {
		out.Pix[i], out.Pix[i+1], out.Pix[i+2] = r, g, b
		i += 3
	}
	var palette [256][3]uint8
	if p, ok := img.(*image.Paletted); ok {
		for i, c := range p.Palette[:min(256, len(p.Palette))] {
			palette[i][0], palette[i][1], palette[i][2] = straight(c)
		}
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		switch p := img.(type) {
		case *image.NRGBA:
			row := p.Pix[p.PixOffset(b.Min.X, y):]
			for x := range b.Dx() {
				put(row[4*x], row[4*x+1], row[4*x+2])
			}
		case *image.NRGBA64:
			row := p.Pix[p.PixOffset(b.Min.X, y):]
			for x := range b.Dx() {
				put(row[8*x], row[8*x+2], row[8*x+4])
			}
		case *image.Gray:
			row := p.Pix[p.PixOffset(b.Min.X, y):]
			for x := range b.Dx() {
				put(row[x], row[x], row[x])
			}
		case *image.CMYK:
			row := p.Pix[p.PixOffset(b.Min.X, y):]
			for x := range b.Dx() {
				put(fromCMYK(row[4*x:]))
			}
		case *image.Paletted:
			row := p.Pix[p.PixOffset(b.Min.X, y):]
			for x := range b.Dx() {
				c := palette[row[x]] // past the palette's end: black
				put(c[0], c[1], c[2])
			}
		default:
			for x := b.Min.X; x < b.Max.X; x++ {
				put(straight(img.At(x, y)))
			}
		}
	}
	return out
}

// straight gives a color without its transparency.
func straight(c color.Color) (r, g, b uint8) {
	switch c := c.(type) {
	case color.NRGBA:
		return c.R, c.G, c.B
	case color.RGBA:
		if c.A == 255 {
			return c.R, c.G, c.B
		}
	case color.NRGBA64:
		return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)
	case color.Gray:
		return c.Y, c.Y, c.Y
	case color.YCbCr:
		return color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
	}
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	return uint8(n.R >> 8), uint8(n.G >> 8), uint8(n.B >> 8)
}

// fromCMYK is Pillow's conversion: each ink takes its share of what black leaves.
func fromCMYK(p []uint8) (r, g, b uint8) {
	light := int(255 - p[3])
	share := func(ink uint8) uint8 {
		t := int(ink)*light + 128
		return uint8(max(0, light-((t>>8)+t)>>8))
	}
	return share(p[0]), share(p[1]), share(p[2])
}

// upright undoes an EXIF orientation.
func (p *RGB) upright(orientation int) *RGB {
	if orientation <= 1 {
		return p
	}
	out := NewRGB(exif.Size(orientation, p.Width, p.Height))
	for y := range out.Height {
		for x := range out.Width {
			sx, sy := exif.Source(orientation, p.Width, p.Height, x, y)
			copy(out.Pix[3*(y*out.Width+x):][:3], p.Pix[3*(sy*p.Width+sx):])
		}
	}
	return out
}
