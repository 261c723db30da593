package main

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"

	"antipode/datasets/archipelago"
)

// sheet writes a contact sheet: a row for each island, a column for each object.
func sheet(path string) error {
	const size, gap = 80, 3
	w := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1, Size: size})
	columns := len(w.Objects())
	out := image.NewRGBA(image.Rect(0, 0, columns*(size+gap)-gap, len(w.Islands())*(size+gap)-gap))
	draw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	for i, it := range w.Photos() {
		picture, _ := w.Draw(it)
		at := image.Pt(i%columns*(size+gap), i/columns*(size+gap))
		draw.Draw(out, picture.Rect.Add(at), picture, image.Point{}, draw.Src)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, out); err != nil {
		return err
	}
	return f.Close()
}
