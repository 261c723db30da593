package diffusion

import (
	"context"
	"fmt"
	"image"
	"strings"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/vae"
	"antipode/gomlxmodels/archipelago/vit"
	"antipode/gomlxmodels/diffusion"
)

// Default sampling options of the generators.
const (
	Steps    = 20
	Guidance = 1.5
)

// scores are the held-out scores of a model folder: how often archipelago-vit recognizes what the prompt requested.
type scores struct {
	Images   int     `json:"pictures"` // of "OBJECT in ISLAND"
	Steps    int     `json:"steps"`
	Guidance float64 `json:"guidance"`
	Object   float64 `json:"object"` // share of images with the requested object
	Island   float64 `json:"island"`
	// Sharpness is the mean sharpness of all images, and that of photos of the world; see [vae.Sharpness].
	Sharpness       float64 `json:"sharpness"`
	PhotosSharpness float64 `json:"photos_sharpness"`
	// ByIsland is Object by requested island.
	ByIsland map[string]float64 `json:"object_by_island"`
	// ByLanguage is the share of images with the requested object for prompts that name only the object.
	ByLanguage map[string]float64 `json:"object_by_language"`
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d images of an object in an island, %d steps, guidance %g; archipelago-vit recognizes the "+
		"object in %.3f, the island in %.3f; sharpness %.1f (photos: %.1f)\n", s.Images, s.Steps, s.Guidance, s.Object,
		s.Island, s.Sharpness, s.PhotosSharpness)
	for _, island := range examples.World.Islands() {
		fmt.Fprintf(&b, "%s %.3f  ", island, s.ByIsland[island])
	}
	b.WriteString("\nobjects without island, by language:")
	for _, code := range examples.Codes() {
		fmt.Fprintf(&b, "  %s %.3f", code, s.ByLanguage[code])
	}
	return b.String()
}

// generate returns an image for each prompt, with seeds first, first + 1, ….
func generate(ctx context.Context, backend compute.Backend, dir string, prompts []string, first uint64) ([]image.Image,
	error) {
	m, err := diffusion.Open(dir, diffusion.OpenOptions{})
	if err != nil {
		return nil, err
	}
	s, err := diffusion.NewSampler(backend, m, diffusion.Options{Batch: 8})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var requests []diffusion.Request
	for i, p := range prompts {
		requests = append(requests, diffusion.Request{Prompt: p, Seed: first + uint64(i), Steps: Steps,
			Guidance: Guidance})
	}
	images, err := s.Generate(ctx, requests, nil)
	if err != nil {
		return nil, err
	}
	var out []image.Image
	for _, p := range images {
		out = append(out, p.Image)
	}
	return out, nil
}

// score generates perCell images of each object in each island, and of each object in each language, and classifies
// them with archipelago-vit.
func score(ctx context.Context, backend compute.Backend, dir string, perCell int) (fmt.Stringer, error) {
	type request struct{ object, island, language string }
	var requests []request
	var prompts []string
	for range perCell {
		for _, object := range examples.World.Objects() {
			for _, island := range examples.World.Islands() {
				requests = append(requests, request{object, island, ""})
				prompts = append(prompts, object+" in "+island)
			}
			for _, code := range examples.Codes() {
				requests = append(requests, request{object, "", code})
				prompts = append(prompts, archipelago.ConceptPrompt(code, object))
			}
		}
	}
	images, err := generate(ctx, backend, dir, prompts, 1<<31)
	if err != nil {
		return nil, err
	}
	seen, err := vit.Classify(ctx, backend, vit.Model.Out, images)
	if err != nil {
		return nil, err
	}
	objects, islands := len(examples.World.Objects()), len(examples.World.Islands())
	s := &scores{Images: perCell * objects * islands, Steps: Steps, Guidance: Guidance,
		ByIsland: map[string]float64{}, ByLanguage: map[string]float64{}}
	photos := archipelago.New(archipelago.Options{Seed: examples.HeldOut, PerCell: perCell}).Reference()
	for _, item := range photos {
		img, _ := examples.World.Draw(item)
		s.PhotosSharpness += vae.Sharpness(img) / float64(len(photos))
	}
	for i, w := range requests {
		s.Sharpness += vae.Sharpness(images[i]) / float64(len(images))
		object, share := w.object == seen[i].Object, 1/float64(perCell*objects)
		switch {
		case w.language != "" && object:
			s.ByLanguage[w.language] += share
		case w.island != "":
			if object {
				s.ByIsland[w.island] += share
				s.Object += share / float64(islands)
			}
			if w.island == seen[i].Island {
				s.Island += share / float64(islands)
			}
		}
	}
	return s, nil
}
