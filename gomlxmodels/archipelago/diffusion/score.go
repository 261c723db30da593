package diffusion

import (
	"context"
	"fmt"
	"image"
	"strings"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/vit"
	"antipode/gomlxmodels/diffusion"
)

// How the generators are asked for pictures, where nothing else is said.
const (
	Steps    = 20
	Guidance = 1.5
)

// scores are the held-out scores of a folder: how often archipelago-vit sees what was asked for.
type scores struct {
	Pictures int     `json:"pictures"` // of "OBJECT in ISLAND"
	Steps    int     `json:"steps"`
	Guidance float64 `json:"guidance"`
	Object   float64 `json:"object"` // share in which the ViT sees the object that was asked for
	Island   float64 `json:"island"`
	// ByIsland is Object by the island that was asked for.
	ByIsland map[string]float64 `json:"object_by_island"`
	// ByLanguage is the share of the prompts for a bare thing in which the ViT sees it, by language.
	ByLanguage map[string]float64 `json:"object_by_language"`
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pictures of an object in an island, %d steps, guidance %g: archipelago-vit sees the object in %.3f, the island in %.3f\n", s.Pictures, s.Steps, s.Guidance, s.Object, s.Island)
	for _, island := range examples.World.Islands() {
		fmt.Fprintf(&b, "%s %.3f  ", island, s.ByIsland[island])
	}
	b.WriteString("\nbare things by language:")
	for _, code := range examples.Codes() {
		fmt.Fprintf(&b, "  %s %.3f", code, s.ByLanguage[code])
	}
	return b.String()
}

// generate makes a picture for each prompt, from seeds that begin at first.
func generate(ctx context.Context, backend compute.Backend, dir string, prompts []string, first uint64) ([]image.Image, error) {
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
		requests = append(requests, diffusion.Request{Prompt: p, Seed: first + uint64(i), Steps: Steps, Guidance: Guidance})
	}
	pictures, err := s.Generate(ctx, requests, nil)
	if err != nil {
		return nil, err
	}
	var out []image.Image
	for _, p := range pictures {
		out = append(out, p.Image)
	}
	return out, nil
}

// score generates perCell pictures of each object in each island, and of each bare thing in each language, and asks the ViT what they show.
func score(ctx context.Context, backend compute.Backend, dir string, perCell int) (fmt.Stringer, error) {
	type wish struct{ object, island, language string }
	var wishes []wish
	var prompts []string
	for range perCell {
		for _, object := range examples.World.Objects() {
			for _, island := range examples.World.Islands() {
				wishes, prompts = append(wishes, wish{object, island, ""}), append(prompts, object+" in "+island)
			}
			for _, code := range examples.Codes() {
				wishes, prompts = append(wishes, wish{object, "", code}), append(prompts, archipelago.ConceptPrompt(code, object))
			}
		}
	}
	pictures, err := generate(ctx, backend, dir, prompts, 1<<31)
	if err != nil {
		return nil, err
	}
	seen, err := vit.Look(ctx, backend, vit.Model.Out, pictures)
	if err != nil {
		return nil, err
	}
	objects, islands := len(examples.World.Objects()), len(examples.World.Islands())
	s := &scores{Pictures: perCell * objects * islands, Steps: Steps, Guidance: Guidance, ByIsland: map[string]float64{}, ByLanguage: map[string]float64{}}
	for i, w := range wishes {
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
