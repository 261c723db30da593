// Package thumb reads image files for display: the right way up, opaque and small. Figures and shown tables use it.
package thumb

import (
	"errors"
	"image"
	"io/fs"
	"os"

	"golang.org/x/image/draw"

	"antipode/internal/exif"
	"antipode/internal/imagefile"
)

// Load reads an image file: upright, on white. The error is short, without the path.
func Load(path string) (*image.RGBA, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return imagefile.Decode(data, func(img image.Image, format string, c image.Config) (*image.RGBA, error) {
		if at := image.Rect(0, 0, c.Width, c.Height); format == "gif" && img.Bounds() != at {
			canvas := image.NewRGBA(at) // of which the first frame is a part
			draw.Draw(canvas, img.Bounds(), img, img.Bounds().Min, draw.Src)
			img = canvas
		}
		return onWhite(upright(img, exif.Orientation(data))), nil
	})
}

// Size returns the size of an image file as it is shown. The error is short, without the path.
func Size(path string) (width, height int, err error) {
	data, err := read(path)
	if err != nil {
		return 0, 0, err
	}
	config, _, err := imagefile.Config(data)
	if err != nil {
		return 0, 0, err
	}
	width, height = exif.Size(exif.Orientation(data), config.Width, config.Height)
	return width, height, nil
}

func read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return data, err
}

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

// upright turns and mirrors an image as its EXIF orientation requires.
func upright(img image.Image, orientation int) image.Image {
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
