package vae

import (
	"context"
	"image"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

// sheet returns a contact sheet of held-out images, each row followed by its decoded images.
func sheet(ctx context.Context, backend compute.Backend, dir string) (image.Image, error) {
	const columns, rows = 8, 4
	var all []image.Image
	for row := range rows {
		var drawn []*image.RGBA
		for i := range columns {
			img, _ := examples.World.Paint(describe(examples.Stream(examples.HeldOut, 1, row*columns+i)))
			drawn = append(drawn, img)
		}
		decoded, _, err := roundtrip(ctx, backend, dir, drawn)
		if err != nil {
			return nil, err
		}
		for _, list := range [][]*image.RGBA{drawn, decoded} {
			for _, p := range list {
				all = append(all, p)
			}
		}
	}
	return trainer.Sheet(all, columns), nil
}
