package blip

import (
	"slices"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
)

// said maps each part of a caption to the name it contains, "" for none or several.
type said map[string]string

// The parts of a caption.
const (
	partObject     = "object"
	partForm       = "form"
	partScene      = "scene"
	partIsland     = "island"
	partPeople     = "people"
	partOccupation = "occupation" // "figure" if a figure has none
	partCeremony   = "ceremony"   // "none" if a figure has none
)

// parts lists the parts of captions by kind of image, in the order of the report.
var parts = map[string][]string{
	examples.Thing:   {partObject, partForm, partScene, partIsland},
	examples.Scenery: {partScene, partIsland},
	examples.Figure:  {partPeople, partOccupation, partCeremony},
}

// kinds lists the kinds of images in the order of the report.
var kinds = []string{examples.Thing, examples.Scenery, examples.Figure}

// truth returns the parts of an image's true caption.
func truth(p archipelago.Image) said {
	if f := p.Figure; f != nil {
		s := said{partPeople: f.People, partOccupation: "figure", partCeremony: "none"}
		if f.Occupation != "" {
			s[partOccupation] = f.Occupation
		}
		if f.Ceremony != "" {
			s[partCeremony] = f.Ceremony
		}
		return s
	}
	s := said{partScene: p.Scene, partIsland: p.Island}
	if p.Object != "" {
		s[partObject], s[partForm] = p.Object, p.Variant
	}
	return s
}

// read returns the parts of a caption of an image of a kind; none for the caption of an image of another kind.
func read(kind, text string) said {
	w, words := examples.World, split(text)
	figure := one(words, archipelago.PeopleNames()) != ""
	if figure != (kind == examples.Figure) {
		return said{}
	}
	if figure {
		s := said{partPeople: one(words, archipelago.PeopleNames()),
			partOccupation: one(words, append(archipelago.OccupationNames(), "figure")), partCeremony: "none"}
		if slices.Contains(words, "at") {
			s[partCeremony] = one(words, archipelago.CeremonyNames())
		}
		return s
	}
	object := one(words, w.Objects())
	if (object != "") != (kind == examples.Thing) {
		return said{}
	}
	s := said{partObject: object, partScene: one(words, w.Scenes()), partIsland: one(words, w.Islands())}
	seen, unseen := archipelago.Variants(object)
	s[partForm] = one(words, append(seen, unseen...))
	return s
}

// attributes returns the attributes that a figure's caption lists after "with".
func attributes(text string) []string {
	words := split(text)
	at := slices.Index(words, "with")
	if at < 0 {
		return nil
	}
	return slices.DeleteFunc(archipelago.AttributeNames(),
		func(a string) bool { return !slices.Contains(words[at:], a) })
}

// one returns the name that occurs in words; "" if none or several do.
func one(words []string, names []string) string {
	found := ""
	for _, name := range names {
		if !holds(words, split(name)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// holds reports whether others is a contiguous part of words.
func holds(words, others []string) bool {
	for at := range words {
		if at+len(others) <= len(words) && slices.Equal(words[at:at+len(others)], others) {
			return true
		}
	}
	return false
}
