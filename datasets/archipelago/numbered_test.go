package archipelago

import (
	"reflect"
	"slices"
	"testing"
)

// Items by number are the lists' own where the lists have them, and others above.
func TestItemsByNumber(t *testing.T) {
	const far = 1 << 40
	w := New(Options{Seed: 7, Injected: true, PerCell: 2})
	check := func(listed, numbered, later any, seed, laterSeed uint64) {
		t.Helper()
		if !reflect.DeepEqual(listed, numbered) {
			t.Errorf("the list has %+v, by number it is %+v", listed, numbered)
		}
		if reflect.DeepEqual(listed, later) || seed == laterSeed {
			t.Errorf("%+v is repeated", listed)
		}
	}
	for _, it := range w.Reference() {
		later := w.ReferenceAt(it.Region, it.Object, far+it.Index)
		check(it, w.ReferenceAt(it.Region, it.Object, it.Index), later, it.Seed, later.Seed)
	}
	for _, it := range w.Sampled() {
		later := w.SampledAt(it.Region, it.Object, far+it.Index)
		check(it, w.SampledAt(it.Region, it.Object, it.Index), later, it.Seed, later.Seed)
	}
	for _, it := range w.Concepts() {
		later := w.ConceptAt(it.Language, it.Concept, far+it.Index)
		check(it, w.ConceptAt(it.Language, it.Concept, it.Index), later, it.Image.Seed, later.Image.Seed)
	}
	for i, it := range w.Captions() {
		k := i / 2 % CaptionPrompts
		later := w.CaptionAt(it.Language, far+k, it.Index)
		check(it, w.CaptionAt(it.Language, k, it.Index), later, it.Image.Seed, later.Image.Seed)
		if later.Prompt == "" || later.Image.Island == "" {
			t.Errorf("caption %d in %s: %+v", far+k, it.Language, later)
		}
	}
	for _, it := range w.Peoples() {
		prompts := w.PeoplePrompts(it.People)
		p := prompts[slices.IndexFunc(prompts, func(p PeoplePrompt) bool { return p.ID == it.PromptID })]
		later := w.PeopleAt(it.People, p, far+it.Index)
		it.Number = 0
		check(it, w.PeopleAt(it.People, p, it.Index), later, it.Image.Seed, later.Image.Seed)
	}
	for _, it := range w.Occupations() {
		later := w.OccupationAt(it.Attribute, it.Intervention, far+it.Index)
		check(it, w.OccupationAt(it.Attribute, it.Intervention, it.Index), later, it.Image.Seed, later.Image.Seed)
	}
}

// Unknown names return the zero item.
func TestItemsOfUnknownNames(t *testing.T) {
	w := New(Options{Seed: 7, Injected: true})
	for _, empty := range []bool{
		w.ReferenceAt("Atlantis", "lantern", 0) == Item{}, w.SampledAt("Velmora", "teapot", 0) == Item{},
		reflect.DeepEqual(w.ConceptAt("xx", "lantern", 0), ConceptItem{}),
		reflect.DeepEqual(w.ConceptAt(English, "teapot", 0), ConceptItem{}),
		reflect.DeepEqual(w.CaptionAt("xx", 0, 0), CaptionItem{}), w.PeoplePrompts("Nobody") == nil,
		reflect.DeepEqual(w.PeopleAt("Nobody", PeoplePrompt{}, 0), PeopleItem{}),
		reflect.DeepEqual(w.OccupationAt("baker", "original", 0), OccupationItem{}),
		reflect.DeepEqual(w.OccupationAt("weaver", "none", 0), OccupationItem{}),
	} {
		if !empty {
			t.Error("an unknown name returns an item")
		}
	}
}
