package datasets

import (
	"fmt"

	"antipode/kernel/client"
)

// World is the built-in fictional world of one seed: islands (regions), objects, scenes, drawn by code with exact masks; see docs/archipelago.md.
type World struct {
	args ArchipelagoArgs
	err  error
}

// ArchipelagoArgs are the arguments of a plan that reads the world.
type ArchipelagoArgs struct {
	Seed    uint64 `json:"seed"`
	Planted bool   `json:"planted"`
	PerCell int    `json:"per_cell,omitempty"`
	Size    int    `json:"size,omitempty"`
	Set     string `json:"set"` // "photos", "sampled", "plants"; the tables of archipelago_audits.go by their names
}

// WorldOption is a setting of [Archipelago].
type WorldOption func(*World)

// Seed makes another world of the same kind: other pictures, and other islands that carry what is planted.
func Seed(seed int) WorldOption {
	return func(w *World) {
		if seed < 0 {
			w.err = fmt.Errorf("Archipelago: seed %d is negative", seed)
		}
		w.args.Seed = uint64(seed)
	}
}

// Planted says whether the sampled pictures carry the planted disparities (the default) or none.
func Planted(yes bool) WorldOption { return func(w *World) { w.args.Planted = yes } }

// PerCell is the number of pictures of every object on every island, in each of the two sets, and of every prompt in the other audits' tables.
func PerCell(n int) WorldOption {
	return func(w *World) {
		if n < 1 {
			w.err = fmt.Errorf("Archipelago: PerCell(%d): draw at least one picture", n)
		}
		w.args.PerCell = n
	}
}

// Size is the side of a picture in pixels; 128 where it is not given.
func Size(pixels int) WorldOption {
	return func(w *World) {
		if pixels < 16 || pixels > 4096 {
			w.err = fmt.Errorf("Archipelago: Size(%d): between 16 and 4096 pixels", pixels)
		}
		w.args.Size = pixels
	}
}

// Archipelago is the built-in world. It needs no network and no data.
func Archipelago(options ...WorldOption) World {
	w := World{args: ArchipelagoArgs{Planted: true}}
	for _, o := range options {
		o(&w)
	}
	return w
}

// Photos is the real set: photos of every object on every island.
func (w World) Photos() Table { return w.pictures("photos") }

// Sampled is the generated set, drawn by archipelago-sampler: a sampler that stands in for a generator, with the planted disparities.
func (w World) Sampled() Table { return w.pictures("sampled") }

func (w World) pictures(set string) Table {
	t := w.table(set, "id:text", "image:image", "mask:mask", "object:text", "region:text", "scene:text", "variant:text", "caption:text",
		"source:text", "model:text", "seed:number", "backdrop:number")
	return t.Named("archipelago " + set)
}

// Plants lists what is planted in the sampled set: region, component, kind, size (share of the pictures), score it lowers, description.
func (w World) Plants() Table {
	return w.table("plants", "region:text", "component:text", "kind:text", "size:number", "score:text", "description:text").Named("archipelago plants")
}

func (w World) table(set string, columns ...string) Table {
	args := w.args
	args.Set = set
	t := New("archipelago", args, Columns(columns...))
	if w.err != nil {
		return t.Fail(w.err)
	}
	return t
}

// Columns writes column specifications shortly: "id:text", "score:number". It panics on an unknown kind: that is a mistake in the program.
func Columns(specs ...string) []client.ColumnSpec {
	out := make([]client.ColumnSpec, len(specs))
	for i, s := range specs {
		name, kind, ok := cutLast(s)
		switch k := client.Kind(kind); {
		case ok && (k == client.Text || k == client.Number || k == client.Picture || k == client.Masked || k == client.Vector):
			out[i] = client.ColumnSpec{Name: name, Kind: k}
		default:
			panic(fmt.Sprintf("datasets.Columns: %q is not NAME:KIND", s))
		}
	}
	return out
}

func cutLast(s string) (before, after string, ok bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ':' {
			return s[:i], s[i+1:], true
		}
	}
	return "", "", false
}
