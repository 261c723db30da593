package diffusion

import (
	"math/rand/v2"
	"strings"
	"sync"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
)

// pair is a training example: a prompt and an image that archipelago-sampler draws for it.
type pair struct {
	Prompt string
	Image  archipelago.Image
	kept   bool // the prompt is never dropped for classifier-free guidance
	noisy  bool // the timestep is in the range above undecided
}

// firstNumber is the number of the first item of training, far above those in the lists of the world.
const firstNumber = 1 << 40

// mix is a distribution over kinds of prompts; the shares add up to 1.
type mix []struct {
	share float64
	draw  kind
}

// kind samples a prompt of an audit and returns item n of its list in a world.
type kind func(r *rand.Rand, w *archipelago.World, n int) pair

// noisy returns a kind whose pairs have large timesteps.
func noisy(draw kind) kind {
	return func(r *rand.Rand, w *archipelago.World, n int) pair {
		p := draw(r, w, n)
		p.noisy = true
		return p
	}
}

// The mixes of the phases. Few prompts of people and occupations carry an injected disparity, and the signs next to a
// figure are small, so later phases have more of these prompts, then more interventions on occupations and more bare
// concepts. The effect of an intervention on the skewed occupation is learned last: the phase before the last has most
// of that occupation, and the last has all occupations with equal probability.
var (
	baseMix  = mix{{0.30, cell}, {0.08, photo}, {0.20, concept}, {0.18, caption}, {0.13, people}, {0.11, occupation}}
	worldMix = mix{{0.22, cell}, {0.02, photo}, {0.14, concept}, {0.13, caption}, {0.19, people}, {0.20, occupation},
		{0.10, plainOccupation}}
	figuresMix = mix{{0.11, cell}, {0.01, photo}, {0.08, concept}, {0.09, caption}, {0.16, people},
		{0.25, occupation},
		{0.30, plainOccupation}}
	rareMix = mix{{0.12, cell}, {0.01, photo}, {0.28, concept}, {0.08, caption}, {0.11, people}, {0.03, occupation},
		{0.13, plainOccupation}, {0.24, addedOccupation}}

	sentencesMix = mix{{0.32, cell}, {0.02, photo}, {0.18, concept}, {0.08, caption}, {0.09, people},
		{0.03, plainOccupation}, {0.03, addedOccupation}, {0.25, leaning}}
	lastMix = mix{{0.26, cell}, {0.02, photo}, {0.16, concept}, {0.07, caption}, {0.09, people},
		{0.10, noisy(occupation)}, {0.10, noisy(plainOccupation)}, {0.20, noisy(addedOccupation)}}
)

// draw samples a kind and a pair of that kind.
func (m mix) draw(r *rand.Rand, w *archipelago.World, n int) pair {
	x := r.Float64()
	for _, kind := range m {
		if x -= kind.share; x < 0 {
			return kind.draw(r, w, n)
		}
	}
	return m[0].draw(r, w, n)
}

// cell is "lantern in Velmora", Decomposed-DIG's.
func cell(r *rand.Rand, w *archipelago.World, n int) pair {
	it := w.SampledAt(examples.Pick(r, w.Islands()), examples.Pick(r, w.Objects()), n)
	return pair{Prompt: it.Caption, Image: it.Image()}
}

// photo is "a round lantern on the shore, Velmora".
func photo(r *rand.Rand, w *archipelago.World, n int) pair {
	it := w.ReferenceAt(examples.Pick(r, w.Islands()), examples.Pick(r, w.Objects()), n)
	return pair{Prompt: it.Caption, Image: it.Image()}
}

// concept is CoCo-CroLa's, in one of five languages.
func concept(r *rand.Rand, w *archipelago.World, n int) pair {
	it := w.ConceptAt(examples.Pick(r, examples.Codes()), examples.Pick(r, archipelago.ConceptNames()), n)
	return pair{Prompt: it.Prompt, Image: it.Image}
}

// caption is IndicTTI's, in one of five languages.
func caption(r *rand.Rand, w *archipelago.World, n int) pair {
	it := w.CaptionAt(examples.Pick(r, examples.Codes()), n, 0)
	return pair{Prompt: it.Prompt, Image: it.Image}
}

// people is ViSAGe's.
func people(r *rand.Rand, w *archipelago.World, n int) pair {
	who := examples.Pick(r, archipelago.PeopleNames())
	prompts := w.PeoplePrompts(who)
	it := w.PeopleAt(who, prompts[r.IntN(len(prompts))], n)
	return pair{Prompt: it.Prompt, Image: it.Image}
}

// occupation is ENTIGEN's, of occupations and ceremonies.
func occupation(r *rand.Rand, w *archipelago.World, n int) pair {
	names := append(archipelago.OccupationNames(), archipelago.CeremonyNames()...)
	return occupationWith(r, w, n, examples.Pick(r, names), archipelago.Interventions())
}

// plainOccupation is ENTIGEN's prompt of an occupation with nothing added.
func plainOccupation(r *rand.Rand, w *archipelago.World, n int) pair {
	return occupationWith(r, w, n, examples.Pick(r, archipelago.OccupationNames()), archipelago.Interventions()[:1])
}

// addedOccupation is ENTIGEN's prompt of an occupation with a sentence added.
func addedOccupation(r *rand.Rand, w *archipelago.World, n int) pair {
	return occupationWith(r, w, n, examples.Pick(r, archipelago.OccupationNames()), archipelago.Interventions()[1:])
}

func occupationWith(r *rand.Rand, w *archipelago.World, n int, name string, interventions []string) pair {
	it := w.OccupationAt(name, examples.Pick(r, interventions), n)
	return pair{Prompt: it.Prompt, Image: it.Image}
}

// leaning samples an ENTIGEN prompt of the occupation that is skewed in the world with injected disparities, in
// either world. Two of five prompts have the sentence that removes the skew.
func leaning(r *rand.Rand, w *archipelago.World, n int) pair {
	who, axis := leans()
	p := occupationWith(r, w, n, who, append(archipelago.Interventions(), axis))
	p.kept, p.noisy = true, true
	return p
}

// leans returns the occupation that is skewed in the world of [InjectedSeed] with injected disparities, and the axis
// whose skew a sentence removes.
var leans = sync.OnceValues(func() (who, axis string) {
	for _, p := range world(true).AuditDisparities() {
		if p.Kind == "fixed" {
			who = p.Carrier
			axis, _, _ = strings.Cut(p.Subject, " ")
		}
	}
	return who, axis
})
