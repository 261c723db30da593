package archipelago

import "math/rand/v2"

// island is one region: its light, its colors (hues in degrees) and the frequencies of scenes and forms.
type island struct {
	name   string
	sky    float64 // hue of the sky by day
	land   float64 // hue of vegetation
	earth  float64 // hue of sand, soil and wood
	sea    float64 // hue of water
	accent float64 // hue of cloth, flowers and trim
	vivid  float64 // saturation, 1 = full
	haze   float64 // paleness of distant objects, 0 to 1
	mix    []float64
	habit  int // rotates formWeights over the forms of an object
}

// The scenes' order in mix: shore, meadow, forest, peaks, street, room.
var islands = []island{
	{"Velmora", 200, 110, 42, 186, 8, 1.00, 0.25, []float64{.28, .18, .10, .10, .20, .14}, 0},
	{"Tarrish", 216, 160, 28, 212, 46, 0.62, 0.45, []float64{.14, .12, .24, .26, .10, .14}, 1},
	{"Ondulay", 190, 92, 34, 172, 292, 0.95, 0.20, []float64{.16, .26, .24, .10, .10, .14}, 2},
	{"Quessin", 36, 68, 20, 196, 176, 0.85, 0.35, []float64{.12, .14, .10, .22, .26, .16}, 3},
	{"Brackwyn", 228, 132, 50, 222, 348, 0.48, 0.60, []float64{.22, .20, .16, .18, .10, .14}, 1},
	{"Ilvanar", 282, 140, 336, 204, 330, 0.78, 0.40, []float64{.14, .20, .14, .12, .18, .22}, 2},
}

// formWeights are the frequencies of the most common to the fourth most common form of an object on an island.
var formWeights = []float64{.34, .28, .22, .16}

func findIsland(name string) *island {
	for i := range islands {
		if islands[i].name == name {
			return &islands[i]
		}
	}
	return nil
}

// scene samples a scene's name from the island's mix.
func (i *island) scene(r *rand.Rand) string { return scenes[weighted(r, i.mix)].name }

// form samples one of the known forms of an object.
func (i *island) form(t *thing, r *rand.Rand) int {
	return (weighted(r, formWeights) + i.habit + len(t.name)) % knownForms
}

// weighted samples an index with the given weights, which sum to 1.
func weighted(r *rand.Rand, weights []float64) int {
	x := r.Float64()
	for i, w := range weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(weights) - 1
}
