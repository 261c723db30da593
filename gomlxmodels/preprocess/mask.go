package preprocess

import (
	"fmt"
)

// Mask is a binary mask of an image: Height rows of Width values, non-zero = object.
type Mask struct {
	Width, Height int
	Object        []uint8
}

// Rule says which patches count as object patches; every other patch is background.
type Rule string

// The rules of the Decomposed-DIG specification, section 4.2.
const (
	// Any: a patch is object if the area of any object pixel of the source mask reaches into it.
	// Resolution-independent.
	Any Rule = "any"
	// Resized: the image with its background blacked out is resized (bilinear) and cropped; a patch is object if
	// any channel of any of its pixels is not 0. The public code's way: it misses a pure black object and may bleed
	// over a border.
	Resized Rule = "resized"
)

// Fill says what the masked sequences see in place of the part they leave out, on the source image.
type Fill string

// The fills.
const (
	FillNone  Fill = "none" // the original pixels
	FillWhite Fill = "white"
	FillBlack Fill = "black"
)

// Check says whether mask and image belong together.
func (m *Mask) Check(p *RGB) error {
	if len(m.Object) != m.Width*m.Height {
		return fmt.Errorf("the mask of %d×%d pixels holds %d values", m.Width, m.Height, len(m.Object))
	}
	if m.Width != p.Width || m.Height != p.Height {
		return fmt.Errorf("the mask is %d×%d pixels, its image %d×%d (upright)", m.Width, m.Height, p.Width, p.Height)
	}
	return nil
}

// Patches moves the mask through the image's geometry and says for each patch, row by row, whether it is an object
// patch. height and width are the model's image, ph and pw a patch; a rest at the right and lower edge belongs to
// no patch.
func (c *Config) Patches(p *RGB, m *Mask, rule Rule, height, width, ph, pw int) ([]bool, error) {
	if err := m.Check(p); err != nil {
		return nil, err
	}
	g, err := c.placeFor(p.Width, p.Height, height, width)
	if err != nil {
		return nil, err
	}
	out := make([]bool, (height/ph)*(width/pw))
	switch rule {
	case Any, "":
		m.any(g, out, width/pw, ph, pw)
	case Resized:
		r := g.pixels(m.Paint(p, true, 0), &Config{Filter: Bilinear})
		for i, v := range r.Pix {
			x, y := i/3%r.Width, i/3/r.Width
			if v != 0 && x/pw < width/pw && y/ph < height/ph {
				out[y/ph*(width/pw)+x/pw] = true
			}
		}
	default:
		return nil, fmt.Errorf("patch rule %q is not one of any, resized", rule)
	}
	return out, nil
}

// any marks patches whose cell, traced back to the source, overlaps an object pixel. All in whole numbers.
func (m *Mask) any(g geometry, out []bool, columns, ph, pw int) {
	// span is the source pixels, from:to, whose area overlaps the output range at:at+n along one side.
	span := func(at, n, corner, src, srcN, dst int) (from, to int) {
		lo, hi := max(0, at+corner), min(dst, at+corner+n)
		if lo >= hi {
			return 0, 0
		}
		return src + lo*srcN/dst, src + (hi*srcN+dst-1)/dst
	}
	for i := range out {
		x0, x1 := span(i%columns*pw, pw, g.x, g.srcX, g.srcW, g.w)
		y0, y1 := span(i/columns*ph, ph, g.y, g.srcY, g.srcH, g.h)
	search:
		for y := y0; y < y1; y++ {
			for _, v := range m.Object[y*m.Width+x0 : y*m.Width+x1] {
				if v != 0 {
					out[i] = true
					break search
				}
			}
		}
	}
}

// Paint gives the image with one side painted over: the background where keepObject, else the object. level is the
// gray it gets.
func (m *Mask) Paint(p *RGB, keepObject bool, level uint8) *RGB {
	out := &RGB{Width: p.Width, Height: p.Height, Pix: append([]uint8(nil), p.Pix...)}
	for i, v := range m.Object {
		if (v != 0) != keepObject {
			out.Pix[3*i], out.Pix[3*i+1], out.Pix[3*i+2] = level, level, level
		}
	}
	return out
}
