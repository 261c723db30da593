package clip

import (
	"math/rand/v2"
	"slices"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/examples"
)

// classes are the properties that texts can name, in the order of inputs and reports.
var classes = slices.DeleteFunc(slices.Clone(examples.Properties),
	func(q examples.Property) bool { return q.Name == "form" })

// classText returns a text that names a value of a property; "" if the language has none.
func classText(q examples.Property, language, value string) string {
	switch q.Name {
	case "object", "scene":
		return archipelago.ConceptPrompt(language, value)
	case archipelago.AxisCrest, archipelago.AxisBanner:
		if language != archipelago.English {
			return ""
		}
		return ofGroup(q.Name, value).Text
	}
	return archipelago.Translate(language, q.Name, value)
}

// The neutral texts with which yes-or-no questions about attributes and about objects are compared.
const (
	plainFigure = "a figure"
	plainPhoto  = gomlxmodels.NeutralPrompt
)

// askedLength is the sequence length of questions in training; none is longer.
const askedLength = 12

// askedTexts returns the questions of a step: the values of each class, each class in a random language; the attributes
// and plainFigure; the objects and plainPhoto.
func askedTexts(r *rand.Rand) []string {
	var out []string
	for _, c := range classes {
		language := examples.Pick(r, examples.Codes())
		if classText(c, language, c.Values[0]) == "" {
			language = archipelago.English
		}
		for _, a := range c.Values {
			out = append(out, classText(c, language, a))
		}
	}
	language := examples.Pick(r, examples.Codes())
	for _, a := range archipelago.AttributeNames() {
		out = append(out, archipelago.Translate(language, "attribute", a))
	}
	out = append(out, plainFigure)
	for _, o := range examples.World.Objects() {
		out = append(out, Present(o).Text)
	}
	return append(out, plainPhoto)
}
