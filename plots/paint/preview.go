package paint

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"

	"golang.org/x/image/draw"
)

// preview paints the scene as a PNG of at most limit bytes: with a palette, and at 96 dots per inch or less.
func (t *typed) preview(limit int) ([]byte, error) {
	const tallest = 8000 // dots
	dpi := 96.0
	if t.Height > tallest {
		dpi = max(96*tallest/t.Height, 1)
	}
	painted, err := t.paint(int(dpi))
	if err != nil {
		return nil, err
	}
	img := rgba(painted)
	for zoom := 1.0; ; {
		small := img
		if zoom < 1 {
			r := image.Rect(0, 0, max(1, int(zoom*float64(img.Rect.Dx()))), max(1, int(zoom*float64(img.Rect.Dy()))))
			small = image.NewRGBA(r)
			draw.CatmullRom.Scale(small, r, img, img.Rect, draw.Src, nil)
		}
		var out bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		if err := encoder.Encode(&out, quantized(small, 64)); err != nil {
			return nil, err
		}
		if out.Len() <= limit || small.Rect.Dx() <= 48 {
			return out.Bytes(), nil
		}
		zoom *= min(0.9, math.Sqrt(float64(limit)/float64(out.Len())))
	}
}

func rgba(img image.Image) *image.RGBA {
	if same, ok := img.(*image.RGBA); ok {
		return same
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, out.Rect.Min, draw.Src)
	return out
}

// shade is a color of five bits per channel with its pixels.
type shade struct {
	key [3]uint8
	n   int
	sum [3]int // of the pixels' own channels
}

// quantized reduces an opaque image to n colors by median cut: the box of colors with the widest spread, weighted by
// its pixels, is halved until there are n.
func quantized(img *image.RGBA, n int) *image.Paletted {
	const levels = 1 << 15
	at := func(p []uint8) int { return int(p[0]>>3)<<10 | int(p[1]>>3)<<5 | int(p[2]>>3) }
	counts := make([]shade, levels)
	for i := 0; i+3 < len(img.Pix); i += 4 {
		c := &counts[at(img.Pix[i:])]
		c.n++
		for k := range c.sum {
			c.sum[k] += int(img.Pix[i+k])
		}
	}
	var all []shade
	for i, c := range counts {
		if c.n > 0 {
			c.key = [3]uint8{uint8(i >> 10), uint8(i >> 5 & 31), uint8(i & 31)}
			all = append(all, c)
		}
	}
	boxes := [][]shade{all}
	for len(boxes) < n {
		best, widest, channel := -1, 0.0, 0
		for i, b := range boxes {
			if k, width := spread(b); width > widest {
				best, widest, channel = i, width, k
			}
		}
		if best < 0 {
			break
		}
		low, high := cut(boxes[best], channel)
		boxes[best] = low
		boxes = append(boxes, high)
	}
	out := image.NewPaletted(img.Rect, nil)
	index := make([]uint8, levels)
	for i, b := range boxes {
		var total shade
		for _, c := range b {
			total.n += c.n
			for k := range total.sum {
				total.sum[k] += c.sum[k]
			}
			index[int(c.key[0])<<10|int(c.key[1])<<5|int(c.key[2])] = uint8(i)
		}
		mean := func(k int) uint8 { return uint8((total.sum[k] + total.n/2) / max(total.n, 1)) }
		out.Palette = append(out.Palette, color.RGBA{mean(0), mean(1), mean(2), 255})
	}
	for i := range out.Pix {
		out.Pix[i] = index[at(img.Pix[4*i:])]
	}
	return out
}

// spread returns the channel in which a box of colors is widest, and the priority of a cut there.
func spread(b []shade) (channel int, worth float64) {
	n := 0
	low, high := [3]uint8{255, 255, 255}, [3]uint8{}
	for _, c := range b {
		n += c.n
		for k, v := range c.key {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	for k := range low {
		if w := float64(high[k]-low[k]) * math.Sqrt(float64(n)); len(b) > 1 && w > worth {
			channel, worth = k, w
		}
	}
	return channel, worth
}

// cut halves a box of colors along a channel, so that each half has about half of the pixels.
func cut(b []shade, channel int) (low, high []shade) {
	slices.SortFunc(b, func(p, q shade) int { return int(p.key[channel]) - int(q.key[channel]) })
	total, before := 0, 0
	for _, c := range b {
		total += c.n
	}
	for i, c := range b {
		if before += c.n; 2*before >= total || i == len(b)-2 {
			i = min(i, len(b)-2)
			return b[:i+1], b[i+1:]
		}
	}
	return b[:1], b[1:]
}
