package clip

import (
	"math/rand/v2"
	"slices"
	"strings"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/examples"
)

// Sentence is a text and the properties of an image that it states. Empty fields are not stated.
type Sentence struct {
	Text                                        string
	Thing, Figured                              bool // that the image shows an object, a figure
	Object, Form, Scene, Island                 string
	People, Occupation, Ceremony, Crest, Banner string
	Attributes                                  []string
}

// True reports whether an image has all stated properties.
func (s *Sentence) True(p archipelago.Image) bool {
	f := p.Figure
	thing := p.Object != "" && f == nil
	holds := func(said, shown string) bool { return said == "" || said == shown }
	if s.Thing && !thing || s.Figured && f == nil || !holds(s.Scene, p.Scene) || !holds(s.Island, p.Island) {
		return false
	}
	if (s.Object != "" || s.Form != "") && !(thing && holds(s.Object, p.Object) && holds(s.Form, p.Variant)) {
		return false
	}
	if f == nil {
		return s.People+s.Occupation+s.Ceremony+s.Crest+s.Banner == "" && len(s.Attributes) == 0
	}
	for _, a := range s.Attributes {
		if !slices.Contains(f.Attributes, a) {
			return false
		}
	}
	return holds(s.People, f.People) && holds(s.Occupation, f.Occupation) && holds(s.Ceremony, f.Ceremony) &&
		holds(s.Crest, f.Crest) && holds(s.Banner, f.Banner)
}

// Caption returns an image's caption in a language. It does not name crest and banner.
func Caption(p archipelago.Image, language string) Sentence {
	s := Sentence{Text: p.CaptionIn(language)}
	if f := p.Figure; f != nil {
		s.Figured, s.People, s.Occupation, s.Ceremony, s.Attributes = true, f.People, f.Occupation, f.Ceremony,
			f.Attributes
		return s
	}
	s.Object, s.Form, s.Scene, s.Island = p.Object, p.Variant, p.Scene, p.Island
	return s
}

// ofGroup returns the English sentence about a group of an axis: "a figure with a round crest".
func ofGroup(axis, group string) Sentence {
	s := Sentence{Text: "a figure with a " + group + " " + axis, Figured: true}
	if axis == archipelago.AxisCrest {
		s.Crest = group
	} else {
		s.Banner = group
	}
	return s
}

// Present returns the sentence that an object is present, the prompt of the stage segment.
func Present(object string) Sentence {
	return Sentence{Text: strings.Replace(gomlxmodels.PresencePrompt, "%s", object, 1), Object: object}
}

// occupationPrompts are the prompts of the audit by occupation, by occupation or ceremony.
var occupationPrompts = func() map[string][]string {
	out := map[string][]string{}
	for _, it := range archipelago.New(archipelago.Options{PerCell: 1}).Occupations() {
		out[it.Attribute] = append(out[it.Attribute], it.Prompt)
	}
	return out
}()

// peoplePrompts are the default prompts of the audit by people, by people.
var peoplePrompts = func() map[string][]string {
	out := map[string][]string{}
	for _, it := range archipelago.New(archipelago.Options{PerCell: 1}).Peoples() {
		if it.Set == archipelago.DefaultSet {
			out[it.People] = append(out[it.People], it.Prompt)
		}
	}
	return out
}()

// say samples a short sentence that is true of an image: a word, a prompt of an audit, a sentence about crest or
// banner.
func say(r *rand.Rand, p archipelago.Image) Sentence {
	language := examples.Pick(r, examples.Codes())
	if r.IntN(5) == 0 { // a property of every image
		switch r.IntN(3) {
		case 0:
			return word(language, "island", Sentence{Island: p.Island}, p.Island)
		case 1:
			return word(language, "scene", Sentence{Scene: p.Scene}, p.Scene)
		}
		return Sentence{Text: archipelago.ConceptPrompt(language, p.Scene), Scene: p.Scene}
	}
	switch {
	case p.Figure != nil:
		return sayFigure(r, p, language)
	case p.Object != "":
		return sayThing(r, p, language)
	}
	if r.IntN(2) == 0 {
		return Caption(p, language)
	}
	return Sentence{Text: archipelago.ConceptPrompt(language, p.Scene), Scene: p.Scene}
}

func word(language, kind string, s Sentence, english string) Sentence {
	s.Text = archipelago.Translate(language, kind, english)
	return s
}

func sayThing(r *rand.Rand, p archipelago.Image, language string) Sentence {
	o := Sentence{Object: p.Object}
	switch r.IntN(7) {
	case 0:
		o.Text, o.Island = p.Object+" in "+p.Island, p.Island // prompt of the audit by region
	case 1:
		return word(language, "form", Sentence{Form: p.Variant}, p.Variant)
	case 2:
		return word(language, "thing", o, p.Object)
	case 3:
		return Present(p.Object)
	case 4:
		return Sentence{Text: examples.Pick(r, []string{"an object", "a picture of an object", "a photo of an object"}),
			Thing: true}
	default:
		o.Text = archipelago.ConceptPrompt(language, p.Object)
	}
	return o
}

func sayFigure(r *rand.Rand, p archipelago.Image, language string) Sentence {
	f := p.Figure
	switch does := f.Occupation + f.Ceremony; r.IntN(8) {
	case 0, 1:
		return ofGroup(archipelago.AxisCrest, f.Crest)
	case 2, 3:
		return ofGroup(archipelago.AxisBanner, f.Banner)
	case 4:
		return Sentence{Text: examples.Pick(r, peoplePrompts[f.People]), Figured: true, People: f.People}
	case 5:
		if does != "" {
			return Sentence{Text: examples.Pick(r, occupationPrompts[does]), Figured: true, Occupation: f.Occupation,
				Ceremony: f.Ceremony}
		}
	case 6:
		switch at := r.IntN(4); {
		case at == 0:
			return word(language, "people", Sentence{People: f.People}, f.People)
		case at == 1 && f.Occupation != "":
			return word(language, "occupation", Sentence{Occupation: f.Occupation}, f.Occupation)
		case at == 1 && f.Ceremony != "":
			return word(language, "ceremony", Sentence{Ceremony: f.Ceremony}, f.Ceremony)
		case at == 2 && len(f.Attributes) > 0:
			a := examples.Pick(r, f.Attributes)
			return word(language, "attribute", Sentence{Attributes: []string{a}}, a)
		}
		return Sentence{Text: examples.Pick(r, []string{"a figure", "a picture of a figure", "a photo of a figure"}),
			Figured: true}
	}
	part := *f // for a caption without some of the properties
	part.Attributes = slices.DeleteFunc(slices.Clone(f.Attributes), func(string) bool { return r.IntN(2) == 0 })
	if r.IntN(2) == 0 {
		part.Occupation, part.Ceremony = "", ""
	}
	return Caption(archipelago.Image{Figure: &part}, language)
}
