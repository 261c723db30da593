package diffusion

import (
	"context"
	"image"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

// sheet shows each object in each island, a row for each island; below it figures of the peoples, occupations and ceremonies, and things asked for in the
// invented languages.
func sheet(ctx context.Context, backend compute.Backend, dir string) (image.Image, error) {
	prompts := sheetPrompts()
	pictures, err := generate(ctx, backend, dir, prompts, 1)
	if err != nil {
		return nil, err
	}
	return trainer.Sheet(pictures, len(examples.World.Objects())), nil
}

func sheetPrompts() []string {
	var prompts []string
	objects := examples.World.Objects()
	for _, island := range examples.World.Islands() {
		for _, object := range objects {
			prompts = append(prompts, object+" in "+island)
		}
	}
	row := func(kinds ...string) {
		for i := range objects {
			prompts = append(prompts, kinds[i%len(kinds)])
		}
	}
	w := world(false)
	var plain, with []string
	for _, name := range archipelago.PeopleNames() {
		list := w.PeoplePrompts(name)
		plain, with = append(plain, list[0].Text), append(with, list[len(list)-1].Text)
	}
	row(plain...)
	row(with...)
	var does []string
	for _, name := range append(archipelago.OccupationNames(), archipelago.CeremonyNames()...) {
		does = append(does, w.OccupationAt(name, "original", 0).Prompt)
	}
	row(does...)
	for _, l := range archipelago.Languages() {
		var things []string
		for _, object := range objects {
			things = append(things, archipelago.ConceptPrompt(l.Code, object))
		}
		row(things...)
	}
	return prompts
}
