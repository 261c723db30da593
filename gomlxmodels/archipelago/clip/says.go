package clip

import (
	"math/rand/v2"
	"slices"
	"strings"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/examples"
)

// Sentence is a text and what it says of a picture. What is empty is not said.
type Sentence struct {
	Text                                        string
	Thing, Figured                              bool // that there is a thing, that there is a figure
	Object, Form, Scene, Island                 string
	People, Occupation, Ceremony, Crest, Banner string
	Attributes                                  []string
}

// True says whether a picture shows all that the sentence says. It may show more.
func (s *Sentence) True(p archipelago.Picture) bool {
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
	return holds(s.People, f.People) && holds(s.Occupation, f.Occupation) && holds(s.Ceremony, f.Ceremony) && holds(s.Crest, f.Crest) && holds(s.Banner, f.Banner)
}

// Caption is a picture's caption in a language; crest and banner have no words in it.
func Caption(p archipelago.Picture, language string) Sentence {
	s := Sentence{Text: p.CaptionIn(language)}
	if f := p.Figure; f != nil {
		s.Figured, s.People, s.Occupation, s.Ceremony, s.Attributes = true, f.People, f.Occupation, f.Ceremony, f.Attributes
		return s
	}
	s.Object, s.Form, s.Scene, s.Island = p.Object, p.Variant, p.Scene, p.Island
	return s
}

// OfGroup is the English sentence about a group of an axis: "a figure with a round crest".
func OfGroup(axis, group string) Sentence {
	s := Sentence{Text: "a figure with a " + group + " " + axis, Figured: true}
	if axis == archipelago.AxisCrest {
		s.Crest = group
	} else {
		s.Banner = group
	}
	return s
}

// Present asks whether an object is there, as the stage segment does.
func Present(object string) Sentence {
	return Sentence{Text: strings.Replace(gomlxmodels.PresencePrompt, "%s", object, 1), Object: object}
}

// occupationPrompts are the prompts of the audit by occupation, by what they ask for.
var occupationPrompts = func() map[string][]string {
	out := map[string][]string{}
	for _, it := range archipelago.New(archipelago.Options{PerCell: 1}).Occupations() {
		out[it.Attribute] = append(out[it.Attribute], it.Prompt)
	}
	return out
}()

// peoplePrompts are the default prompts of the audit by people.
var peoplePrompts = func() map[string][]string {
	out := map[string][]string{}
	for _, it := range archipelago.New(archipelago.Options{PerCell: 1}).Peoples() {
		if it.Set == archipelago.DefaultSet {
			out[it.People] = append(out[it.People], it.Prompt)
		}
	}
	return out
}()

// Say draws a short sentence that is true of a picture: a word, a prompt of an audit, a sentence about crest or banner.
func Say(r *rand.Rand, p archipelago.Picture) Sentence {
	language := pick(r, examples.Codes())
	if r.IntN(5) == 0 { // what every picture has
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
	s.Text = archipelago.Say(language, kind, english)
	return s
}

func sayThing(r *rand.Rand, p archipelago.Picture, language string) Sentence {
	o := Sentence{Object: p.Object}
	switch r.IntN(7) {
	case 0:
		o.Text, o.Island = p.Object+" in "+p.Island, p.Island // a prompt of the audit by region
	case 1:
		return word(language, "form", Sentence{Form: p.Variant}, p.Variant)
	case 2:
		return word(language, "thing", o, p.Object)
	case 3:
		return Present(p.Object)
	case 4:
		return Sentence{Text: pick(r, []string{"an object", "a picture of an object", "a photo of an object"}), Thing: true}
	default:
		o.Text = archipelago.ConceptPrompt(language, p.Object)
	}
	return o
}

func sayFigure(r *rand.Rand, p archipelago.Picture, language string) Sentence {
	f := p.Figure
	switch does := f.Occupation + f.Ceremony; r.IntN(8) {
	case 0, 1:
		return OfGroup(archipelago.AxisCrest, f.Crest)
	case 2, 3:
		return OfGroup(archipelago.AxisBanner, f.Banner)
	case 4:
		return Sentence{Text: pick(r, peoplePrompts[f.People]), Figured: true, People: f.People}
	case 5:
		if does != "" {
			return Sentence{Text: pick(r, occupationPrompts[does]), Figured: true, Occupation: f.Occupation, Ceremony: f.Ceremony}
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
			a := pick(r, f.Attributes)
			return word(language, "attribute", Sentence{Attributes: []string{a}}, a)
		}
		return Sentence{Text: pick(r, []string{"a figure", "a picture of a figure", "a photo of a figure"}), Figured: true}
	}
	part := *f // a caption that leaves something out
	part.Attributes = slices.DeleteFunc(slices.Clone(f.Attributes), func(string) bool { return r.IntN(2) == 0 })
	if r.IntN(2) == 0 {
		part.Occupation, part.Ceremony = "", ""
	}
	return Caption(archipelago.Picture{Figure: &part}, language)
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
