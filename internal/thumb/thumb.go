// Package thumb reads image files for display: the right way up, opaque and small. Figures and shown tables use it.
package thumb

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // a format that images come in
	_ "image/jpeg" // as above
	_ "image/png"  // as above
	"io/fs"
	"os"
	"strings"

	_ "golang.org/x/image/bmp" // as above
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // as above
	_ "golang.org/x/image/webp" // as above

	"antipode/internal/exif"
)

// maxPixels is the size of the largest image that is decoded for display: 100 megapixels take 400 MB.
const maxPixels = 100_000_000

// Load reads an image file: upright, on white. The error is short, without the path.
func Load(path string) (*image.RGBA, error) {
	data, config, err := open(path)
	if err != nil {
		return nil, err
	}
	if config.Width*config.Height > maxPixels {
		return nil, fmt.Errorf("%d×%d pixels, too large to show", config.Width, config.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, short(err)
	}
	return onWhite(Upright(img, exif.Orientation(data))), nil
}

// Size returns the size of an image file as it is shown. The error is short, without the path.
func Size(path string) (width, height int, err error) {
	data, config, err := open(path)
	if err != nil {
		return 0, 0, err
	}
	width, height = exif.Size(exif.Orientation(data), config.Width, config.Height)
	return width, height, nil
}

func open(path string) ([]byte, image.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, image.Config{}, err
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, config, short(err)
	}
	return data, config, nil
}

func short(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "image: ")) }

// Within returns the image with the longer side at most most pixels long.
func Within(img *image.RGBA, most float64) *image.RGBA {
	zoom := most / float64(max(img.Rect.Dx(), img.Rect.Dy()))
	if zoom >= 1 {
		return img
	}
	return Scaled(img, zoom)
}

// Scaled returns the image with its sides multiplied by zoom.
func Scaled(img image.Image, zoom float64) *image.RGBA {
	side := func(n int) int { return max(1, int(float64(n)*zoom+0.5)) }
	out := image.NewRGBA(image.Rect(0, 0, side(img.Bounds().Dx()), side(img.Bounds().Dy())))
	draw.BiLinear.Scale(out, out.Rect, img, img.Bounds(), draw.Src, nil)
	return out
}

func onWhite(img image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Over)
	return out
}

// Upright turns and mirrors an image as its EXIF orientation requires.
func Upright(img image.Image, orientation int) image.Image {
	if orientation == 1 {
		return img
	}
	r := img.Bounds()
	w, h := exif.Size(orientation, r.Dx(), r.Dy())
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			sx, sy := exif.Source(orientation, r.Dx(), r.Dy(), x, y)
			out.Set(x, y, img.At(r.Min.X+sx, r.Min.Y+sy))
		}
	}
	return out
}
