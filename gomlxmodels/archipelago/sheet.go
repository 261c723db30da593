package main

import (
	"image"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/trainer"
)

// sheet writes a contact sheet: a row for each island, a column for each object.
func sheet(path string) error {
	w := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1, Size: 80})
	var pictures []image.Image
	for _, it := range w.Photos() {
		picture, _ := w.Draw(it)
		pictures = append(pictures, picture)
	}
	return trainer.WritePNG(path, trainer.Sheet(pictures, len(w.Objects())))
}
