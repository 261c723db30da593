package vit

import (
	"context"
	"image"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/vit"
)

// Seen is what the ViT's heads say that a picture shows. Figures and backgrounds alone were not in its training.
type Seen struct {
	Object, Scene, Island string
	Form                  string // form and object: "round lantern"
}

// Look asks a model folder, for example that of Model.Out, what pictures show.
func Look(ctx context.Context, backend compute.Backend, dir string, pictures []image.Image) ([]Seen, error) {
	m, err := vit.Open(dir)
	if err != nil {
		return nil, err
	}
	hs, err := openHeads(dir)
	if err != nil {
		return nil, err
	}
	const size = 32
	encoder, err := vit.NewEncoder(backend, m, vit.Options{Batch: size})
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	var out []Seen
	for at := 0; at < len(pictures); at += size {
		var batch []*vit.Prepared
		for _, picture := range pictures[at:min(at+size, len(pictures))] {
			p, err := m.Prepare(picture, nil, vit.PrepareOptions{})
			if err != nil {
				return nil, err
			}
			batch = append(batch, p)
		}
		rows, err := encoder.Encode(ctx, batch)
		if err != nil {
			return nil, err
		}
		for _, e := range rows {
			name := func(h int) string { return labels[h][hs[h].answer(e.Full)] }
			out = append(out, Seen{Object: name(headObject), Scene: name(headScene), Island: name(headIsland), Form: name(headForm)})
		}
	}
	return out, nil
}
