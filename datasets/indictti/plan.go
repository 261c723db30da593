package indictti

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Nested samples nested sets of ids: sizes decrease, and each set contains the next. The ids in common are in every
// set; the others are sampled with the seed. The sets are sorted, and do not depend on the order of ids.
//
// Errors: sizes that increase or exceed the number of ids, an id that occurs twice, a common id that is not among ids,
// more common ids than the smallest size.
func Nested(ids []string, sizes []int, common []string, seed int64) ([][]string, error) {
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("indictti: id %q occurs twice", sorted[i])
		}
	}
	given := map[string]bool{}
	var order []string
	for _, id := range common {
		if _, found := slices.BinarySearch(sorted, id); !found {
			return nil, fmt.Errorf("indictti: prompt %q of the common set is not among the prompts", id)
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
			return nil, fmt.Errorf("indictti: set of %d prompts out of %d; give a size between 1 and that number", n,
				len(order))
		case i > 0 && n > sizes[i-1]:
			return nil, fmt.Errorf("indictti: set of %d prompts inside one of %d; list the sets from the largest "+
				"to the smallest", n, sizes[i-1])
		case n < len(given):
			return nil, fmt.Errorf("indictti: common set has %d prompts, the smallest set has %d", len(given), n)
		}
		out[i] = slices.Sorted(slices.Values(order[:n]))
	}
	return out, nil
}

// ImagesPerPrompt is the number of images per prompt and language: four seeds.
const ImagesPerPrompt = 4

// Request is the size of the study for one model.
type Request struct {
	Model                 string
	Prompts, Languages, N int    // N images per prompt and language
	Note                  string // what the paper leaves open, or why the model's images can only be imported
}

// Images returns the number of requested images.
func (r Request) Images() int { return r.Prompts * r.Languages * r.N }

// Models are the generators, in the order of the printed tables. "Alt Diffusion" without a suffix is m2.
var Models = []string{"Stable Diffusion", "Alt Diffusion", "Alt Diffusion m9", "Midjourney", "Dalle3"}

// ModelNames are the labels of [Models] by the names that checkpoints and programs have, in lower case, without an
// owner.
var ModelNames = map[string]string{"stable-diffusion-v1-5": "Stable Diffusion", "altdiffusion": "Alt Diffusion",
	"altdiffusion-m9": "Alt Diffusion m9", "dall-e-3": "Dalle3"}

// Plan returns the size of the study (section 3 and supplement) for each model, in a number of languages. With the 31
// languages of the paper: 124,000 images from each open model, 24,800 from Midjourney, 6,200 from Dalle3.
func Plan(languages int) []Request {
	prompts := []int{1000, 1000, 1000, 200, 50}
	out := make([]Request, len(Models))
	for i, m := range Models {
		out[i] = Request{Model: m, Prompts: prompts[i], Languages: languages, N: ImagesPerPrompt}
		switch m {
		case "Alt Diffusion m9":
			out[i].Note = "the paper does not state the number of prompts; 1000, as for the other open models"
		case "Midjourney":
			out[i].Note = "has no API: images are imported (antipode import --midjourney)"
		case "Dalle3":
			out[i].Note = "shut down by OpenAI on 2026-05-12: images made before are imported (antipode import)"
		}
	}
	return out
}
