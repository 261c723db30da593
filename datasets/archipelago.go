package datasets

import (
	"fmt"

	"antipode/datasets/table"
)

// World is the built-in fictional world of one seed: images of objects on islands (the regions), peoples and
// occupations, drawn by code with exact masks. [Archipelago] returns one; its methods return tables. See
// docs/archipelago.md.
type World struct {
	args ArchipelagoArgs
	err  error
}

// ArchipelagoArgs are the arguments of a plan that reads the world.
type ArchipelagoArgs struct {
	Seed     uint64 `json:"seed"`
	Injected bool   `json:"planted"`
	PerCell  int    `json:"per_cell,omitempty"`
	Size     int    `json:"size,omitempty"`
	Set      string `json:"set"` // name of the table, for example reference
}

// ArchipelagoOptions are the options of [Archipelago].
type ArchipelagoOptions struct {
	// Seed selects one of many worlds: other images, and other islands, peoples and languages with disparities.
	Seed int

	// PerCell is the number of images of every object on every island in [World.Reference] and in [World.Sampled],
	// and of every prompt in the other tables. 0 = each table's default.
	PerCell int

	// Size is the width and height of an image in pixels, from 16 to 4096. 0 = 128.
	Size int

	// Injected adds disparities of known size to the generated images; [World.InjectedDisparities] and
	// [World.AuditDisparities] list them. Without it no group differs from another: the control of an experiment.
	Injected bool
}

// Archipelago returns the built-in world. It needs no network and no data.
func Archipelago(options ...ArchipelagoOptions) World {
	o, err := table.One(options)
	switch {
	case err != nil:
	case o.Seed < 0:
		err = fmt.Errorf("seed %d is negative", o.Seed)
	case o.PerCell < 0:
		err = fmt.Errorf("%d images per cell; use at least 1", o.PerCell)
	case o.Size != 0 && (o.Size < 16 || o.Size > 4096):
		err = fmt.Errorf("size %d; use 16 to 4096 pixels", o.Size)
	}
	if err != nil {
		return World{err: fmt.Errorf("Archipelago: %w", err)}
	}
	return World{args: ArchipelagoArgs{Seed: uint64(o.Seed), Injected: o.Injected, PerCell: o.PerCell, Size: o.Size}}
}

// Reference returns the reference images, rendered without disparities: images of every object on every island.
func (w World) Reference() Table { return w.images("photos", "archipelago reference images") }

// Sampled returns generated images in the order of [World.Reference]. They come from archipelago-sampler, a
// procedural sampler used in place of a generator.
func (w World) Sampled() Table { return w.images("sampled", "archipelago sampled images") }

// Prompts returns a prompt for every object on every island, "OBJECT in ISLAND", for a generator: id, region, object,
// prompt and seed. A prompt's seed depends on its id.
func (w World) Prompts() Table {
	w.args.PerCell = 1
	return w.Sampled().Select("id", "region", "object", "caption").Rename("caption", "prompt").SeedBy("id").
		named("archipelago prompts")
}

func (w World) images(set, name string) Table {
	return w.table(set, "id:text", "image:image", "mask:mask", "object:text", "region:text", "scene:text",
		"variant:text", "caption:text", "source:text", "model:text", "seed:number", "backdrop:number").named(name)
}

// InjectedDisparities lists the disparities injected into [World.Sampled]: region, component, kind, size (share of the
// images), score (the score that the disparity lowers) and description. It has no rows without Injected.
func (w World) InjectedDisparities() Table {
	return w.table("plants", "region:text", "component:text", "kind:text", "size:number", "score:text",
		"description:text").named("archipelago injected disparities")
}

func (w World) table(set string, columns ...string) Table {
	args := w.args
	args.Set = set
	t := New("archipelago", args, Columns(columns...))
	if w.err != nil {
		return t.failed(w.err)
	}
	return t
}
