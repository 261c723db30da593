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

// chroma gives the two color planes of an image.
func chroma(m *image.YCbCr) [2]plane {
	b := m.Rect
	w, h := b.Dx(), b.Dy()
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		w = (w + 1) / 2
	case image.YCbCrSubsampleRatio420:
		w, h = (w+1)/2, (h+1)/2
	case image.YCbCrSubsampleRatio440:
		h = (h + 1) / 2
	}
	at := m.COffset(b.Min.X, b.Min.Y)
	return [2]plane{{m.Cb[at:], w, h, m.CStride}, {m.Cr[at:], w, h, m.CStride}}
}

func clampByte(v int32) uint8 { return uint8(min(255, max(0, v))) }

// fromJPEG converts the way libjpeg does: color planes smoothed by its triangle filter, JFIF's conversion in 16 bits
// of fraction.
func fromJPEG(m *image.YCbCr) *RGB {
	b := m.Rect
	out := NewRGB(b.Dx(), b.Dy())
	c := chroma(m)
	var row [2][]uint8
	for y := range out.Height {
		switch m.SubsampleRatio {
		case image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
			image.YCbCrSubsampleRatio440:
			for i := range row {
				row[i] = smoothJPEG(row[i], c[i], y, m.SubsampleRatio)
			}
		default: // rarer ratios are repeated, not smoothed, by libjpeg too
			for i, src := range [2][]uint8{m.Cb, m.Cr} {
				row[i] = row[i][:0]
				for x := range out.Width {
					row[i] = append(row[i], src[m.COffset(b.Min.X+x, b.Min.Y+y)])
				}
			}
		}
		luma := m.Y[m.YOffset(b.Min.X, b.Min.Y+y):]
		for x := range out.Width {
			l, cb, cr := int32(luma[x]), int32(row[0][x])-128, int32(row[1][x])-128
			p := out.Pix[3*(y*out.Width+x):]
			p[0] = clampByte(l + (91881*cr+32768)>>16)
			p[1] = clampByte(l + (-22554*cb-46802*cr+32768)>>16)
			p[2] = clampByte(l + (116130*cb+32768)>>16)
		}
	}
	return out
}

// smoothJPEG gives row y of a color plane at full resolution, at least as long as the image is wide.
func smoothJPEG(out []uint8, c plane, y int, ratio image.YCbCrSubsampleRatio) []uint8 {
	out = out[:0]
	tall := ratio == image.YCbCrSubsampleRatio420 || ratio == image.YCbCrSubsampleRatio440
	wide := ratio == image.YCbCrSubsampleRatio420 || ratio == image.YCbCrSubsampleRatio422
	if !tall && !wide {
		return append(out, c.row(y)...)
	}
	near, far, bias := c.row(y), c.row(y), int32(0)
	if tall {
		near, far, bias = c.row(y/2), c.row(y/2-1+y%2*2), int32(1+y%2)
	}
	if !wide {
		for x := range near {
			out = append(out, uint8((3*int32(near[x])+int32(far[x])+bias)>>2))
		}
		return out
	}
	last := c.width - 1
	if c.width <= 2 { // too narrow for libjpeg to smooth
		for _, v := range near {
			out = append(out, v, v)
		}
		return out
	}
	sum := func(x int) int32 { // of the column, in quarters where the plane is low, in whole numbers where it is not
		if tall {
			return 3*int32(near[x]) + int32(far[x])
		}
		return int32(near[x])
	}
	shift, left, right := 2, int32(1), int32(2)
	if tall {
		shift, left, right = 4, 8, 7
	}
	for x := range c.width {
		s := sum(x)
		a, b := 4*s, 4*s
		if x > 0 {
			a = 3*s + sum(x-1)
		}
		if x < last {
			b = 3*s + sum(x+1)
		}
		out = append(out, uint8((a+left)>>shift), uint8((b+right)>>shift))
	}
	return out
}

// fromWebP converts the way libwebp does: color planes smoothed with weights 9, 3, 3, 1, video range, 14 bits of
// fraction.
func fromWebP(m *image.YCbCr) *RGB {
	b := m.Rect
	out := NewRGB(b.Dx(), b.Dy())
	c := chroma(m)
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
