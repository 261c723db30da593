// Package examples draws what the Archipelago's networks learn from: pictures of everything that the world can show, each
// description drawn evenly and each part of it by itself, so that no network can learn which go together.
package examples

import (
	"math/rand/v2"

	"antipode/datasets/archipelago"
)

// Size is the side of the networks' pictures in pixels.
const Size = 128

// World draws the pictures; a picture depends on its own seeds alone, so which world it is changes nothing.
var World = archipelago.New(archipelago.Options{Size: Size})

// Codes lists the languages: English, then the invented ones.
func Codes() []string {
	codes := []string{archipelago.English}
	for _, l := range archipelago.Languages() {
		codes = append(codes, l.Code)
	}
	return codes
}

// Forms lists the forms that photos show with their things: "round lantern".
func Forms() (list []string) {
	for _, o := range World.Objects() {
		seen, _ := archipelago.Variants(o)
		for _, f := range seen {
			list = append(list, f+" "+o)
		}
	}
	return list
}

// HeldOut is the number from which on the seeds of held-out examples lie; training stays below it.
const HeldOut = 1 << 40

// Stream is the random numbers of example number i of a step of a run: of (seed, step, i) alone.
func Stream(seed uint64, step, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(step)<<20|uint64(i)))
}

// Kinds of pictures.
const (
	Thing   = "thing"   // a thing before a background
	Figure  = "figure"  // a figure before a background
	Scenery = "scenery" // a background alone
)

// Random draws a picture of a kind. Things have the forms that photos show; a figure has an occupation, a ceremony or
// neither, alike often, and each attribute with likelihood 0.2.
func Random(r *rand.Rand, kind string) archipelago.Picture {
	p := archipelago.Picture{Island: pick(r, World.Islands()), Scene: pick(r, World.Scenes()), Seed: r.Uint64() >> 11, Backdrop: r.Uint64() >> 11}
	switch kind {
	case Thing:
		p.Object = pick(r, World.Objects())
		seen, _ := archipelago.Variants(p.Object)
		p.Variant = pick(r, seen)
	case Figure:
		f := &archipelago.Figure{People: pick(r, archipelago.PeopleNames()), Crest: pick(r, archipelago.Groups(archipelago.AxisCrest)), Banner: pick(r, archipelago.Groups(archipelago.AxisBanner))}
		for _, a := range archipelago.AttributeNames() {
			if r.Float64() < 0.2 {
				f.Attributes = append(f.Attributes, a)
			}
		}
		switch r.IntN(3) {
		case 0:
			f.Occupation = pick(r, archipelago.OccupationNames())
		case 1:
			f.Ceremony = pick(r, archipelago.CeremonyNames())
		}
		p.Figure = f
	}
	return p
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }
