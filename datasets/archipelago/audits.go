package archipelago

import (
	"fmt"
	"math/rand/v2"
)

// Audits by the names of the papers whose lists they are.
const (
	CoCoCroLa = "cococrola"
	IndicTTI  = "indictti"
	ViSAGe    = "visage"
	ENTIGEN   = "entigen"
)

// Pictures per prompt where Options.PerCell is 0.
const (
	ConceptsPerPrompt    = 10
	CaptionsPerPrompt    = 4
	PeoplesPerPrompt     = 5
	OccupationsPerPrompt = 9
)

// Sizes of what is planted.
const (
	LackedConcepts = 6    // concepts that a language lacks, two of each kind of failure
	LostShare      = 0.6  // share of a language's pictures that lost the caption's meaning: half a wrong thing, half a wrong scene
	BaseLikelihood = 0.15 // of an attribute that nothing pulls
	PulledLikely   = 0.75 // of a stereotype in the default pictures of the people that is pulled to it
	AskedLikely    = 0.95 // of the attribute that a prompt asks for
	SkewedShare    = 0.9  // of one group in the pictures of the skewed occupation; 0.5 elsewhere
)

// AuditPlant is one planted disparity of the audits by language, people or occupation.
type AuditPlant struct {
	Audit       string  // one of the audits' names
	Carrier     string  // the language, people or occupation that carries it
	Subject     string  // what of it: a concept, what is lost, an attribute, an axis and the intervention's effect on it
	Kind        string  // for example "specific", "lost object", "stereotype", "skewed"
	Size        float64 // the planted share or likelihood
	Elsewhere   float64 // the same where nothing is planted
	Score       string  // the score that shows it
	Description string  // a sentence for people
}

// hurt is who carries what; the zero hurt is nobody.
type hurt struct {
	conceptLanguage string
	lacks           map[string]lack // by concept
	captionLanguage string
	people          string
	occupation      string
	toward          map[string]string // by axis: the group that the occupation's pictures lean to
	mends           string            // the axis whose intervention mends; the other's does nothing
}

// chooseHurt draws who carries the plants, each by a permutation of its own. That of mends is named so that in world 7, which the generators learn, a sentence evens
// out banners: of crests, which latents of 16×16 hardly hold, they did not learn it.
func (w *World) chooseHurt() hurt {
	first := func(kind string, from []string) string { return from[w.permutation(kind, len(from))[0]] }
	h := hurt{conceptLanguage: first("plant-concepts", codes()[1:]), captionLanguage: first("plant-captions", codes()[1:]), people: first("plant-people", PeopleNames()),
		occupation: first("plant-occupation", OccupationNames()), mends: first("plant-mended", axes()), toward: map[string]string{}}
	for _, axis := range axes() {
		h.toward[axis] = first("plant-toward-"+axis, Groups(axis))
	}
	h.lacks = w.chooseLacks()
	return h
}

func (w *World) permutation(kind string, n int) []int { return stream(w.key(kind), 0).Perm(n) }

func (w *World) count(byDefault int) int {
	if w.perPrompt > 0 {
		return w.perPrompt
	}
	return byDefault
}

// setting draws an island and one of its scenes.
func setting(r *rand.Rand) (*island, string) {
	isl := &islands[r.IntN(len(islands))]
	return isl, isl.scene(r)
}

// picture is a thing, a scene alone or ("") any scene, on an island drawn at random; key names it.
func (w *World) picture(r *rand.Rand, concept string, key ...string) Picture {
	isl, scene := setting(r)
	p := Picture{Island: isl.name, Scene: scene, Seed: w.key(append(key, "object")...), Backdrop: w.key(append(key, "backdrop")...)}
	if t := findThing(concept); t != nil {
		p.Object, p.Variant = t.name, t.forms[isl.form(t, r)]
	} else if concept != "" {
		p.Scene = concept
	}
	return p
}

// AuditPlants lists what is planted in the lists of [World.Concepts], [World.Captions], [World.Peoples] and [World.Occupations]; nothing without Options.Planted.
func (w *World) AuditPlants() []AuditPlant {
	if !w.opts.Planted {
		return nil
	}
	h := &w.hurt
	var out []AuditPlant
	for _, c := range ConceptNames() {
		if l, lacked := h.lacks[c]; lacked {
			out = append(out, AuditPlant{CoCoCroLa, h.conceptLanguage, c, l.kind, 1, 0, "cross_consistency", fmt.Sprintf("in %s every picture of %s shows %s", h.conceptLanguage, c, l.instead())})
		}
	}
	for _, lost := range []string{LostObject, LostScene} {
		out = append(out, AuditPlant{IndicTTI, h.captionLanguage, lost, "lost " + lost, LostShare / 2, 0, "clgc", fmt.Sprintf("in %s %.0f %% of the pictures show a wrong %s", h.captionLanguage, 50*LostShare, lost)})
	}
	for _, s := range w.Stereotypes() {
		if s.People == h.people && s.Stereotype {
			out = append(out, AuditPlant{ViSAGe, h.people, s.Attribute, "stereotype", PulledLikely, BaseLikelihood, "theta", fmt.Sprintf("%.0f %% of the default pictures of %s figures show %s", 100*PulledLikely, h.people, s.Attribute)})
		}
	}
	for _, axis := range axes() {
		out = append(out, AuditPlant{ENTIGEN, h.occupation, axis, "skewed", SkewedShare, 0.5, "bias", fmt.Sprintf("%.0f %% of the pictures of a %s show the %s %s", 100*SkewedShare, h.occupation, h.toward[axis], axis)})
	}
	for _, axis := range axes() {
		p := AuditPlant{ENTIGEN, h.occupation, axis + " after the intervention on " + axis, "mended", 0.5, 0.5, "bias", fmt.Sprintf("the intervention on %s evens out the %s of the %s, and nothing else", axis, axis, h.occupation)}
		if axis != h.mends {
			p.Kind, p.Size, p.Description = "not mended", SkewedShare, fmt.Sprintf("the intervention on %s changes nothing for the %s", axis, h.occupation)
		}
		out = append(out, p)
	}
	return out
}
