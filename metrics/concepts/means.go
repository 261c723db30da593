package concepts

import (
	"cmp"
	"math"
	"slices"

	"antipode/datasets/cococrola"
	"antipode/metrics"
)

// Scored are the scores of one concept in one language by one model; NaN = missing.
type Scored struct {
	Model string
	Cell
	Dt, Sc, Xc, Wc float64
	Possessed      string // Yes, No or Unknown
}

// Mean is a cell of Table 2: means over concepts for a model and language, or their mean over languages or models
// (Model or Language is "Avg"), and the share of possessed concepts.
type Mean struct {
	Model     string           `column:"model"`
	Language  string           `column:"language"`
	Dt        metrics.Estimate `column:"inverse_distinctiveness" unit:"cosine" range:"[-1, 1]"`
	Sc        metrics.Estimate `column:"self_consistency" unit:"cosine" range:"[-1, 1]"`
	Xc        metrics.Estimate `column:"cross_consistency" unit:"cosine" range:"[-1, 1]"`
	Wc        metrics.Estimate `column:"text_match" unit:"100 × cosine" range:"[-100, 100]"`
	Possessed metrics.Estimate `column:"share_possessed" unit:"share" range:"[0, 1]"`
	Asked     int              `column:"n_asked" unit:"concepts"`
	Used      int              `column:"n_used" unit:"concepts" help:"with Xc; of averages, the sum over cells"`
	Text      int              `column:"n_text" unit:"concepts" help:"with Wc"`
	Answered  int              `column:"n_answered" unit:"concepts" help:"whose possession is known"`
}

type modelLanguage struct{ model, language string }

// compare orders by model, then language; those of the paper first.
func (a modelLanguage) compare(b modelLanguage) int {
	return cmp.Or(compareModels(a.model, b.model), compareLanguages(a.language, b.language))
}

// meanCell holds the rows of a model and language, and the index of each concept in the list of all concepts.
type meanCell struct {
	rows  []Scored
	place []int
}

// ComputeLanguageMeans returns the cells of Table 2, one per model and language: means over concepts. The row and the
// column "Avg" are means of the unrounded cells that have a value; as in the paper, there is no mean over both.
// Intervals resample concepts, the same for all cells. Blank scores are left out ([LeaveOut]) or count as −1
// ([MinusOne]).
func ComputeLanguageMeans(rows []Scored, blank string, i metrics.Intervals) ([]Mean, error) {
	var models, languages, concepts []string
	for _, r := range rows {
		models, languages, concepts = append(models, r.Model), append(languages, r.Language),
			append(concepts, r.Concept)
	}
	models, languages, concepts = unique(models, compareModels), unique(languages, compareLanguages),
		unique(concepts, cmp.Compare[string])
	cells := map[modelLanguage]*meanCell{}
	for _, r := range rows {
		key := modelLanguage{r.Model, r.Language}
		if cells[key] == nil {
			cells[key] = &meanCell{}
		}
		at, _ := slices.BinarySearch(concepts, r.Concept)
		cells[key].rows, cells[key].place = append(cells[key].rows, r), append(cells[key].place, at)
	}
	boot, err := resampleUnits(i, len(concepts), "concepts")
	if err != nil {
		return nil, err
	}
	made := map[modelLanguage]*group{}
	one := func(model, language string) *group {
		key := modelLanguage{model, language}
		if made[key] == nil {
			made[key] = cellGroup(cells[key], blank, boot.weights)
		}
		return made[key]
	}
	var out []Mean
	for _, m := range models {
		var over []*group
		for _, l := range languages {
			g := one(m, l)
			over = append(over, g)
			out = append(out, g.mean(boot, m, l))
		}
		out = append(out, average(over, len(boot.weights)).mean(boot, m, cococrola.Average))
	}
	for _, l := range languages {
		var over []*group
		for _, m := range models {
			over = append(over, one(m, l))
		}
		out = append(out, average(over, len(boot.weights)).mean(boot, cococrola.Average, l))
	}
	return out, nil
}

const nScores = 5 // Dt, Sc, Xc, Wc, share possessed

// group holds the values of a mean and their resamples.
type group struct {
	values                      [nScores]float64
	units                       [nScores]int // concepts that have a term, at most
	resamples                   [nScores][]float64
	asked, used, text, answered int
}

func (g *group) mean(boot *resamples, model, language string) Mean {
	var v [nScores]metrics.Estimate
	for k := range v {
		v[k].Value = g.values[k]
		v[k].Low, v[k].High = boot.Among(g.units[k]).Ends(v[k].Value, g.resamples[k])
	}
	return Mean{model, language, v[0], v[1], v[2], v[3], v[4], g.asked, g.used, g.text, g.answered}
}

func cellGroup(c *meanCell, blank string, w [][]float64) *group {
	g := &group{}
	if c == nil {
		c = &meanCell{}
	}
	g.asked = len(c.rows)
	var values [nScores][]float64 // by row; NaN = left out
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
			if math.IsNaN(x) && blank == MinusOne && k < nScores-1 {
				x = -1
			}
			if !math.IsNaN(x) {
				kept, place = append(kept, x), append(place, c.place[i])
			}
		}
		g.values[k], g.units[k] = mean(kept, nil), len(kept)
		counts := make([]float64, len(kept))
		for _, weight := range w {
			for i, at := range place {
				counts[i] = weight[at]
			}
			g.resamples[k] = append(g.resamples[k], mean(kept, counts))
		}
	}
	return g
}

// average returns the mean of the groups that have a value.
func average(over []*group, resamples int) *group {
	a := &group{}
	for _, g := range over {
		a.asked, a.used, a.text, a.answered = a.asked+g.asked, a.used+g.used, a.text+g.text, a.answered+g.answered
	}
	for k := range a.values {
		var values []float64
		var with []*group
		for _, g := range over {
			if !math.IsNaN(g.values[k]) {
				values, with, a.units[k] = append(values, g.values[k]), append(with, g), max(a.units[k], g.units[k])
			}
		}
		a.values[k] = mean(values, nil)
		for b := range resamples {
			for i, g := range with {
				values[i] = g.resamples[k][b]
			}
			a.resamples[k] = append(a.resamples[k], mean(values, nil))
		}
	}
	return a
}
