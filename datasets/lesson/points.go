package lesson

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"antipode/datasets"
)

// PointsOptions are the options of [Points].
type PointsOptions struct {
	// N is the number of points.
	N int

	// Seed selects one of many samples of them.
	Seed int

	// Scenes is how many of the three scenes they show; 0 = 3.
	Scenes int

	// Shift moves all of them to the right.
	Shift float64
}

// scenes are the centers of the three scenes.
var scenes = [3][2]float64{{2, 2}, {7, 3}, {4, 7}}

// Points returns a sample of imagined images with two numbers each in place of an image's long vector, so that they can
// be drawn: id, set (the name), x, y, and both as the vector full. Points of one scene are normally distributed around
// its center, with deviation 1.
func Points(set string, o PointsOptions) datasets.Table {
	if o.Scenes < 0 || o.Scenes > len(scenes) {
		return datasets.Failed(fmt.Errorf("Points: %d scenes; use 1 to %d", o.Scenes, len(scenes)))
	}
	random := rand.New(rand.NewPCG(uint64(o.Seed), 1))
	rows := make([]map[string]any, max(o.N, 0))
	for i := range rows {
		center := scenes[i%cmp.Or(o.Scenes, len(scenes))]
		x, y := center[0]+o.Shift+random.NormFloat64(), center[1]+random.NormFloat64()
		rows[i] = map[string]any{"id": fmt.Sprintf("%s %d", set, i+1), "set": set, "x": x, "y": y,
			"full": []float32{float32(x), float32(y)}}
	}
	return datasets.FromRows(rows)
}

// FairWorlds returns n studies of an added sentence in worlds without disparities: the labels of 30 images of each of
// six occupations, without (original) and with a sentence that changes nothing (irrelevant). Columns: world, id,
// attribute (the occupation), intervention, and light and round, which are 1 where the image shows the light banner and
// the round crest, else 0. World i is that of seed i.
func FairWorlds(n int) datasets.Table {
	worlds := map[string]datasets.Table{}
	for seed := range n {
		options := datasets.ArchipelagoOptions{Seed: seed, PerCell: 30, Size: 16} // nothing reads the images
		worlds[fmt.Sprint(seed)] = datasets.Archipelago(options).Occupations().Where("category", "==", "occupation").
			Where("intervention", "in", []string{"original", "irrelevant"}).
			Select("id", "attribute", "intervention", "perceived_banner", "perceived_crest")
	}
	return datasets.ConcatBy("world", worlds).Apply("light", Is("perceived_banner", "light")).
		Apply("round", Is("perceived_crest", "round"))
}

// Is returns a function of a row that is 1 where a text column has a value, else 0: its mean is a share.
func Is(column, value string) func(datasets.Row) float64 {
	return func(r datasets.Row) float64 {
		if r.Text(column) == value {
			return 1
		}
		return 0
	}
}
