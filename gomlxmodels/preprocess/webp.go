package preprocess

import "image"

// plane is a color plane at its own resolution.
type plane struct {
	pix           []uint8
	width, height int
	stride        int
}

func (p plane) row(y int) []uint8 {
	y = min(p.height-1, max(0, y))
	return p.pix[y*p.stride : y*p.stride+p.width]
}

func clampByte(v int32) uint8 { return uint8(min(255, max(0, v))) }

// fromWebP converts the way libwebp does: color planes of half the size, smoothed with weights 9, 3, 3, 1, video range,
// 14 bits of fraction.
func fromWebP(m *image.YCbCr) *RGB {
	b := m.Rect
	out := NewRGB(b.Dx(), b.Dy())
	at, w, h := m.COffset(b.Min.X, b.Min.Y), (b.Dx()+1)/2, (b.Dy()+1)/2
	c := [2]plane{{m.Cb[at:], w, h, m.CStride}, {m.Cr[at:], w, h, m.CStride}}
	for y := range out.Height {
		luma := m.Y[m.YOffset(b.Min.X, b.Min.Y+y):]
		for x := range out.Width {
			var uv [2]int32
			for i := range uv {
				uv[i] = smoothWebP(c[i], x, y)
			}
			l := int32(luma[x]) * 19077 >> 8
			p := out.Pix[3*(y*out.Width+x):]
			p[0] = clampByte((l + uv[1]*26149>>8 - 14234) >> 6)
			p[1] = clampByte((l - uv[0]*6419>>8 - uv[1]*13320>>8 + 8708) >> 6)
			p[2] = clampByte((l + uv[0]*33050>>8 - 17685) >> 6)
		}
	}
	return out
}

// smoothWebP is the color at a pixel: its own sample and the three nearest, at the border the border's again.
func smoothWebP(c plane, x, y int) int32 {
	col := func(x int) int { return min(c.width-1, max(0, x)) }
	near, far := c.row(y/2), c.row(y/2-1+y%2*2)
	x0, x1 := x/2, col(x/2-1+x%2*2)
	a, side, over, diagonal := int32(near[x0]), int32(near[x1]), int32(far[x0]), int32(far[x1])
	if x0 == x1 { // a single column: libwebp weighs the two rows 3 to 1
		return (3*a + over + 2) >> 2
	}
	across := (a + side + over + diagonal + 8 + 2*(side+over)) >> 3
	return (across + a) >> 1
}
