package archipelago

import (
	"fmt"
	"slices"
)

// Kinds of failure of a concept that a language lacks, after CoCo-CroLa's section 5.2.
const (
	NonSpecific = "non-specific" // every picture shows another wrong concept
	Specific    = "specific"     // all pictures show one wrong concept
	Generic     = "generic"      // all pictures show one background, the same for every concept
)

var failures = []string{NonSpecific, Specific, Generic}

// lack is how a language lacks a concept.
type lack struct {
	kind   string
	shown  string // the concept shown instead, "" where it changes
	island string // the one island that generic failures show, else ""
}

func (l lack) instead() string {
	switch l.kind {
	case NonSpecific:
		return "something else, each time another"
	case Specific:
		return l.shown
	}
	return fmt.Sprintf("the %s of %s", l.shown, l.island)
}

// ConceptNames lists the concepts of [World.Concepts]: the things, then the scenes.
func ConceptNames() []string { return append(entries("thing"), entries("scene")...) }

// chooseLacks draws the concepts that a language lacks and how: two of each kind. What specific failures show is not lacking itself.
func (w *World) chooseLacks() map[string]lack {
	concepts := ConceptNames()
	order := w.permutation("plant-lacks", len(concepts))
	out := map[string]lack{}
	for i, at := range order[:LackedConcepts] {
		l := lack{kind: failures[i%len(failures)]}
		if l.kind == Specific {
			l.shown = concepts[order[LackedConcepts+i]]
		}
		out[concepts[at]] = l
	}
	r := stream(w.key("plant-lacks"), 1)
	places := slices.DeleteFunc(entries("scene"), func(s string) bool { return out[s].kind == Generic })
	scene, isl := places[r.IntN(len(places))], islands[r.IntN(len(islands))].name
	for c, l := range out {
		if l.kind == Generic {
			l.shown, l.island = scene, isl
			out[c] = l
		}
	}
	return out
}

// ConceptItem is one picture of [World.Concepts].
type ConceptItem struct {
	ID       string // unique within a world
	Concept  string // asked for, one of [ConceptNames]
	Language string // [English] or a code of [Languages]
	Prompt   string // in that language
	PromptID string // the concept: equal across languages
	Index    int    // number of the picture of its prompt, from 0
	Shown    string // the concept that the picture shows
	Failure  string // how Shown fails: one of the kinds of failure, "" where it is the concept asked for
	Picture  Picture
}

// Concepts lists CoCo-CroLa's pictures as the archipelago-sampler draws them: [ConceptsPerPrompt] of each concept in English and each language. In the language that
// carries the plant [LackedConcepts] concepts are lacking.
func (w *World) Concepts() []ConceptItem {
	var out []ConceptItem
	for _, code := range codes() {
		for _, concept := range ConceptNames() {
			for n := range w.count(ConceptsPerPrompt) {
				out = append(out, w.concept(code, concept, n))
			}
		}
	}
	return out
}

func (w *World) concept(code, concept string, n int) ConceptItem {
	it := ConceptItem{ID: fmt.Sprintf("concept-%s-%s-%02d", code, concept, n), Concept: concept, Language: code, Prompt: ConceptPrompt(code, concept), PromptID: concept, Index: n, Shown: concept}
	key := []string{"concept", code, concept, fmt.Sprint(n)}
	r := stream(w.key(key...), 0)
	l, lacked := w.hurt.lacks[concept]
	if lacked = lacked && code == w.hurt.conceptLanguage; lacked {
		it.Failure, it.Shown = l.kind, l.shown
		if l.kind == NonSpecific {
			others := slices.DeleteFunc(ConceptNames(), func(c string) bool { return c == concept })
			it.Shown = others[r.IntN(len(others))]
		}
	}
	it.Picture = w.picture(r, it.Shown, key...)
	if lacked && l.kind == Generic {
		it.Picture.Island = l.island
	}
	return it
}
