package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"

	"golang.org/x/image/draw"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/thumb"
)

// part is the part of an image that a thumbnail shows.
type part int

const (
	whole      part = iota
	cutObject       // the object on white
	background      // the background with a white hole
)

// thumbnail is one image of a sheet.
type thumbnail struct {
	id       string
	source   table.Image
	mask     table.Mask
	part     part
	box      *[4]float64  // in place of a mask: left, top, right, bottom as shares of the image's width and height
	boxes    [][4]float64 // left, top, right, bottom in pixels of the image, after load as shares of width and height
	captions []string

	full   *image.RGBA // upright, opaque, cropped where patches are drawn, shrunk where it is large
	bits   mask.Bitmap // of the same shape; empty = no mask
	reason string      // why there is no image

	data  []byte // the encoded thumbnail
	small image.Image
}

const jpegType = "image/jpeg"

// load reads the image and reduces it to at most most pixels per side. On failure it sets the reason.
func (t *thumbnail) load(s *options, most float64) {
	if t.source.Path == "" {
		t.reason = "no image"
		return
	}
	full, err := thumb.Load(t.source.Path)
	if err != nil {
		t.reason = err.Error()
		return
	}
	t.full = full
	defer t.shrink(most)
	for i, b := range t.boxes {
		w, h := float64(full.Rect.Dx()), float64(full.Rect.Dy())
		t.boxes[i] = [4]float64{b[0] / w, b[1] / h, b[2] / w, b[3] / h}
	}
	if t.box != nil {
		t.bits = rectangle(t.full.Rect.Dx(), t.full.Rect.Dy(), *t.box)
		return
	}
	if t.mask.Counts == "" {
		if t.part != whole {
			t.reason, t.full = "no mask", nil
		}
		return
	}
	b, err := mask.Decode(t.mask)
	if err != nil {
		t.reason, t.full = err.Error(), nil
		return
	}
	if w, h := t.full.Rect.Dx(), t.full.Rect.Dy(); b.Width != w || b.Height != h {
		t.reason, t.full = fmt.Sprintf("mask is %d×%d, image %d×%d", b.Width, b.Height, w, h), nil
		return
	}
	t.bits = b
	if s.patches > 0 {
		t.crop(s.patches)
	}
}

// rectangle is the mask of a box, at least a pixel wide and high.
func rectangle(w, h int, box [4]float64) mask.Bitmap {
	at := func(share float64, of int) int { return int(min(max(share, 0), 1)*float64(of) + 0.5) }
	left, top := min(at(box[0], w), w-1), min(at(box[1], h), h-1)
	out := mask.New(w, h)
	for y := top; y < max(at(box[3], h), top+1); y++ {
		for x := left; x < max(at(box[2], w), left+1); x++ {
			out.Set(x, y, true)
		}
	}
	return out
}

// shrink reduces a large image to save memory.
func (t *thumbnail) shrink(most float64) {
	if t.full != nil {
		t.full = thumb.Within(t.full, most)
	}
}

// crop crops to the square around the center and reduces the mask to side × side patches.
func (t *thumbnail) crop(side int) {
	n := min(t.bits.Width, t.bits.Height)
	x0, y0 := (t.bits.Width-n)/2, (t.bits.Height-n)/2
	square, bits := image.NewRGBA(image.Rect(0, 0, n, n)), mask.New(n, n)
	draw.Draw(square, square.Rect, t.full, image.Pt(x0, y0), draw.Src)
	for y := range n {
		for x := range n {
			bits.Set(x, y, t.bits.At(x0+x, y0+y))
		}
	}
	t.full, t.bits = square, bits.Cells(min(side, n), min(side, n))
}

// encode renders the thumbnail: its longer side has at most size · scale pixels, scale for each CSS pixel.
func (t *thumbnail) encode(s *options, size, scale float64, quality int) {
	zoom := size * scale / float64(max(t.full.Rect.Dx(), t.full.Rect.Dy()))
	if zoom > 1 && t.bits.Pix == nil {
		zoom = 1
	}
	small, line := thumb.Scaled(t.full, zoom), max(s.theme.Outlines*scale*min(1, size/120), 1.5)
	if t.bits.Pix != nil {
		t.overlay(small, s, line)
	}
	for _, b := range t.boxes {
		w, h := small.Rect.Dx(), small.Rect.Dy()
		stroke(small, rectangle(w, h, b), s.theme.Series[0], line)
	}
	var out bytes.Buffer
	jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}) // fails only on images over 65535 pixels wide
	t.data, t.small = out.Bytes(), small
}

// overlay draws the mask onto the thumbnail; the outline is line pixels wide.
func (t *thumbnail) overlay(img *image.RGBA, s *options, line float64) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	white := color.RGBA{255, 255, 255, 255}
	for y := range h {
		for x := range w {
			object := t.bits.At((2*x+1)*t.bits.Width/(2*w), (2*y+1)*t.bits.Height/(2*h))
			switch {
			case t.part == cutObject && !object, t.part == background && object:
				img.SetRGBA(x, y, white)
			case t.part == whole && (s.fade == Object && object || s.fade == Background && !object):
				p := img.RGBAAt(x, y)
				pale := func(v uint8) uint8 { return uint8(255 - (255-int(v))*45/100) }
				img.SetRGBA(x, y, color.RGBA{pale(p.R), pale(p.G), pale(p.B), 255})
			}
			if s.plain && s.patches > 0 && (x > 0 && x*t.bits.Width/w != (x-1)*t.bits.Width/w ||
				y > 0 && y*t.bits.Height/h != (y-1)*t.bits.Height/h) {
				p := img.RGBAAt(x, y) // a border of patches
				img.SetRGBA(x, y, color.RGBA{p.R/2 + 90, p.G/2 + 90, p.B/2 + 90, 255})
			}
		}
	}
	if t.part != whole || s.plain {
		return
	}
	stroke(img, t.bits, s.theme.Outline, line)
}

// stroke draws the outline of a mask of the image's shape, line pixels wide, between white lines of half that width:
// it is seen on a background of any color, by any eye.
func stroke(img *image.RGBA, bits mask.Bitmap, c color.NRGBA, line float64) {
	outline := bits.Outline()
	trace(img, outline, bits, color.RGBA{255, 255, 255, 255}, line)
	trace(img, outline, bits, color.RGBA{c.R, c.G, c.B, 255}, line/2)
}

// trace draws an outline; half is half the width of its line.
func trace(img *image.RGBA, outline [][]image.Point, bits mask.Bitmap, c color.RGBA, half float64) {
	for _, polygon := range outline {
		for i, a := range polygon {
			b := polygon[(i+1)%len(polygon)]
			at := func(v, of, to int, d float64) int {
				return int(float64(v)*float64(to)/float64(of) + d + 0.5)
			}
			w, h := img.Rect.Dx(), img.Rect.Dy()
			side := image.Rect(
				at(min(a.X, b.X), bits.Width, w, -half), at(min(a.Y, b.Y), bits.Height, h, -half),
				at(max(a.X, b.X), bits.Width, w, half), at(max(a.Y, b.Y), bits.Height, h, half))
			draw.Draw(img, side.Intersect(img.Rect), image.NewUniform(c), image.Point{}, draw.Src)
		}
	}
}

// name names the image in messages.
func (t *thumbnail) name() string {
	if t.source.Path == "" {
		return t.id
	}
	return filepath.Base(t.source.Path)
}
