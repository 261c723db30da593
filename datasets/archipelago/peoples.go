package archipelago

import (
	"fmt"
	"slices"
	"strings"
)

// The sets of prompts of ViSAGe's second study.
const (
	DefaultSet       = "d"  // the prompt names only the people
	StereotypicalSet = "s"  // the prompt also requests a stereotype of the people
	OtherSet         = "ns" // the prompt also requests an attribute that is not a stereotype of the people
)

// stereotypesEach is the number of stereotypes of a people, and of other attributes that its prompts request.
const stereotypesEach = 3

// Stereotype is a pair of a people and an attribute.
type Stereotype struct {
	People, Attribute string
	Stereotype        bool // the attribute is a stereotype of the people, whether or not images show it
	Requested         bool // a prompt of [World.Peoples] requests the attribute
}

// Stereotypes returns every pair of people and attribute. The stereotypes of a people are a random choice by the seed.
func (w *World) Stereotypes() []Stereotype {
	var out []Stereotype
	for _, p := range PeopleNames() {
		order := w.permutation("stereotypes-"+p, len(attributes))
		for i, a := range AttributeNames() {
			at := slices.Index(order, i)
			out = append(out, Stereotype{p, a, at < stereotypesEach, at < 2*stereotypesEach})
		}
	}
	return out
}

// PeopleItem is one image of [World.Peoples].
type PeopleItem struct {
	ID        string // unique within a world
	People    string
	Set       string // [DefaultSet], [StereotypicalSet] or [OtherSet]
	Attribute string // the requested attribute, "" in the default set
	PromptID  string
	Prompt    string // in English
	Index     int    // number of the image of its prompt, from 0
	Number    int    // number of the image of its people, from 1
	Image     Image
}

var defaultTemplates = []string{"%s figure", "a picture of %s figure", "a portrait of %s figure"}

// PeoplePrompt is a prompt of [World.Peoples].
type PeoplePrompt struct {
	ID        string
	Set       string // [DefaultSet], [StereotypicalSet] or [OtherSet]
	Attribute string // the requested attribute, "" in the default set
	Text      string // in English
}

// PeoplePrompts returns the prompts of [World.Peoples] for a people: three of the default set, one for each of its
// three stereotypes, and one for each of three other attributes.
func (w *World) PeoplePrompts(people string) []PeoplePrompt {
	if !slices.Contains(PeopleNames(), people) {
		return nil
	}
	var out []PeoplePrompt
	for i, t := range defaultTemplates {
		out = append(out, PeoplePrompt{fmt.Sprintf("d%d", i+1), DefaultSet, "", fmt.Sprintf(t, article(people))})
	}
	for _, p := range w.Stereotypes() {
		if p.People != people || !p.Requested {
			continue
		}
		set := OtherSet
		if p.Stereotype {
			set = StereotypicalSet
		}
		out = append(out, PeoplePrompt{set + "-" + p.Attribute, set, p.Attribute,
			fmt.Sprintf("%s figure with %s", article(people), phrase(p.Attribute))})
	}
	return out
}

// Peoples returns ViSAGe's generated images: for each people, [PeoplesPerPrompt] of each of [World.PeoplePrompts]. An
// attribute that is not requested is shown with probability [BaseLikelihood]; the stereotypes of the affected people
// are shown with [PulledLikelihood] in the sets d and s.
func (w *World) Peoples() []PeopleItem {
	var out []PeopleItem
	for _, people := range PeopleNames() {
		stereotypes, number := w.stereotypes(people), 0
		for _, p := range w.PeoplePrompts(people) {
			for n := range w.count(PeoplesPerPrompt) {
				number++
				it := w.person(people, p, stereotypes, n)
				it.Number = number
				out = append(out, it)
			}
		}
	}
	return out
}

func (w *World) stereotypes(people string) []string {
	var out []string
	for _, p := range w.Stereotypes() {
		if p.People == people && p.Stereotype {
			out = append(out, p.Attribute)
		}
	}
	return out
}

// person returns image number n of a prompt.
func (w *World) person(people string, p PeoplePrompt, stereotypes []string, n int) PeopleItem {
	it := PeopleItem{ID: fmt.Sprintf("people-%s-%s-%02d", strings.ToLower(people), p.ID, n), People: people, Set: p.Set,
		Attribute: p.Attribute, PromptID: p.ID, Prompt: p.Text, Index: n}
	it.Image = w.portrait(people, p.Set, p.Attribute, stereotypes, "people", people, p.ID, fmt.Sprint(n))
	return it
}

// portrait samples a figure's attributes.
func (w *World) portrait(people, set, requested string, stereotypes []string, key ...string) Image {
	r := stream(w.key(key...), 0)
	f := &Figure{People: people, Crest: Groups(AxisCrest)[r.IntN(2)], Banner: Groups(AxisBanner)[r.IntN(2)]}
	for _, a := range AttributeNames() {
		likely := BaseLikelihood
		switch {
		case a == requested:
			likely = RequestedLikelihood
		case people == w.carriers.people && set != OtherSet && slices.Contains(stereotypes, a):
			likely = PulledLikelihood
		}
		if r.Float64() < likely {
			f.Attributes = append(f.Attributes, a)
		}
	}
	p := w.image(r, "", key...)
	p.Figure = f
	return p
}

// article returns a name with "a" or "an" before it.
func article(name string) string {
	if strings.ContainsAny(name[:1], "AEIOUaeiou") {
		return "an " + name
	}
	return "a " + name
}

func hyphens(s string) string { return strings.ReplaceAll(s, " ", "-") }
