package archipelago

import (
	"fmt"
	"image"
	"slices"
	"strings"
)

// Picture is what a picture shows, and all that [World.Paint] reads: a thing before a background, a figure before a background, or a background alone.
type Picture struct {
	Island  string  // one of [World.Islands]
	Scene   string  // one of [World.Scenes]
	Object  string  // one of [World.Objects], "" = none
	Variant string  // of the object
	Figure  *Figure // nil = none
	// Seed is of the object or figure, its place and its colours; Backdrop of the background. Both are below 2^53.
	Seed, Backdrop uint64
}

// Paint draws a picture of Options.Size pixels a side, and the mask of its object or figure (255; what hangs above a figure is part of it). Without
// either the mask is nil. A picture with a name that this world does not know gives nil, nil.
func (w *World) Paint(p Picture) (*image.RGBA, *image.Gray) {
	if p.Object != "" && p.Figure == nil {
		return w.Draw(Item{Object: p.Object, Region: p.Island, Scene: p.Scene, Variant: p.Variant, Seed: p.Seed, Backdrop: p.Backdrop})
	}
	isl, sc := findIsland(p.Island), findScene(p.Scene)
	if isl == nil || sc == nil || p.Figure != nil && !p.Figure.known() {
		return nil, nil
	}
	on := w.scenery(isl, sc, p.Backdrop)
	if p.Figure == nil {
		opaque(on.im)
		return on.im, nil
	}
	on.shadow(standing(p.Seed))
	opaque(on.im)
	return compose(on.im, w.figure(p.Figure, p.Seed))
}

// Caption is what a perfect captioner would say in English.
func (p Picture) Caption() string {
	switch {
	case p.Figure != nil:
		return p.Figure.caption()
	case p.Object != "":
		return Caption(English, p.Variant, p.Object, p.Scene, p.Island)
	case findScene(p.Scene) == nil:
		return ""
	}
	return fmt.Sprintf("a %s, %s", p.Scene, p.Island)
}

// caption names the people, what is in hand, and the attributes: "a Tulvane weaver with stripes and a belt".
func (f *Figure) caption() string {
	who := "figure"
	if f.Occupation != "" {
		who = f.Occupation
	}
	s := article(f.People) + " " + who
	if f.Ceremony != "" {
		s += " at " + f.Ceremony
	}
	var seen []string
	for _, a := range attributes {
		if slices.Contains(f.Attributes, a.name) {
			seen = append(seen, a.phrase)
		}
	}
	if n := len(seen); n > 0 {
		s += " with " + strings.Join(seen[:n-1], ", ")
		if n > 1 {
			s += " and "
		}
		s += seen[n-1]
	}
	return s
}
