package archipelago

import (
	"fmt"
	"image"
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
func (p Picture) Caption() string { return p.CaptionIn(English) }

// CaptionIn is what a perfect captioner would say in a language: [English] or a code of [Languages]; "" for another one, and for what this world does not know. A figure's
// caption names its people, its occupation or ceremony, and its attributes, not its crest and banner: "a Tulvane weaver with stripes and a belt".
func (p Picture) CaptionIn(language string) string {
	l := findLanguage(language)
	switch {
	case l == nil && language != English:
		return ""
	case p.Figure != nil && l != nil:
		return p.Figure.captionIn(l)
	case p.Figure != nil:
		return p.Figure.caption()
	case p.Object != "":
		return Caption(language, p.Variant, p.Object, p.Scene, p.Island)
	case findScene(p.Scene) == nil:
		return ""
	case l != nil:
		return l.join(Say(language, "template", "<a>"), Say(language, "scene", p.Scene), Say(language, "template", "<of>"), Say(language, "island", p.Island))
	}
	return fmt.Sprintf("a %s, %s", p.Scene, p.Island)
}

// captionIn is the caption in an invented language: article, people, occupation or the word for figure, ceremony, and after the word for with the attributes.
func (f *Figure) captionIn(l *Language) string {
	say := func(kind, english string) string { return Say(l.Code, kind, english) }
	who := say("template", "<figure>")
	if f.Occupation != "" {
		who = say("occupation", f.Occupation)
	}
	words := []string{say("template", "<a>"), say("people", f.People), who, say("ceremony", f.Ceremony)}
	if len(f.Attributes) > 0 {
		words = append(words, say("template", "<with>"))
	}
	for _, a := range f.Attributes {
		words = append(words, say("attribute", a))
	}
	return l.join(words...)
}

// caption is the caption in English.
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
	for _, a := range f.Attributes {
		seen = append(seen, phrase(a))
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

// phrase is how an attribute is worded after "with", its own name where this world does not know it.
func phrase(name string) string {
	if a := find(attributes, name, func(a attribute) string { return a.name }); a != nil {
		return a.phrase
	}
	return name
}
