package trainer

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
)

// AppendPlanes appends an image's pixels, [3,H,W], normalized with mean 0.5 and standard deviation 0.5 to [-1,1].
func AppendPlanes(out []float32, im *image.RGBA) []float32 {
	for c := range 3 {
		for i := c; i < len(im.Pix); i += 4 {
			out = append(out, float32(im.Pix[i])/127.5-1)
		}
	}
	return out
}

// Sheet returns a contact sheet of images of equal size, row by row, with white gaps.
func Sheet(images []image.Image, columns int) image.Image {
	const gap = 3
	side := images[0].Bounds().Size()
	rows := (len(images) + columns - 1) / columns
	out := image.NewRGBA(image.Rect(0, 0, columns*(side.X+gap)-gap, rows*(side.Y+gap)-gap))
	draw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	for i, p := range images {
		at := image.Pt(i%columns*(side.X+gap), i/columns*(side.Y+gap))
		draw.Draw(out, image.Rectangle{Min: at, Max: at.Add(side)}, p, p.Bounds().Min, draw.Src)
	}
	return out
}

// WritePNG writes an image with the best compression.
func WritePNG(path string, img image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, img); err != nil {
		return err
	}
	return f.Close()
}
