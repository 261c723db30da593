package archipelago

import (
	"fmt"
	"math/rand/v2"
)

// The audits that [World.AuditDisparities] names.
const (
	CoCoCroLa = "cococrola"
	IndicTTI  = "indictti"
	ViSAGe    = "visage"
	ENTIGEN   = "entigen"
)

// Images per prompt if Options.PerCell is 0.
const (
	ConceptsPerPrompt    = 10
	CaptionsPerPrompt    = 4
	PeoplesPerPrompt     = 5
	OccupationsPerPrompt = 9
)

// Sizes of the injected disparities.
const (
	FailedConcepts      = 6    // concepts that fail in the affected language, two of each kind of failure
	LostShare           = 0.6  // share of the affected language's images that show a wrong object or scene, half each
	BaseLikelihood      = 0.15 // of an attribute that is neither requested nor a pulled stereotype
	PulledLikelihood    = 0.75 // of a stereotype in the default images of the affected people
	RequestedLikelihood = 0.95 // of the attribute that a prompt requests
	SkewedShare         = 0.9  // of one group in the images of the affected occupation; 0.5 elsewhere
)

// AuditDisparity is one injected disparity of the audits by language, people or occupation.
type AuditDisparity struct {
	Audit   string // one of the audits' names
	Carrier string // the affected language, people or occupation
	// Subject is the concept, the lost part of the caption, the attribute, or the axis with the intervention on it.
	Subject     string
	Kind        string  // for example "specific", "lost object", "stereotype", "skewed"
	Size        float64 // the injected share or likelihood
	Elsewhere   float64 // the same without an injected disparity
	Score       string  // the score that shows it
	Description string  // one sentence
}

// carriers are the affected languages, people and occupation; the zero value is none.
type carriers struct {
	conceptLanguage string
	failures        map[string]failure // by concept
	captionLanguage string
	people          string
	occupation      string
	toward          map[string]string // by axis: the group that most images of the occupation show
	// the axis whose intervention removes the skew; the other intervention has no effect
	fixed string
}

// chooseCarriers samples the carriers, each with its own random stream. The stream "plant-mended" selects the banner in
// world 7, whose images train the shipped generators: latents of 16×16 hardly represent crests.
func (w *World) chooseCarriers() carriers {
	first := func(kind string, from []string) string { return from[w.permutation(kind, len(from))[0]] }
	c := carriers{conceptLanguage: first("plant-concepts", codes()[1:]),
		captionLanguage: first("plant-captions", codes()[1:]), people: first("plant-people", PeopleNames()),
		occupation: first("plant-occupation", OccupationNames()), fixed: first("plant-mended", axes()),
		toward: map[string]string{}}
	for _, axis := range axes() {
		c.toward[axis] = first("plant-toward-"+axis, Groups(axis))
	}
	c.failures = w.chooseFailures()
	return c
}

func (w *World) permutation(kind string, n int) []int { return stream(w.key(kind), 0).Perm(n) }

func (w *World) count(byDefault int) int {
	if w.perPrompt > 0 {
		return w.perPrompt
	}
	return byDefault
}

// image returns an image of a concept (an object, a scene, or "" for any scene) on a random island. key identifies it.
func (w *World) image(r *rand.Rand, concept string, key ...string) Image {
	isl := &islands[r.IntN(len(islands))]
	p := Image{Island: isl.name, Scene: isl.scene(r), Seed: w.key(append(key, "object")...),
		Backdrop: w.key(append(key, "backdrop")...)}
	if t := findThing(concept); t != nil {
		p.Object, p.Variant = t.name, t.forms[isl.form(t, r)]
	} else if concept != "" {
		p.Scene = concept
	}
	return p
}

// AuditDisparities returns the disparities of [World.Concepts], [World.Captions], [World.Peoples] and
// [World.Occupations]; none without Options.Injected.
func (w *World) AuditDisparities() []AuditDisparity {
	if !w.opts.Injected {
		return nil
	}
	h := &w.carriers
	var out []AuditDisparity
	for _, c := range ConceptNames() {
		if f, failed := h.failures[c]; failed {
			out = append(out, AuditDisparity{CoCoCroLa, h.conceptLanguage, c, f.kind, 1, 0, "cross_consistency",
				fmt.Sprintf("in %s every image of %s shows %s", h.conceptLanguage, c, f.instead())})
		}
	}
	for _, lost := range []string{LostObject, LostScene} {
		out = append(out, AuditDisparity{IndicTTI, h.captionLanguage, lost, "lost " + lost, LostShare / 2, 0, "clgc",
			fmt.Sprintf("in %s %.0f %% of the images show a wrong %s", h.captionLanguage, 50*LostShare, lost)})
	}
	for _, s := range w.Stereotypes() {
		if s.People == h.people && s.Stereotype {
			out = append(out, AuditDisparity{ViSAGe, h.people, s.Attribute, "stereotype", PulledLikelihood,
				BaseLikelihood,
				"theta", fmt.Sprintf("%.0f %% of the default images of %s figures show %s", 100*PulledLikelihood,
					h.people, s.Attribute)})
		}
	}
	for _, axis := range axes() {
		out = append(out, AuditDisparity{ENTIGEN, h.occupation, axis, "skewed", SkewedShare, 0.5, "bias",
			fmt.Sprintf("%.0f %% of the images of a %s show the %s %s", 100*SkewedShare, h.occupation, h.toward[axis],
				axis)})
	}
	for _, axis := range axes() {
		p := AuditDisparity{ENTIGEN, h.occupation, axis + " after the intervention on " + axis, "fixed", 0.5, 0.5,
			"bias",
			fmt.Sprintf("the intervention on %s removes the skew of the %s of the %s, and of nothing else", axis, axis,
				h.occupation)}
		if axis != h.fixed {
			p.Kind, p.Size, p.Description = "not fixed", SkewedShare,
				fmt.Sprintf("the intervention on %s changes nothing for the %s", axis, h.occupation)
		}
		out = append(out, p)
	}
	return out
}
