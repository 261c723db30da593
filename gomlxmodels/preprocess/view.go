package preprocess

// view is a rectangle of an image, without its own pixels.
type view struct {
	pix           []uint8 // from the first pixel to the last
	width, height int
	stride        int // bytes from row to row
}

// view returns the whole image.
func (p *RGB) view() view { return view{p.Pix, p.Width, p.Height, 3 * p.Width} }

// row returns the pixels of a row.
func (v view) row(y int) []uint8 { return v.pix[y*v.stride:][:3*v.width] }

// crop returns the rectangle at x, y, which is inside and not empty.
func (v view) crop(x, y, width, height int) view {
	first := y*v.stride + 3*x
	return view{v.pix[first : first+(height-1)*v.stride+3*width], width, height, v.stride}
}

// rgb returns the pixels as an image, which shares them if they are the rows of one.
func (v view) rgb() *RGB {
	if v.stride == 3*v.width {
		return &RGB{v.width, v.height, v.pix}
	}
	out := NewRGB(v.width, v.height)
	for y := range v.height {
		copy(out.Pix[3*y*v.width:], v.row(y))
	}
	return out
}
