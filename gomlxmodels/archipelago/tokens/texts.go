package tokens

import (
	"slices"
	"strings"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/examples"
)

// Texts returns the texts of the world, sorted, without duplicates: every word of the lexicon, every caption of an
// object or scene, captions of figures with each of their properties, and the prompts of all audits.
func Texts() []string {
	out := signs()
	for _, w := range archipelago.Lexicon() {
		out = append(out, w.Word)
	}
	w := archipelago.New(archipelago.Options{PerCell: 1})
	for _, code := range examples.Codes() {
		for _, c := range archipelago.ConceptNames() {
			out = append(out, archipelago.ConceptWord(code, c), archipelago.ConceptPrompt(code, c))
		}
		for _, p := range scenery(w) {
			out = append(out, p.CaptionIn(code))
		}
		for _, p := range figures() {
			out = append(out, p.CaptionIn(code))
		}
	}
	for _, it := range w.Sampled() {
		out = append(out, it.Caption)
	}
	for _, it := range w.Peoples() { // the requested attributes depend on the seed
		for _, a := range archipelago.AttributeNames() {
			prompt := strings.ReplaceAll(it.Prompt, it.Attribute, a)
			if it.Attribute == "" {
				prompt = it.Prompt
			}
			out = append(out, prompt)
		}
	}
	for _, it := range w.Occupations() {
		out = append(out, it.Prompt)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

// scenery returns every scene of every island, without object and with every object in every form.
func scenery(w *archipelago.World) []archipelago.Image {
	var out []archipelago.Image
	for _, island := range w.Islands() {
		for _, scene := range w.Scenes() {
			out = append(out, archipelago.Image{Island: island, Scene: scene})
			for _, o := range w.Objects() {
				seen, unseen := archipelago.Variants(o)
				for _, form := range slices.Concat(seen, unseen) {
					out = append(out, archipelago.Image{Island: island, Scene: scene, Object: o, Variant: form})
				}
			}
		}
	}
	return out
}

// figures returns each people with each occupation and ceremony, with each attribute, and with pairs of attributes.
func figures() []archipelago.Image {
	var out []archipelago.Image
	add := func(f archipelago.Figure) { out = append(out, archipelago.Image{Figure: &f}) }
	attributes := archipelago.AttributeNames()
	for _, people := range archipelago.PeopleNames() {
		add(archipelago.Figure{People: people})
		for i, a := range attributes {
			add(archipelago.Figure{People: people, Attributes: []string{a}})
			add(archipelago.Figure{People: people, Attributes: attributes[i:min(i+2, len(attributes))]})
		}
		for _, o := range archipelago.OccupationNames() {
			add(archipelago.Figure{People: people, Occupation: o, Attributes: attributes[:5]})
		}
		for _, c := range archipelago.CeremonyNames() {
			add(archipelago.Figure{People: people, Ceremony: c, Attributes: attributes[5:10]})
		}
	}
	return out
}

// signs returns texts that the world's lists do not contain: about crest and banner, and for segmentation.
func signs() []string {
	out := []string{gomlxmodels.NeutralPrompt, "a figure", "an object", "the object", "the background", "a thing",
		"a scene", "an island", "a people", "a photo of the object", "a picture of a figure", "no figure", "nothing"}
	for _, axis := range []string{archipelago.AxisCrest, archipelago.AxisBanner} {
		for _, g := range archipelago.Groups(axis) {
			out = append(out, "a figure with a "+g+" "+axis, "a picture of a figure with a "+g+" "+axis)
		}
	}
	for _, c := range archipelago.ConceptNames() {
		out = append(out, strings.Replace(gomlxmodels.PresencePrompt, "%s", c, 1))
	}
	return out
}
