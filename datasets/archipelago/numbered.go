package archipelago

import "slices"

// The functions below give item number n of a list for any n ≥ 0: for numbers that the list reaches, its own item; above, further ones drawn by the same law. What is
// trained on numbers far above all lists' has seen none of their pictures. A name that this world does not know gives the zero item.

// SampledAt is the item of [World.Sampled] with a number in its cell of island and object.
func (w *World) SampledAt(island, object string, n int) Item {
	return w.itemAt(Generated, island, object, n)
}

// PhotoAt is the item of [World.Photos] with a number in its cell of island and object.
func (w *World) PhotoAt(island, object string, n int) Item {
	return w.itemAt(Real, island, object, n)
}

func (w *World) itemAt(source, island, object string, n int) Item {
	isl, t := findIsland(island), findThing(object)
	if isl == nil || t == nil {
		return Item{}
	}
	return w.item(source, isl, t, n)
}

// ConceptAt is the item of [World.Concepts] with a number among those of its prompt.
func (w *World) ConceptAt(language, concept string, n int) ConceptItem {
	if ConceptPrompt(language, concept) == "" {
		return ConceptItem{}
	}
	return w.concept(language, concept, n)
}

// CaptionAt is the item of [World.Captions] with a number among those of its prompt: caption number k in a language.
func (w *World) CaptionAt(language string, k, n int) CaptionItem {
	if !slices.Contains(codes(), language) {
		return CaptionItem{}
	}
	if k < CaptionPrompts {
		return w.captioned(w.References()[k], language, n)
	}
	return w.captioned(w.reference(k, func(string) bool { return false }), language, n)
}

// PeopleAt is the item of [World.Peoples] with a number among those of its prompt, one of [World.PeoplePrompts]; its Number is 0.
func (w *World) PeopleAt(people string, prompt PeoplePrompt, n int) PeopleItem {
	if !slices.Contains(PeopleNames(), people) {
		return PeopleItem{}
	}
	return w.person(people, prompt, w.said(people), n)
}

// OccupationAt is the item of [World.Occupations] with a number among those of its prompt; attribute is an occupation or a ceremony.
func (w *World) OccupationAt(attribute, intervention string, n int) OccupationItem {
	for _, category := range []string{"occupation", "ceremony"} {
		if slices.Contains(entries(category), attribute) && slices.Contains(Interventions(), intervention) {
			return w.occupation(category, attribute, intervention, n)
		}
	}
	return OccupationItem{}
}
