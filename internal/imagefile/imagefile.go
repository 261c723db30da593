// Package imagefile decodes image files: images that networks read, masks, and images that figures show. The format is
// recognized by the content, the size is checked before anything is decoded, and the memory of all decoders that run at
// the same time is bounded.
package imagefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"

	"antipode/internal/exif"
	"antipode/internal/jpeg"
)

// MaxPixels is the largest image that is decoded, in pixels: a small file can claim any size.
const MaxPixels = 100_000_000

// A decoder takes at most bytesPerPixel, of a progressive JPEG. All that run at the same time take at most budget; one
// image that needs more is decoded alone.
const (
	bytesPerPixel = 16
	budget        = 1 << 30
)

var inFlight = semaphore.NewWeighted(budget)

// ErrTooLarge is wrapped by the error about an image of more than [MaxPixels].
var ErrTooLarge = errors.New("the image is too large")

var errEmpty = errors.New("the file is empty (0 bytes)")

type format struct {
	name   string
	is     func([]byte) bool
	size   func([]byte) (image.Config, error)
	decode func([]byte) (image.Image, error)
}

// reading returns f as a function of a file's bytes.
func reading[T any](f func(io.Reader) (T, error)) func([]byte) (T, error) {
	return func(b []byte) (T, error) { return f(bytes.NewReader(b)) }
}

func starts(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

var formats = []format{
	{"PNG", starts("\x89PNG\r\n\x1a\n"), reading(png.DecodeConfig), reading(png.Decode)},
	{"JPEG", starts("\xff\xd8"), jpeg.DecodeConfig, func(b []byte) (image.Image, error) { return jpeg.Decode(b) }},
	{"GIF", starts("GIF8"), reading(gif.DecodeConfig), reading(gif.Decode)},
	{"WebP", func(b []byte) bool { return len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP" },
		reading(webp.DecodeConfig), reading(webp.Decode)},
	{"TIFF", func(b []byte) bool { return starts("II*\x00")(b) || starts("MM\x00*")(b) },
		reading(tiff.DecodeConfig), decodeTIFF},
	{"BMP", starts("BM"), reading(bmp.DecodeConfig), reading(bmp.Decode)},
}

// TIFF is the version of the decoder of TIFF files. It is raised in the commit that changes pixels.
const TIFF = "tiff-2"

// decodeTIFF decodes a TIFF file. Of fax compression (CCITT groups 3 and 4) golang.org/x/image/tiff takes white runs
// for white under both photometric interpretations; they are zeros, which BlackIsZero shows as black.
func decodeTIFF(b []byte) (image.Image, error) {
	const compression, photometric, samples, planes, blackIsZero = 259, 262, 277, 284, 1
	if n, _ := exif.Tag(b, samples); n > 1 {
		if p, _ := exif.Tag(b, planes); p == 2 {
			return nil, tiff.UnsupportedError("color planes")
		}
	}
	img, err := reading(tiff.Decode)(b)
	fax, _ := exif.Tag(b, compression)
	shown, _ := exif.Tag(b, photometric)
	if g, gray := img.(*image.Gray); gray && (fax == 3 || fax == 4) && shown == blackIsZero {
		for i, v := range g.Pix {
			g.Pix[i] = ^v
		}
	}
	return img, err
}

// Config returns the size of an image file and the name of its format: PNG, JPEG, GIF, WebP, TIFF or BMP. It decodes
// no pixels. Errors are those of [Decode].
func Config(data []byte) (c image.Config, name string, err error) {
	f, c, err := open(data)
	if err != nil {
		return c, "", err
	}
	return c, f.name, nil
}

// Decode decodes an image file and passes it to use, with the name of its format and its size, which of a GIF may be
// larger than its first frame. Of an animation or a file of several pages it reads the first. A format that is not
// supported is named, with the fix. Errors are one line, without the file's name; a panic of the decoder or of use on a
// damaged file is an error. Large images wait for each other until use returns; use must not call Decode.
func Decode[T any](data []byte, use func(img image.Image, name string, c image.Config) (T, error)) (t T, err error) {
	f, c, err := open(data)
	if err != nil {
		return t, err
	}
	weight := min(int64(c.Width)*int64(c.Height)*bytesPerPixel, budget)
	if err := inFlight.Acquire(context.Background(), weight); err != nil {
		return t, err
	}
	defer inFlight.Release(weight)
	defer f.damaged(&err)
	img, err := f.decode(data)
	if err != nil {
		return t, f.unreadable(data, err)
	}
	return use(img, f.name, c)
}

// open recognizes the format and checks the size.
func open(data []byte) (f format, c image.Config, err error) {
	if len(data) == 0 {
		return f, c, errEmpty
	}
	for _, f = range formats {
		if !f.is(data) {
			continue
		}
		defer f.damaged(&err)
		if c, err = f.size(data); err != nil {
			return f, c, f.unreadable(data, err)
		}
		if c.Width < 1 || c.Height < 1 {
			return f, c, fmt.Errorf("not a readable %s: it has no pixels (%d×%d)", f.name, c.Width, c.Height)
		}
		if c.Width > MaxPixels/c.Height {
			return f, c, fmt.Errorf("%w: %d×%d pixels, more than %d million; scale it down", ErrTooLarge, c.Width,
				c.Height, MaxPixels/1_000_000)
		}
		return f, c, nil
	}
	return f, c, foreign(data)
}

// damaged is deferred: it makes the panic of a decoder an error.
func (f format) damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("not a readable %s: %v", f.name, r)
	}
}

func (f format) unreadable(data []byte, err error) error {
	return fmt.Errorf("not a readable %s: %w%s", f.name, err, variant(data, err))
}
