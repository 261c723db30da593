package cococrola

import (
	"cmp"
	"math"
	"slices"

	data "antipode/datasets/cococrola"
)

// Scored are the scores of one concept in one language of one model, NaN where blank.
type Scored struct {
	Model string
	Cell
	Dt, Sc, Xc, Wc float64
	Possessed      string // Yes, No or Unknown
}

// Mean is a cell of Table 2 with what belongs to it: means over concepts for a model and language, or their mean over languages or models (Model or Language
// is "Avg").
type Mean struct {
	Model, Language string
	Dt, Sc, Xc, Wc  Value
	Possessed       Value // share of the concepts with an answer
	Asked           int   // concepts in the table
	Used            int   // with Xc; under an average, their sum over cells
	Text            int   // with Wc
	Answered        int   // with an answer about possession
}

// meanCell holds the rows of a model and language, and the place of each concept in the list of all.
type meanCell struct {
	rows  []Scored
	place []int
}

// Means takes concepts together (Table 2). A cell is the mean over concepts; the row and column "Avg" are means of unrounded
// cells, those without a value left out; the corner is not given, as in the paper. Every model has a row for every language. Intervals resample concepts, the
// same for all cells. Blank scores are left out, or count as −1.
func Means(rows []Scored, treat Blank, draws int, seed int64) []Mean {
	var models, languages, concepts []string
	for _, r := range rows {
		models, languages, concepts = append(models, r.Model), append(languages, r.Language), append(concepts, r.Concept)
	}
	unique := func(names []string, compare func(a, b string) int) []string {
		slices.SortFunc(names, compare)
		return slices.Compact(names)
	}
	models, languages, concepts = unique(models, compareModels), unique(languages, compareLanguages), unique(concepts, cmp.Compare[string])
	cells := map[[2]string]*meanCell{}
	for _, r := range rows {
		key := [2]string{r.Model, r.Language}
		if cells[key] == nil {
			cells[key] = &meanCell{}
		}
		at, _ := slices.BinarySearch(concepts, r.Concept)
		cells[key].rows, cells[key].place = append(cells[key].rows, r), append(cells[key].place, at)
	}
	w := weights(seeded(seed, "concepts"), draws, len(concepts))
	made := map[[2]string]*group{}
	one := func(model, language string) *group {
		key := [2]string{model, language}
		if made[key] == nil {
			made[key] = cellGroup(cells[key], treat, w)
		}
		return made[key]
	}
	var out []Mean
	for _, m := range models {
		var over []*group
		for _, l := range languages {
			g := one(m, l)
			over = append(over, g)
			out = append(out, g.mean(m, l))
		}
		out = append(out, average(over, len(w)).mean(m, data.Average))
	}
	for _, l := range languages {
		var over []*group
		for _, m := range models {
			over = append(over, one(m, l))
		}
		out = append(out, average(over, len(w)).mean(data.Average, l))
	}
	return out
}

const nScores = 5 // Dt, Sc, Xc, Wc, share possessed

// group is a mean on the way: its values and their draws.
type group struct {
	values                      [nScores]float64
	draws                       [nScores][]float64
	asked, used, text, answered int
}

func (g *group) mean(model, language string) Mean {
	var v [nScores]Value
	for k := range v {
		indices := make([][]float64, len(g.draws[k]))
		v[k] = bootstrapped(g.values[k], indices, func(b int) float64 { return g.draws[k][b] })
	}
	return Mean{model, language, v[0], v[1], v[2], v[3], v[4], g.asked, g.used, g.text, g.answered}
}

func cellGroup(c *meanCell, treat Blank, w [][]float64) *group {
	g := &group{}
	if c == nil {
		c = &meanCell{}
	}
	g.asked = len(c.rows)
	var values [nScores][]float64 // by row, NaN where it does not count
	for _, r := range c.rows {
		share := map[string]float64{Yes: 1, No: 0, Unknown: math.NaN()}[r.Possessed]
		for k, v := range []float64{r.Dt, r.Sc, r.Xc, r.Wc, share} {
			values[k] = append(values[k], v)
		}
	}
	count := func(v []float64) (n int) {
		for _, x := range v {
			if !math.IsNaN(x) {
				n++
			}
		}
		return n
	}
	g.used, g.text, g.answered = count(values[2]), count(values[3]), count(values[4])
	for k, v := range values {
		var kept []float64
		var place []int
		for i, x := range v {
			if math.IsNaN(x) && treat == MinusOne && k < nScores-1 {
				x = -1
			}
			if !math.IsNaN(x) {
				kept, place = append(kept, x), append(place, c.place[i])
			}
		}
		g.values[k] = mean(kept, nil)
		counts := make([]float64, len(kept))
		for _, draw := range w {
			for i, at := range place {
				counts[i] = draw[at]
			}
			g.draws[k] = append(g.draws[k], mean(kept, counts))
		}
	}
	return g
}

// average is the mean of groups, those without a value left out.
func average(over []*group, draws int) *group {
	a := &group{}
	for _, g := range over {
		a.asked, a.used, a.text, a.answered = a.asked+g.asked, a.used+g.used, a.text+g.text, a.answered+g.answered
	}
	for k := range a.values {
		var values []float64
		var with []*group
		for _, g := range over {
			if !math.IsNaN(g.values[k]) {
				values, with = append(values, g.values[k]), append(with, g)
			}
		}
		a.values[k] = mean(values, nil)
		for b := range draws {
			for i, g := range with {
				values[i] = g.draws[k][b]
			}
			a.draws[k] = append(a.draws[k], mean(values, nil))
		}
	}
	return a
}
