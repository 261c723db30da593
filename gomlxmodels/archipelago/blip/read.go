package blip

import (
	"slices"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
)

// said is what a caption names, each part "" where it names none or several.
type said map[string]string

// The parts of captions.
const (
	partObject     = "object"
	partForm       = "form"
	partScene      = "scene"
	partIsland     = "island"
	partPeople     = "people"
	partOccupation = "occupation" // "figure" where a figure has none
	partCeremony   = "ceremony"   // "none" where there is none
)

// parts lists what is looked for in captions of a kind, in the order of the report.
var parts = map[string][]string{
	examples.Thing:   {partObject, partForm, partScene, partIsland},
	examples.Scenery: {partScene, partIsland},
	examples.Figure:  {partPeople, partOccupation, partCeremony},
}

// kinds of pictures, in the order of the report.
var kinds = []string{examples.Thing, examples.Scenery, examples.Figure}

// truth is what the caption of a picture names.
func truth(p archipelago.Picture) said {
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

// read finds in a caption what a caption of the kind names. A text about another kind of picture names nothing.
func read(kind, text string) said {
	w, words := examples.World, split(text)
	figure := one(words, archipelago.PeopleNames()) != ""
	if figure != (kind == examples.Figure) {
		return said{}
	}
	if figure {
		s := said{partPeople: one(words, archipelago.PeopleNames()), partOccupation: one(words, append(archipelago.OccupationNames(), "figure")), partCeremony: "none"}
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

// attributes lists those that a figure's caption names after "with".
func attributes(text string) []string {
	words := split(text)
	at := slices.Index(words, "with")
	if at < 0 {
		return nil
	}
	return slices.DeleteFunc(archipelago.AttributeNames(), func(a string) bool { return !slices.Contains(words[at:], a) })
}

// one is the one of the names that stands among the words, "" where none or several do.
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

// holds says that words hold others one after the other.
func holds(words, others []string) bool {
	for at := range words {
		if at+len(others) <= len(words) && slices.Equal(words[at:at+len(others)], others) {
			return true
		}
	}
	return false
}
