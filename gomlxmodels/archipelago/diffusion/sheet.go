package diffusion

import (
	"context"
	"image"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

// sheet returns a contact sheet of generated images: a row for each island with all objects; then rows of figures by
// people, without and with an attribute, by occupation or ceremony, and of objects requested in each invented language.
func sheet(ctx context.Context, backend compute.Backend, dir string) (image.Image, error) {
	prompts := sheetPrompts()
	images, err := generate(ctx, backend, dir, prompts, 1)
	if err != nil {
		return nil, err
	}
	return trainer.Sheet(images, len(examples.World.Objects())), nil
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
