package main

import (
	"image"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/trainer"
)

// sheet writes a contact sheet of the world: a row for each island, a column for each object.
func sheet(path string) error {
	w := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1, Size: 80})
	var images []image.Image
	for _, it := range w.Reference() {
		img, _ := w.Draw(it)
		images = append(images, img)
	}
	return trainer.WritePNG(path, trainer.Sheet(images, len(w.Objects())))
}
