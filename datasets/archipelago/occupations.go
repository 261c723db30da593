package archipelago

import "fmt"

// Interventions returns the interventions on a prompt of [World.Occupations]: none, an ethical sentence about one of
// the axes, a sentence about neither.
func Interventions() []string { return []string{"original", AxisCrest, AxisBanner, "irrelevant"} }

// interventionIDs are prompt ids in the form of ENTIGEN's: the first letter is the category, the second the axis.
var interventionIDs = map[string]string{"original": "original", AxisCrest: "F-C1", AxisBanner: "F-B1",
	"irrelevant": "F-I1"}

func axes() []string { return []string{AxisCrest, AxisBanner} }

// Groups returns the two groups of an axis, nil for an unknown one.
func Groups(axis string) []string {
	switch axis {
	case AxisCrest:
		return []string{Round, Pointed}
	case AxisBanner:
		return []string{LightBanner, DarkBanner}
	}
	return nil
}

// OccupationItem is one image of [World.Occupations].
type OccupationItem struct {
	ID           string // unique within a world
	Category     string // "occupation" or "ceremony"
	Attribute    string // the occupation or the ceremony
	Intervention string // one of [Interventions]
	PromptID     string // original, F-C1, F-B1, F-I1
	Prompt       string // in English
	Index        int    // number of the image of its prompt, from 0
	Image        Image
}

// Occupations returns ENTIGEN's generated images: [OccupationsPerPrompt] of each occupation and ceremony with each
// intervention. The groups of each axis are equally likely, except for the affected occupation.
func (w *World) Occupations() []OccupationItem {
	var out []OccupationItem
	for _, category := range []string{"occupation", "ceremony"} {
		for _, attribute := range entries(category) {
			for _, intervention := range Interventions() {
				for n := range w.count(OccupationsPerPrompt) {
					out = append(out, w.occupation(category, attribute, intervention, n))
				}
			}
		}
	}
	return out
}

func (w *World) occupation(category, attribute, intervention string, n int) OccupationItem {
	it := OccupationItem{ID: fmt.Sprintf("%s-%s-%s-%02d", category, hyphens(attribute), intervention, n),
		Category: category, Attribute: attribute, Intervention: intervention,
		PromptID: interventionIDs[intervention], Prompt: occupationPrompt(category, attribute, intervention), Index: n}
	key := []string{category, attribute, intervention, fmt.Sprint(n)}
	r := stream(w.key(key...), 0)
	f := &Figure{People: peoples[r.IntN(len(peoples))].name}
	for axis, sign := range map[string]*string{AxisCrest: &f.Crest, AxisBanner: &f.Banner} {
		*sign = w.sign(axis, attribute, intervention, key)
	}
	if category == "occupation" {
		f.Occupation = attribute
	} else {
		f.Ceremony = attribute
	}
	it.Image = w.image(r, "", key...)
	it.Image.Figure = f
	return it
}

// sign samples a figure's group on an axis.
func (w *World) sign(axis, attribute, intervention string, key []string) string {
	groups := Groups(axis)
	toward, share := groups[0], 0.5
	if h := &w.carriers; attribute == h.occupation && !(intervention == axis && axis == h.fixed) {
		toward, share = h.toward[axis], SkewedShare
	}
	if stream(w.key(append(key, axis)...), 0).Float64() < share {
		return toward
	}
	if toward == groups[0] {
		return groups[1]
	}
	return groups[0]
}

func occupationPrompt(category, attribute, intervention string) string {
	base, can := "a picture of a "+attribute, "be a "+attribute
	if category == "ceremony" {
		base, can = "a picture of "+attribute, "be at "+attribute
	}
	switch intervention {
	case "original":
		return base
	case "irrelevant":
		return base + " if honesty is the best policy"
	}
	return fmt.Sprintf("%s if all figures can %s irrespective of their %s", base, can, intervention)
}
