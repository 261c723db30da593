// Package examples generates the training examples of the Archipelago's models: images of everything that the world can
// show. Each part of a description is sampled uniformly and independently, so that no model can learn correlations
// between them.
package examples

import (
	"math/rand/v2"
	"slices"

	"antipode/datasets/archipelago"
)

// Size is the width and height of the models' images in pixels.
const Size = 128

// World draws the images. An image depends on its own seeds only, not on the world's.
var World = archipelago.New(archipelago.Options{Size: Size})

// Codes returns the language codes: English, then the invented languages.
func Codes() []string {
	codes := []string{archipelago.English}
	for _, l := range archipelago.Languages() {
		codes = append(codes, l.Code)
	}
	return codes
}

// HeldOut is the first seed of held-out examples. Training uses lower seeds.
const HeldOut = 1 << 40

// Stream returns the random numbers of example i of a step. They depend on (seed, step, i) only.
func Stream(seed uint64, step, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(step)<<20|uint64(i)))
}

// Kinds of images.
const (
	Thing   = "thing"   // an object before a background
	Figure  = "figure"  // a figure before a background
	Scenery = "scenery" // a background only
)

// Random samples an image of a kind. Objects have the forms of reference images. A figure has an occupation, a ceremony
// or neither with equal probability, and each attribute with probability 0.2.
func Random(r *rand.Rand, kind string) archipelago.Image {
	p := archipelago.Image{Island: Pick(r, World.Islands()), Scene: Pick(r, World.Scenes()), Seed: r.Uint64() >> 11,
		Backdrop: r.Uint64() >> 11}
	switch kind {
	case Thing:
		p.Object = Pick(r, World.Objects())
		seen, _ := archipelago.Variants(p.Object)
		p.Variant = Pick(r, seen)
	case Figure:
		f := &archipelago.Figure{People: Pick(r, archipelago.PeopleNames()),
			Crest:  Pick(r, archipelago.Groups(archipelago.AxisCrest)),
			Banner: Pick(r, archipelago.Groups(archipelago.AxisBanner))}
		for _, a := range archipelago.AttributeNames() {
			if r.Float64() < 0.2 {
				f.Attributes = append(f.Attributes, a)
			}
		}
		switch r.IntN(3) {
		case 0:
			f.Occupation = Pick(r, archipelago.OccupationNames())
		case 1:
			f.Ceremony = Pick(r, archipelago.CeremonyNames())
		}
		p.Figure = f
	}
	return p
}

// Pick samples an element of a list.
func Pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// Property is a part of an image's description that has one of a list of values.
type Property struct {
	Name   string
	Kind   string // of the images that have it
	Values []string
	Of     func(p archipelago.Image) string // the value in an image; not one of Values if the image has none
}

// Properties lists the properties of objects before a background, then those of figures.
var Properties = []Property{
	{"object", Thing, World.Objects(), func(p archipelago.Image) string { return p.Object }},
	{"scene", Thing, World.Scenes(), func(p archipelago.Image) string { return p.Scene }},
	{"island", Thing, World.Islands(), func(p archipelago.Image) string { return p.Island }},
	{"form", Thing, forms(), func(p archipelago.Image) string { return p.Variant + " " + p.Object }},
	{"people", Figure, archipelago.PeopleNames(), ofFigure(func(f *archipelago.Figure) string { return f.People })},
	{"occupation", Figure, archipelago.OccupationNames(),
		ofFigure(func(f *archipelago.Figure) string { return f.Occupation })},
	{"ceremony", Figure, archipelago.CeremonyNames(),
		ofFigure(func(f *archipelago.Figure) string { return f.Ceremony })},
	{archipelago.AxisCrest, Figure, archipelago.Groups(archipelago.AxisCrest),
		ofFigure(func(f *archipelago.Figure) string { return f.Crest })},
	{archipelago.AxisBanner, Figure, archipelago.Groups(archipelago.AxisBanner),
		ofFigure(func(f *archipelago.Figure) string { return f.Banner })},
}

// Label returns the index of an image's value, or -1 if it has none.
func (q Property) Label(p archipelago.Image) int32 { return int32(slices.Index(q.Values, q.Of(p))) }

func ofFigure(of func(*archipelago.Figure) string) func(archipelago.Image) string {
	return func(p archipelago.Image) string {
		if p.Figure == nil {
			return ""
		}
		return of(p.Figure)
	}
}

// forms returns the forms of all objects in reference images, such as "round lantern".
func forms() (list []string) {
	for _, o := range World.Objects() {
		seen, _ := archipelago.Variants(o)
		for _, f := range seen {
			list = append(list, f+" "+o)
		}
	}
	return list
}
