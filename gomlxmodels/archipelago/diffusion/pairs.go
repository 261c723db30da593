package diffusion

import (
	"math/rand/v2"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
)

// Pair is one example: a prompt, and a picture that the archipelago-sampler draws for it.
type Pair struct {
	Prompt  string
	Picture archipelago.Picture
}

// firstNumber is where the numbers of training's items begin, far above those of all lists.
const firstNumber = 1 << 40

// mix says how often each kind of prompt is drawn; the shares add up to 1.
type mix []struct {
	share float64
	draw  func(r *rand.Rand, w *archipelago.World, n int) Pair
}

// The mixes of the phases. What is planted in an audit's plain prompts of people and occupations is in one prompt of many, and what stands beside a figure is small:
// so the later phases have more of these, and the last has more of the sentences that are added to an occupation's prompt and of the bare concepts.
var (
	baseMix    = mix{{0.30, cell}, {0.08, photo}, {0.20, concept}, {0.18, caption}, {0.13, people}, {0.11, occupation}}
	worldMix   = mix{{0.22, cell}, {0.02, photo}, {0.14, concept}, {0.13, caption}, {0.19, people}, {0.20, occupation}, {0.10, plainOccupation}}
	figuresMix = mix{{0.11, cell}, {0.01, photo}, {0.08, concept}, {0.09, caption}, {0.16, people}, {0.25, occupation}, {0.30, plainOccupation}}
	rareMix    = mix{{0.12, cell}, {0.01, photo}, {0.28, concept}, {0.08, caption}, {0.11, people}, {0.03, occupation}, {0.13, plainOccupation}, {0.24, addedOccupation}}
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
	return Pair{it.Caption, ofItem(it)}
}

// photo is "a round lantern on the shore, Velmora".
func photo(r *rand.Rand, w *archipelago.World, n int) Pair {
	it := w.PhotoAt(pick(r, w.Islands()), pick(r, w.Objects()), n)
	return Pair{it.Caption, ofItem(it)}
}

func ofItem(it archipelago.Item) archipelago.Picture {
	return archipelago.Picture{Island: it.Region, Scene: it.Scene, Object: it.Object, Variant: it.Variant, Seed: it.Seed, Backdrop: it.Backdrop}
}

// concept is CoCo-CroLa's, in one of five languages.
func concept(r *rand.Rand, w *archipelago.World, n int) Pair {
	it := w.ConceptAt(pick(r, examples.Codes()), pick(r, archipelago.ConceptNames()), n)
	return Pair{it.Prompt, it.Picture}
}

// caption is IndicTTI's, in one of five languages.
func caption(r *rand.Rand, w *archipelago.World, n int) Pair {
	it := w.CaptionAt(pick(r, examples.Codes()), n, 0)
	return Pair{it.Prompt, it.Picture}
}

// people is ViSAGe's.
func people(r *rand.Rand, w *archipelago.World, n int) Pair {
	who := pick(r, archipelago.PeopleNames())
	prompts := w.PeoplePrompts(who)
	it := w.PeopleAt(who, prompts[r.IntN(len(prompts))], n)
	return Pair{it.Prompt, it.Picture}
}

// occupation is ENTIGEN's, of occupations and ceremonies.
func occupation(r *rand.Rand, w *archipelago.World, n int) Pair {
	names := append(archipelago.OccupationNames(), archipelago.CeremonyNames()...)
	it := w.OccupationAt(pick(r, names), pick(r, archipelago.Interventions()), n)
	return Pair{it.Prompt, it.Picture}
}

// plainOccupation is ENTIGEN's prompt of an occupation with nothing added.
func plainOccupation(r *rand.Rand, w *archipelago.World, n int) Pair {
	return occupationWith(r, w, n, archipelago.Interventions()[:1])
}

// addedOccupation is ENTIGEN's prompt of an occupation with a sentence added.
func addedOccupation(r *rand.Rand, w *archipelago.World, n int) Pair {
	return occupationWith(r, w, n, archipelago.Interventions()[1:])
}

func occupationWith(r *rand.Rand, w *archipelago.World, n int, interventions []string) Pair {
	it := w.OccupationAt(pick(r, archipelago.OccupationNames()), pick(r, interventions), n)
	return Pair{it.Prompt, it.Picture}
}
