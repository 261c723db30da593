package archipelago

import "slices"

// The functions below return item number n of a list for any n ≥ 0, also beyond the end of the list: further items have
// the same distribution. Models trained on items with numbers far above those of the lists have seen none of the lists'
// images. An unknown name returns the zero item.

// SampledAt returns item number n of [World.Sampled] for an island and an object.
func (w *World) SampledAt(island, object string, n int) Item {
	return w.itemAt(Generated, island, object, n)
}

// ReferenceAt returns item number n of [World.Reference] for an island and an object.
func (w *World) ReferenceAt(island, object string, n int) Item {
	return w.itemAt(Real, island, object, n)
}

func (w *World) itemAt(source, island, object string, n int) Item {
	isl, t := findIsland(island), findThing(object)
	if isl == nil || t == nil {
		return Item{}
	}
	return w.item(source, isl, t, n)
}

// ConceptAt returns item number n of [World.Concepts] for a prompt.
func (w *World) ConceptAt(language, concept string, n int) ConceptItem {
	if ConceptPrompt(language, concept) == "" {
		return ConceptItem{}
	}
	return w.concept(language, concept, n)
}

// CaptionAt returns item number n of [World.Captions] for caption number k in a language.
func (w *World) CaptionAt(language string, k, n int) CaptionItem {
	if !slices.Contains(codes(), language) {
		return CaptionItem{}
	}
	if k < CaptionPrompts {
		return w.captioned(w.CaptionReferences()[k], language, n)
	}
	return w.captioned(w.reference(k, func(string) bool { return false }), language, n)
}

// PeopleAt returns item number n of [World.Peoples] for a prompt of [World.PeoplePrompts]; its Number is 0.
func (w *World) PeopleAt(people string, prompt PeoplePrompt, n int) PeopleItem {
	if !slices.Contains(PeopleNames(), people) {
		return PeopleItem{}
	}
	return w.person(people, prompt, w.stereotypes(people), n)
}

// OccupationAt returns item number n of [World.Occupations] for an attribute (an occupation or a ceremony) and an
// intervention.
func (w *World) OccupationAt(attribute, intervention string, n int) OccupationItem {
	for _, category := range []string{"occupation", "ceremony"} {
		if slices.Contains(entries(category), attribute) && slices.Contains(Interventions(), intervention) {
			return w.occupation(category, attribute, intervention, n)
		}
	}
	return OccupationItem{}
}
