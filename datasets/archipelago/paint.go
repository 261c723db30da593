package archipelago

import (
	"fmt"
	"image"
	"strings"
)

// Image describes what an image shows, the input of [World.Paint]: an object or a figure before a background, or only a
// background. The keys of stored images contain its fields in this order.
type Image struct {
	Island  string  // one of [World.Islands]
	Scene   string  // one of [World.Scenes]
	Object  string  // one of [World.Objects], "" = none
	Variant string  // of the object
	Figure  *Figure // nil = none
	// Seed is the seed of the object or figure, its place and its colors, Backdrop that of the background; both < 2^53.
	Seed, Backdrop uint64
}

// Paint draws an image, Options.Size pixels wide and high, and the mask of its object or figure (255), to which the
// decoration above a figure belongs. Without object and figure the mask is nil. It returns nil, nil for an image with
// an unknown name.
func (w *World) Paint(p Image) (*image.RGBA, *image.Gray) {
	if p.Object != "" && p.Figure == nil {
		return w.Draw(Item{Object: p.Object, Region: p.Island, Scene: p.Scene, Variant: p.Variant, Seed: p.Seed,
			Backdrop: p.Backdrop})
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

// Caption returns the English caption of a perfect captioner.
func (p Image) Caption() string { return p.CaptionIn(English) }

// CaptionIn returns the caption of a perfect captioner in a language, [English] or a code of [Languages]; "" for other
// languages and unknown names. A figure's caption names its people, its occupation or ceremony, and its attributes, but
// not its crest and banner: "a Tulvane weaver with stripes and a belt".
func (p Image) CaptionIn(language string) string {
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
		return l.join(Translate(language, "template", "<a>"), Translate(language, "scene", p.Scene),
			Translate(language, "template", "<of>"), Translate(language, "island", p.Island))
	}
	return fmt.Sprintf("a %s, %s", p.Scene, p.Island)
}

// captionIn returns the caption in an invented language: article, people, occupation or the word for "figure",
// ceremony, the word for "with" and the attributes.
func (f *Figure) captionIn(l *Language) string {
	say := func(kind, english string) string { return Translate(l.Code, kind, english) }
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

// caption returns the English caption.
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

// phrase returns the words for an attribute after "with", or the name if it is unknown.
func phrase(name string) string {
	if a := find(attributes, name, func(a attribute) string { return a.name }); a != nil {
		return a.phrase
	}
	return name
}
