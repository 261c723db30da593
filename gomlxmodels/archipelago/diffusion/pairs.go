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

// Kinds of prompts and how often each is drawn; they add up to 1.
var mix = []struct {
	share float64
	draw  func(r *rand.Rand, w *archipelago.World, n int) Pair
}{
	{0.30, cell},
	{0.08, photo},
	{0.20, concept},
	{0.18, caption},
	{0.13, people},
	{0.11, occupation},
}

// Draw is a pair of a world: one of the audits' prompts, and item number n of its list.
func Draw(r *rand.Rand, w *archipelago.World, n int) Pair {
	x := r.Float64()
	for _, m := range mix {
		if x -= m.share; x < 0 {
			return m.draw(r, w, n)
		}
	}
	return mix[0].draw(r, w, n)
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
