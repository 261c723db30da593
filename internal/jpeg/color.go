package jpeg

import "math/bits"

// upsampleKind is the way in which a plane gets the image's size: libjpeg's choice.
type upsampleKind struct {
	h, v   int  // pixels of a sample
	smooth bool // by a triangle filter, else repeated
}

// upsampling returns the way for a plane of the sampling factors h, v and a width in samples.
func upsampling(maxH, h, maxV, v, width int) (upsampleKind, bool) {
	k := upsampleKind{h: maxH / h, v: maxV / v}
	switch {
	case k.h == 2 && (k.v == 1 || k.v == 2):
		k.smooth = width > 2
	case k.h == 1 && k.v == 2:
		k.smooth = true
	}
	return k, maxH%h == 0 && maxV%v == 0
}

// sides is a row of a plane at the image's width.
type sides []uint8

// row returns the samples of row y, which is in the ring.
func (c *component) row(y int) []uint8 {
	y = min(c.height-1, max(0, y)) % (16 * c.v)
	return c.pix[y*c.stride:][:c.stride]
}

// at returns the samples for row y of an image of the given width, in buf if the plane is smaller than the image.
func (c *component) at(y, width int, buf *sides) []uint8 {
	k := c.upsample
	if k.h == 1 && (k.v == 1 || !k.smooth) {
		return c.row(y / k.v)
	}
	if *buf == nil {
		*buf = make(sides, c.stride*k.h)
	}
	out := *buf
	near := c.row(y / k.v)
	far := near
	if k.v == 2 {
		far = c.row(y/2 - 1 + y%2*2)
	}
	switch {
	case !k.smooth:
		for x := range width {
			out[x] = near[x/k.h]
		}
	case k.h == 1:
		bias := uint16(1 + y%2)
		for x := range out {
			out[x] = uint8((3*uint16(near[x]) + uint16(far[x]) + bias) >> 2)
		}
	case k.v == 1:
		widen(out, near[:c.width], near[:c.width], 4, 8)
	default:
		widen(out, near[:c.width], far[:c.width], 8, 7)
	}
	return out
}

// widenGo doubles the width of a row: near and far are the nearest two rows of samples, weighed 3 to 1, and so are the
// nearest two columns. even and odd round the sums of 16. It computes the samples from first to end.
func widenGo(out, near, far []uint8, even, odd uint16, first, end int) {
	sum := func(x int) uint16 {
		x = min(len(near)-1, max(0, x))
		return 3*uint16(near[x]) + uint16(far[x])
	}
	left, here := sum(first-1), sum(first)
	for x := first; x < end; x++ {
		right := sum(x + 1)
		out[2*x], out[2*x+1] = uint8((3*here+left+even)>>4), uint8((3*here+right+odd)>>4)
		left, here = here, right
	}
}

// emitAfter writes the pixels that are known after row y of the MCUs, or of the blocks of a single component.
func (d *decoder) emitAfter(y int, single bool) {
	done := (y + 1) * 8
	if !single {
		done *= d.maxV
	}
	if done >= d.height {
		d.emit(d.height)
	} else {
		d.emit(done - d.maxV) // the last rows need the samples below
	}
}

// transform transforms stored coefficients to pixels.
func (d *decoder) transform() {
	if d.comps[0].coefs == nil {
		return
	}
	for y := range d.mcusY {
		for i := range d.comps {
			c := &d.comps[i]
			for v := y * c.v; v < min((y+1)*c.v, c.blocksY); v++ {
				for x := range c.blocksX {
					at := v*d.mcusX*c.h + x
					c.inverse(&c.coefs[at], max(0, bits.Len64(c.set[at])-1), x, v)
				}
			}
		}
		d.emitAfter(y, false)
	}
}

// emit writes the pixels up to row end.
func (d *decoder) emit(end int) {
	for ; d.shown < end; d.shown++ {
		var rows [4][]uint8
		for i := range d.comps {
			rows[i] = d.comps[i].at(d.shown, d.width, &d.wide[i])[:d.width]
		}
		out := d.out.Pix[3*d.shown*d.width:][:3*d.width]
		switch {
		case len(d.comps) == 1:
			for i, v := range rows[0] {
				p := out[3*i:][:3]
				p[0], p[1], p[2] = v, v, v
			}
		case len(d.comps) == 4:
			d.inks(out, rows)
		case d.rgb():
			for i := range rows[0] {
				p := out[3*i:][:3]
				p[0], p[1], p[2] = rows[0][i], rows[1][i], rows[2][i]
			}
		default:
			convert(out, rows[0], rows[1], rows[2])
		}
	}
}

// rgb reports whether the three components are red, green and blue.
func (d *decoder) rgb() bool {
	if d.jfif {
		return false
	}
	if d.adobe {
		return d.adobeTransform == 0
	}
	return d.comps[0].id == 'R' && d.comps[1].id == 'G' && d.comps[2].id == 'B'
}

// convertGo converts JFIF's luma and colors to RGB in 16 bits of fraction.
func convertGo(out, luma, blue, red []uint8) {
	for i, v := range luma {
		y, cb, cr := int32(v), int32(blue[i])-128, int32(red[i])-128
		p := out[3*i:][:3]
		p[0] = clamp(y + (91881*cr+32768)>>16)
		p[1] = clamp(y + (-22554*cb-46802*cr+32768)>>16)
		p[2] = clamp(y + (116130*cb+32768)>>16)
	}
}

// inks converts four components to RGB as Pillow does: they are the inverse of the inks, as Adobe writes them, and each
// ink takes its share of what black leaves.
func (d *decoder) inks(out []uint8, rows [4][]uint8) {
	if d.adobe && d.adobeTransform != 0 { // YCCK: the inverse of RGB
		convertGo(out, rows[0], rows[1], rows[2])
		for i := range out {
			out[i] = 255 - out[i]
		}
	} else {
		for i := range rows[0] {
			p := out[3*i:][:3]
			p[0], p[1], p[2] = rows[0][i], rows[1][i], rows[2][i]
		}
	}
	for i, black := range rows[3] {
		light := int32(black) // 255 minus the ink
		p := out[3*i:][:3]
		for j, v := range p {
			t := (255-int32(v))*light + 128
			p[j] = clamp(light - (t>>8+t)>>8)
		}
	}
}
