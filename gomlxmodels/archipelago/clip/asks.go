package clip

import (
	"math/rand/v2"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/examples"
)

// class is a question with one right answer, and the texts that name each answer.
type class struct {
	name    string
	kind    string // the pictures that scores ask
	answers []string
	text    func(language, answer string) string // "" where the language has none
	truth   func(p archipelago.Picture) string   // "" = the picture is not asked
}

// classes are the questions, in the order of inputs and reports.
var classes = []class{
	{"object", examples.Thing, examples.World.Objects(), archipelago.ConceptPrompt, func(p archipelago.Picture) string { return p.Object }},
	{"scene", examples.Thing, examples.World.Scenes(), archipelago.ConceptPrompt, func(p archipelago.Picture) string { return p.Scene }},
	{"island", examples.Thing, examples.World.Islands(), say("island"), func(p archipelago.Picture) string { return p.Island }},
	{"people", examples.Figure, archipelago.PeopleNames(), say("people"), ofFigure(func(f *archipelago.Figure) string { return f.People })},
	{"occupation", examples.Figure, archipelago.OccupationNames(), say("occupation"), ofFigure(func(f *archipelago.Figure) string { return f.Occupation })},
	{"ceremony", examples.Figure, archipelago.CeremonyNames(), say("ceremony"), ofFigure(func(f *archipelago.Figure) string { return f.Ceremony })},
	{"crest", examples.Figure, archipelago.Groups(archipelago.AxisCrest), sign(archipelago.AxisCrest), ofFigure(func(f *archipelago.Figure) string { return f.Crest })},
	{"banner", examples.Figure, archipelago.Groups(archipelago.AxisBanner), sign(archipelago.AxisBanner), ofFigure(func(f *archipelago.Figure) string { return f.Banner })},
}

func say(kind string) func(language, answer string) string {
	return func(language, answer string) string { return archipelago.Say(language, kind, answer) }
}

// sign is the sentence about a group of an axis, which English alone has.
func sign(axis string) func(language, answer string) string {
	return func(language, answer string) string {
		if language != archipelago.English {
			return ""
		}
		return OfGroup(axis, answer).Text
	}
}

func ofFigure(of func(*archipelago.Figure) string) func(archipelago.Picture) string {
	return func(p archipelago.Picture) string {
		if p.Figure == nil {
			return ""
		}
		return of(p.Figure)
	}
}

// The texts that yes-or-no questions are held against: about attributes, and about objects.
const (
	plainFigure = "a figure"
	plainPhoto  = gomlxmodels.NeutralPrompt
)

// askedLength is the number of tokens of a question in training; none is longer.
const askedLength = 12

// askedTexts are the questions of a step: the answers of each class, each class in a language of its own; the attributes and plainFigure; the
// objects and plainPhoto.
func askedTexts(r *rand.Rand) []string {
	var out []string
	for _, c := range classes {
		language := pick(r, examples.Codes())
		if c.text(language, c.answers[0]) == "" {
			language = archipelago.English
		}
		for _, a := range c.answers {
			out = append(out, c.text(language, a))
		}
	}
	language := pick(r, examples.Codes())
	for _, a := range archipelago.AttributeNames() {
		out = append(out, archipelago.Say(language, "attribute", a))
	}
	out = append(out, plainFigure)
	for _, o := range examples.World.Objects() {
		out = append(out, Present(o).Text)
	}
	return append(out, plainPhoto)
}
