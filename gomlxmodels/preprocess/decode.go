package preprocess

import (
	"fmt"
	"image"
	"os"

	"antipode/internal/exif"
	"antipode/internal/icc"
	"antipode/internal/imagefile"
	"antipode/internal/jpeg"
)

// Decode reads an image file and turns it upright. Of an animation or a file of several pages it reads the first. A
// format that is not supported is named, with the fix. Of 16 bits the high 8 are read, of gray ones too, where Pillow
// clips. Images of more than 100 million pixels are an error. Errors are
// one line, without the file's name; see [DecodeFile].
func Decode(data []byte) (*RGB, error) { return DecodeAs(data, false, "") }

// DecodeAs is [Decode] with the colors of the file's profile converted to sRGB, if package icc converts it, and with
// what is transparent on a background: "white", "black", or "checker" (squares of 8 pixels, white and light gray); "" =
// transparency is dropped.
func DecodeAs(data []byte, sRGB bool, background string) (*RGB, error) {
	return imagefile.Decode(data, func(img image.Image, format string, c image.Config) (*RGB, error) {
		p := convert(img, data, format, c)
		if sRGB {
			if profile, err := icc.Parse(icc.Embedded(data)); err == nil {
				profile.Convert(p.Pix)
			}
		}
		if background != "" {
			p.fill(img, background)
		}
		return p.upright(exif.Orientation(data)), nil
	})
}

// fill puts the background below the pixels of img that are transparent, as Pillow does.
func (p *RGB) fill(img image.Image, background string) {
	b := img.Bounds()
	for y := range p.Height {
		for x := range p.Width {
			if !image.Pt(x, y).In(b) {
				continue
			}
			_, _, _, a := img.At(x, y).RGBA()
			level, opaque := 255, int(a>>8)
			if background == "black" {
				level = 0
			} else if background == "checker" && (x/8+y/8)%2 == 1 {
				level = 204
			}
			for i := range 3 {
				v := &p.Pix[3*(y*p.Width+x)+i]
				sum := int(*v)*opaque + level*(255-opaque) + 128
				*v = uint8((sum>>8 + sum) >> 8)
			}
		}
	}
}

// DecodeFile reads an image file. Errors name it.
func DecodeFile(path string) (*RGB, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// convert converts a decoded image as Pillow's decoder of its format does.
func convert(img image.Image, data []byte, format string, c image.Config) *RGB {
	switch y := img.(type) {
	case *jpeg.Image:
		return &RGB{y.Width, y.Height, y.Pix}
	case *image.YCbCr:
		if format == "WebP" {
			return fromWebP(y)
		}
	case *image.NYCbCrA:
		return fromWebP(&y.YCbCr)
	case *image.Paletted:
		if format == "GIF" {
			return onCanvas(y, data, c)
		}
	}
	return FromImage(img)
}

// onCanvas returns the first frame of a GIF on its canvas, which has the file's background color.
func onCanvas(frame *image.Paletted, b []byte, c image.Config) *RGB {
	p, at := FromImage(frame), frame.Bounds()
	if at == image.Rect(0, 0, c.Width, c.Height) {
		return p
	}
	out := NewRGB(c.Width, c.Height)
	if ground := 13 + 3*int(b[11]); b[10]&0x80 != 0 && ground+3 <= len(b) { // the global palette starts at byte 13
		for i := 0; i < len(out.Pix); i += 3 {
			copy(out.Pix[i:], b[ground:ground+3])
		}
	}
	for y := range p.Height {
		if oy := y + at.Min.Y; oy >= 0 && oy < out.Height {
			n := min(p.Width, out.Width-at.Min.X)
			if n > 0 && at.Min.X >= 0 {
				copy(out.Pix[3*(oy*out.Width+at.Min.X):], p.Pix[3*y*p.Width:3*(y*p.Width+n)])
			}
		}
	}
	return out
}
