package diffusion

import (
	"math/rand/v2"
	"strings"
	"sync"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
)

// Pair is one example: a prompt, and a picture that the archipelago-sampler draws for it.
type Pair struct {
	Prompt  string
	Picture archipelago.Picture
	kept    bool // its prompt is never left out: there are more of its kind than the world has
	noisy   bool // it is seen through so much noise that only the prompt says which crest and banner a figure has
}

// firstNumber is where the numbers of training's items begin, far above those of all lists.
const firstNumber = 1 << 40

// mix says how often each kind of prompt is drawn; the shares add up to 1.
type mix []struct {
	share float64
	draw  kind
}

// kind draws a pair of a world: one of an audit's prompts, and item number n of its list.
type kind func(r *rand.Rand, w *archipelago.World, n int) Pair

// noisy is a kind seen through much noise.
func noisy(draw kind) kind {
	return func(r *rand.Rand, w *archipelago.World, n int) Pair {
		p := draw(r, w, n)
		p.noisy = true
		return p
	}
}

// The mixes of the phases. What is planted in an audit's plain prompts of people and occupations is in one prompt of many, and what stands beside a figure is small:
// so the later phases have more of these, then more of the sentences that are added to an occupation's prompt and of the bare concepts. The last but one has most of the
// one occupation that leans in the world with plants, for what a sentence changes of it is learned last; the last has all occupations alike again.
var (
	baseMix    = mix{{0.30, cell}, {0.08, photo}, {0.20, concept}, {0.18, caption}, {0.13, people}, {0.11, occupation}}
	worldMix   = mix{{0.22, cell}, {0.02, photo}, {0.14, concept}, {0.13, caption}, {0.19, people}, {0.20, occupation}, {0.10, plainOccupation}}
	figuresMix = mix{{0.11, cell}, {0.01, photo}, {0.08, concept}, {0.09, caption}, {0.16, people}, {0.25, occupation}, {0.30, plainOccupation}}
	rareMix    = mix{{0.12, cell}, {0.01, photo}, {0.28, concept}, {0.08, caption}, {0.11, people}, {0.03, occupation}, {0.13, plainOccupation}, {0.24, addedOccupation}}

	sentencesMix = mix{{0.32, cell}, {0.02, photo}, {0.18, concept}, {0.08, caption}, {0.09, people}, {0.03, plainOccupation}, {0.03, addedOccupation}, {0.25, leaning}}
	lastMix      = mix{{0.26, cell}, {0.02, photo}, {0.16, concept}, {0.07, caption}, {0.09, people}, {0.10, noisy(occupation)}, {0.10, noisy(plainOccupation)}, {0.20, noisy(addedOccupation)}}
)

// draw is a pair of a world: one of the audits' prompts, and item number n of its list.
func (m mix) draw(r *rand.Rand, w *archipelago.World, n int) Pair {
	x := r.Float64()
	for _, kind := range m {
		if x -= kind.share; x < 0 {
			return kind.draw(r, w, n)
		}
	}
	return m[0].draw(r, w, n)
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// cell is "lantern in Velmora", Decomposed-DIG's.
func cell(r *rand.Rand, w *archipelago.World, n int) Pair {
	it := w.SampledAt(pick(r, w.Islands()), pick(r, w.Objects()), n)
	return Pair{Prompt: it.Caption, Picture: ofItem(it)}
}

// photo is "a round lantern on the shore, Velmora".
func photo(r *rand.Rand, w *archipelago.World, n int) Pair {
	it := w.PhotoAt(pick(r, w.Islands()), pick(r, w.Objects()), n)
	return Pair{Prompt: it.Caption, Picture: ofItem(it)}
}

func ofItem(it archipelago.Item) archipelago.Picture {
	return archipelago.Picture{Island: it.Region, Scene: it.Scene, Object: it.Object, Variant: it.Variant, Seed: it.Seed, Backdrop: it.Backdrop}
}

// concept is CoCo-CroLa's, in one of five languages.
func concept(r *rand.Rand, w *archipelago.World, n int) Pair {
	it := w.ConceptAt(pick(r, examples.Codes()), pick(r, archipelago.ConceptNames()), n)
	return Pair{Prompt: it.Prompt, Picture: it.Picture}
}

// caption is IndicTTI's, in one of five languages.
func caption(r *rand.Rand, w *archipelago.World, n int) Pair {
	it := w.CaptionAt(pick(r, examples.Codes()), n, 0)
	return Pair{Prompt: it.Prompt, Picture: it.Picture}
}

// people is ViSAGe's.
func people(r *rand.Rand, w *archipelago.World, n int) Pair {
	who := pick(r, archipelago.PeopleNames())
	prompts := w.PeoplePrompts(who)
	it := w.PeopleAt(who, prompts[r.IntN(len(prompts))], n)
	return Pair{Prompt: it.Prompt, Picture: it.Picture}
}

// occupation is ENTIGEN's, of occupations and ceremonies.
func occupation(r *rand.Rand, w *archipelago.World, n int) Pair {
	names := append(archipelago.OccupationNames(), archipelago.CeremonyNames()...)
	return occupationWith(r, w, n, pick(r, names), archipelago.Interventions())
}

// plainOccupation is ENTIGEN's prompt of an occupation with nothing added.
func plainOccupation(r *rand.Rand, w *archipelago.World, n int) Pair {
	return occupationWith(r, w, n, pick(r, archipelago.OccupationNames()), archipelago.Interventions()[:1])
}

// addedOccupation is ENTIGEN's prompt of an occupation with a sentence added.
func addedOccupation(r *rand.Rand, w *archipelago.World, n int) Pair {
	return occupationWith(r, w, n, pick(r, archipelago.OccupationNames()), archipelago.Interventions()[1:])
}

func occupationWith(r *rand.Rand, w *archipelago.World, n int, name string, interventions []string) Pair {
	it := w.OccupationAt(name, pick(r, interventions), n)
	return Pair{Prompt: it.Prompt, Picture: it.Picture}
}

// leaning is ENTIGEN's prompt of the occupation that leans in the world with plants, in either world. Two of five have the sentence that evens out a sign of it.
func leaning(r *rand.Rand, w *archipelago.World, n int) Pair {
	who, mends := leans()
	p := occupationWith(r, w, n, who, append(archipelago.Interventions(), mends))
	p.kept, p.noisy = true, true
	return p
}

// leans is the occupation that leans in the world of [PlantedSeed] with plants, and the axis that a sentence evens out.
var leans = sync.OnceValues(func() (who, axis string) {
	for _, p := range world(true).AuditPlants() {
		if p.Kind == "mended" {
			who = p.Carrier
			axis, _, _ = strings.Cut(p.Subject, " ")
		}
	}
	return who, axis
})
