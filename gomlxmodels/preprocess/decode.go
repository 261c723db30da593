package preprocess

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"

	"antipode/internal/exif"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// MaxPixels is the largest image decoded, in pixels: a small file can claim any size.
const MaxPixels = 100_000_000

// ErrTooLarge is wrapped by the error about an image of more than [MaxPixels].
var ErrTooLarge = errors.New("the image is too large")

var errEmpty = errors.New("the file is empty (0 bytes)")

type format struct {
	name   string
	is     func([]byte) bool
	size   func([]byte) (image.Config, error)
	decode func([]byte) (*RGB, error)
}

func starts(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

var formats = []format{
	{"PNG", starts("\x89PNG\r\n\x1a\n"),
		func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (*RGB, error) { return convert(png.Decode(bytes.NewReader(b))) }},
	{"JPEG", starts("\xff\xd8"), func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) },
		decodeJPEG},
	{"GIF", starts("GIF8"), func(b []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(b)) },
		decodeGIF},
	{"WebP", func(b []byte) bool { return len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP" },
		func(b []byte) (image.Config, error) { return webp.DecodeConfig(bytes.NewReader(b)) },
		decodeWebP},
	{"TIFF", func(b []byte) bool { return starts("II*\x00")(b) || starts("MM\x00*")(b) },
		func(b []byte) (image.Config, error) { return tiff.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (*RGB, error) { return convert(tiff.Decode(bytes.NewReader(b))) }},
	{"BMP", starts("BM"), func(b []byte) (image.Config, error) { return bmp.DecodeConfig(bytes.NewReader(b)) },
		func(b []byte) (*RGB, error) { return convert(bmp.Decode(bytes.NewReader(b))) }},
}

// Decode reads an image file and turns it upright. Of an animation or a file of several pages it reads the first. A
// format that is not supported is named, with the fix. Errors are one line, without the file's name; see
// [DecodeFile].
func Decode(data []byte) (p *RGB, err error) {
	if len(data) == 0 {
		return nil, errEmpty
	}
	for _, f := range formats {
		if !f.is(data) {
			continue
		}
		defer func() {
			if r := recover(); r != nil { // a decoder that trips over a damaged file
				p, err = nil, fmt.Errorf("not a readable %s: %v", f.name, r)
			}
		}()
		c, err := f.size(data)
		if err != nil {
			return nil, fmt.Errorf("not a readable %s: %w%s", f.name, err, variant(data, err))
		}
		if c.Width < 1 || c.Height < 1 {
			return nil, fmt.Errorf("not a readable %s: it has no pixels (%d×%d)", f.name, c.Width, c.Height)
		}
		if c.Width > MaxPixels/c.Height {
			return nil, fmt.Errorf("%w: %d×%d pixels, more than %d million; scale it down", ErrTooLarge, c.Width,
				c.Height, MaxPixels/1_000_000)
		}
		if p, err = f.decode(data); err != nil {
			return nil, fmt.Errorf("not a readable %s: %w%s", f.name, err, variant(data, err))
		}
		return p.upright(exif.Orientation(data)), nil
	}
	return nil, foreign(data)
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

func convert(img image.Image, err error) (*RGB, error) {
	if err != nil {
		return nil, err
	}
	return FromImage(img), nil
}

func decodeJPEG(b []byte) (*RGB, error) {
	img, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if y, ok := img.(*image.YCbCr); ok {
		return fromJPEG(y), nil
	}
	return FromImage(img), nil
}

func decodeWebP(b []byte) (*RGB, error) {
	img, err := webp.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	switch y := img.(type) {
	case *image.YCbCr:
		return fromWebP(y), nil
	case *image.NYCbCrA:
		return fromWebP(&y.YCbCr), nil
	}
	return FromImage(img), nil
}

// decodeGIF gives the first frame on its canvas, which has the file's background color.
func decodeGIF(b []byte) (*RGB, error) {
	frame, err := gif.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	c, err := gif.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	p, at := FromImage(frame), frame.Bounds()
	if at == image.Rect(0, 0, c.Width, c.Height) {
		return p, nil
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
	return out, nil
}
