package indictti

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Nested draws sets of ids one inside the other: sizes fall, each set holds the next. Ids named in first are in every set (a common set that is given); the rest
// is drawn by the seed. Equal ids in any order and equal seeds give equal sets, each sorted.
//
// Errors: sizes that rise or exceed the ids, an id twice, a first id that is not among the ids, more of them than the smallest set holds.
func Nested(ids []string, sizes []int, first []string, seed int64) ([][]string, error) {
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("indictti: the id %q occurs twice", sorted[i])
		}
	}
	given := map[string]bool{}
	var order []string
	for _, id := range first {
		if _, found := slices.BinarySearch(sorted, id); !found {
			return nil, fmt.Errorf("indictti: the prompt %q of the common set is not among the prompts", id)
		}
		if !given[id] {
			given[id], order = true, append(order, id)
		}
	}
	rest := slices.DeleteFunc(sorted, func(id string) bool { return given[id] })
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(len(ids))))
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	order = append(order, rest...)
	out := make([][]string, len(sizes))
	for i, n := range sizes {
		switch {
		case n < 1 || n > len(order):
			return nil, fmt.Errorf("indictti: a set of %d prompts from %d; give between 1 and that many", n, len(order))
		case i > 0 && n > sizes[i-1]:
			return nil, fmt.Errorf("indictti: a set of %d prompts inside one of %d; list the sets from the largest to the smallest", n, sizes[i-1])
		case n < len(given):
			return nil, fmt.Errorf("indictti: %d prompts are given for every set, the smallest has %d", len(given), n)
		}
		out[i] = slices.Sorted(slices.Values(order[:n]))
	}
	return out, nil
}

// PicturesEach is n, the pictures of a prompt in a language: four seeds.
const PicturesEach = 4

// Ask is what one model is asked for.
type Ask struct {
	Model                    string
	Prompts, Languages, Each int
	Note                     string
}

// Images is the number of pictures asked for.
func (a Ask) Images() int { return a.Prompts * a.Languages * a.Each }

// Models are the generators in the order of the printed tables. "Alt Diffusion" without a suffix is m2.
var Models = []string{"Stable Diffusion", "Alt Diffusion", "Alt Diffusion m9", "Midjourney", "Dalle3"}

// Plan is the study as the paper ran it (section 3 and supplement), in a number of languages: what each model would be asked for, with nothing asked. With the paper's
// 31 languages: 124,000 pictures of each open model, 24,800 of Midjourney, 6,200 of Dalle3.
func Plan(languages int) []Ask {
	prompts := []int{1000, 1000, 1000, 200, 50}
	out := make([]Ask, len(Models))
	for i, m := range Models {
		out[i] = Ask{Model: m, Prompts: prompts[i], Languages: languages, Each: PicturesEach}
		if m == "Alt Diffusion m9" {
			out[i].Note = "the paper does not state its number of prompts; 1000 as of the other open models"
		}
	}
	return out
}
