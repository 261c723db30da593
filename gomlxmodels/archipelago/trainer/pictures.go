package trainer

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
)

// AppendPlanes appends a picture's channels as planes, [3,H,W], scaled by mean 0.5 and deviation 0.5 to [-1,1].
func AppendPlanes(out []float32, im *image.RGBA) []float32 {
	for c := range 3 {
		for i := c; i < len(im.Pix); i += 4 {
			out = append(out, float32(im.Pix[i])/127.5-1)
		}
	}
	return out
}

// Sheet lays pictures of equal size out in rows, with a white gap between them.
func Sheet(pictures []image.Image, columns int) image.Image {
	const gap = 3
	side := pictures[0].Bounds().Size()
	rows := (len(pictures) + columns - 1) / columns
	out := image.NewRGBA(image.Rect(0, 0, columns*(side.X+gap)-gap, rows*(side.Y+gap)-gap))
	draw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	for i, p := range pictures {
		at := image.Pt(i%columns*(side.X+gap), i/columns*(side.Y+gap))
		draw.Draw(out, image.Rectangle{Min: at, Max: at.Add(side)}, p, p.Bounds().Min, draw.Src)
	}
	return out
}

// WritePNG writes a picture, packed as well as it goes.
func WritePNG(path string, picture image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, picture); err != nil {
		return err
	}
	return f.Close()
}
