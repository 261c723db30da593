package archipelago

import (
	"fmt"
	"slices"
)

// The kinds of failure of a concept that a generator does not possess in a language (CoCo-CroLa, section 5.2).
const (
	NonSpecific = "non-specific" // each image shows a different wrong concept
	Specific    = "specific"     // all images show one wrong concept
	Generic     = "generic"      // all images show one background, the same for every concept
)

var failureKinds = []string{NonSpecific, Specific, Generic}

// failure describes how a concept fails.
type failure struct {
	kind   string
	shown  string // the concept shown instead, "" if it varies
	island string // the only island of generic failures, else ""
}

func (f failure) instead() string {
	switch f.kind {
	case NonSpecific:
		return "something else, each time another"
	case Specific:
		return f.shown
	}
	return fmt.Sprintf("the %s of %s", f.shown, f.island)
}

// ConceptNames returns the concepts of [World.Concepts]: the objects, then the scenes.
func ConceptNames() []string { return append(entries("thing"), entries("scene")...) }

// chooseFailures samples the concepts that fail and how they fail: two of each kind. A concept that a specific failure
// shows does not fail itself.
func (w *World) chooseFailures() map[string]failure {
	concepts := ConceptNames()
	order := w.permutation("plant-lacks", len(concepts))
	out := map[string]failure{}
	for i, at := range order[:FailedConcepts] {
		f := failure{kind: failureKinds[i%len(failureKinds)]}
		if f.kind == Specific {
			f.shown = concepts[order[FailedConcepts+i]]
		}
		out[concepts[at]] = f
	}
	r := stream(w.key("plant-lacks"), 1)
	places := slices.DeleteFunc(entries("scene"), func(s string) bool { return out[s].kind == Generic })
	scene, isl := places[r.IntN(len(places))], islands[r.IntN(len(islands))].name
	for c, f := range out {
		if f.kind == Generic {
			out[c] = failure{Generic, scene, isl}
		}
	}
	return out
}

// ConceptItem is one image of [World.Concepts].
type ConceptItem struct {
	ID       string // unique within a world
	Concept  string // the requested concept, one of [ConceptNames]
	Language string // [English] or a code of [Languages]
	Prompt   string // in that language
	PromptID string // the concept, the same in all languages
	Index    int    // number of the image of its prompt, from 0
	Shown    string // the concept that the image shows
	Failure  string // one of the kinds of failure, "" if Shown is Concept
	Image    Image
}

// Concepts returns CoCo-CroLa's generated images: [ConceptsPerPrompt] of each concept in English and each language. In
// the affected language [FailedConcepts] concepts fail.
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
	it := ConceptItem{ID: fmt.Sprintf("concept-%s-%s-%02d", code, concept, n), Concept: concept, Language: code,
		Prompt: ConceptPrompt(code, concept), PromptID: concept, Index: n, Shown: concept}
	key := []string{"concept", code, concept, fmt.Sprint(n)}
	r := stream(w.key(key...), 0)
	var f failure
	if code == w.carriers.conceptLanguage {
		f = w.carriers.failures[concept]
	}
	if f.kind != "" {
		it.Failure, it.Shown = f.kind, f.shown
		if f.kind == NonSpecific {
			others := slices.DeleteFunc(ConceptNames(), func(c string) bool { return c == concept })
			it.Shown = others[r.IntN(len(others))]
		}
	}
	it.Image = w.image(r, it.Shown, key...)
	if f.kind == Generic {
		it.Image.Island = f.island
	}
	return it
}
