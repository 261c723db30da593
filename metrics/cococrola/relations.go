package cococrola

import (
	"cmp"
	"math"
	"slices"
	"strings"

	data "antipode/datasets/cococrola"
)

// Correlation is Pearson's r of a score between two languages (Figure 7), over pairs of concept and model, with the line of the fit.
type Correlation struct {
	A, B      string // languages
	Model     string // "" = all models pooled
	R         Value
	Slope     float64 // of the least-squares line B = Slope·A + Intercept; NaN where r is
	Intercept float64
	Used      int // pairs of values
	Concepts  int // among them
}

// Correlations gives r for every pair of languages, in the order of languages; score picks the score, NaN where it does not count. Models are pooled, as in Figure
// 7, or each by itself. r is NaN under three points or where a score does not vary. Intervals resample concepts, all models of one together.
func Correlations(rows []Scored, score func(Scored) float64, pooled bool, draws int, seed int64) []Correlation {
	var languages, models []string
	values := map[string]map[[2]string]float64{} // by language, then model and concept
	for _, r := range rows {
		if values[r.Language] == nil {
			values[r.Language] = map[[2]string]float64{}
			languages = append(languages, r.Language)
		}
		values[r.Language][[2]string{r.Model, r.Concept}] = score(r)
		models = append(models, r.Model)
	}
	slices.SortFunc(languages, compareLanguages)
	slices.SortFunc(models, compareModels)
	models = slices.Compact(models)
	if pooled {
		models = []string{""}
	}
	var out []Correlation
	for _, m := range models {
		for i, a := range languages {
			for _, b := range languages[i+1:] {
				out = append(out, correlate(a, b, m, values[a], values[b], draws, seed))
			}
		}
	}
	return out
}

func correlate(a, b, model string, va, vb map[[2]string]float64, draws int, seed int64) Correlation {
	var keys [][2]string
	var concepts []string
	for key, x := range va {
		y, both := vb[key]
		if both && !math.IsNaN(x) && !math.IsNaN(y) && (model == "" || key[0] == model) {
			keys, concepts = append(keys, key), append(concepts, key[1])
		}
	}
	slices.SortFunc(keys, func(p, q [2]string) int { return cmp.Or(cmp.Compare(p[1], q[1]), cmp.Compare(p[0], q[0])) })
	slices.Sort(concepts)
	concepts = slices.Compact(concepts)
	x, y, place := make([]float64, len(keys)), make([]float64, len(keys)), make([]int, len(keys))
	for i, key := range keys {
		x[i], y[i] = va[key], vb[key]
		place[i], _ = slices.BinarySearch(concepts, key[1])
	}
	w := weights(seeded(seed, "concepts", a, b, model), draws, len(concepts))
	counts := make([]float64, len(keys))
	value, slope, intercept := fit(x, y, nil)
	r := bootstrapped(value, w, func(draw int) float64 {
		for i, at := range place {
			counts[i] = w[draw][at]
		}
		r, _, _ := fit(x, y, counts)
		return r
	})
	return Correlation{a, b, model, r, slope, intercept, len(keys), len(concepts)}
}

// fit is Pearson's r of points that count w[i] times each (nil = once), and their least-squares line y = slope·x + intercept; NaN under three points or without variance.
func fit(x, y, w []float64) (r, slope, intercept float64) {
	mx, my := mean(x, w), mean(y, w)
	var xx, yy, xy float64
	points := 0
	for i := range x {
		a := 1.
		if w != nil {
			a = w[i]
		}
		if a > 0 {
			points++
		}
		dx, dy := x[i]-mx, y[i]-my
		xx, yy, xy = xx+a*dx*dx, yy+a*dy*dy, xy+a*dx*dy
	}
	if points < 3 || xx == 0 || yy == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return max(-1, min(1, xy/math.Sqrt(xx*yy))), xy / xx, my - xy/xx*mx
}

// Ranked is a place in the ranking of a model and language (section 5.5).
type Ranked struct {
	Row  int // in the rows given
	Rank int // 1 + the number of concepts that are strictly better
	Of   int // concepts with a score
}

// Rank orders the concepts of every model and language by a score, the largest first or (ascending) the smallest; equal scores share a rank and stand by name;
// blank ones are left out. top limits each list, 0 = none.
func Rank(rows []Scored, score func(Scored) float64, ascending bool, top int) []Ranked {
	var order []int
	for i, r := range rows {
		if !math.IsNaN(score(r)) {
			order = append(order, i)
		}
	}
	same := func(a, b Scored) int {
		return cmp.Or(compareModels(a.Model, b.Model), compareLanguages(a.Language, b.Language))
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := rows[i], rows[j]
		by := cmp.Compare(score(b), score(a))
		if ascending {
			by = -by
		}
		return cmp.Or(same(a, b), by, strings.Compare(a.Concept, b.Concept))
	})
	var out []Ranked
	for start := 0; start < len(order); {
		end := start
		for end < len(order) && same(rows[order[start]], rows[order[end]]) == 0 {
			end++
		}
		rank := 1
		for at := start; at < end; at++ {
			if at > start && score(rows[order[at]]) != score(rows[order[at-1]]) {
				rank = at - start + 1
			}
			if top == 0 || at-start < top {
				out = append(out, Ranked{order[at], rank, end - start})
			}
		}
		start = end
	}
	return out
}

// Win says in which languages a model has the best mean of a score ("column wins" of Table 2).
type Win struct {
	Model     string
	Languages []string // won, alone or shared
	Shared    []string // of them, shared with another model
}

// Wins counts first places. means are values by model and language, rounded by the caller as ties shall count; averages are left out. Models without a win are
// listed too.
func Wins(means map[[2]string]float64) []Win {
	best, models := map[string]float64{}, []string{}
	for key, v := range means {
		if key[0] == data.Average || key[1] == data.Average || math.IsNaN(v) {
			continue
		}
		if b, known := best[key[1]]; !known || v > b {
			best[key[1]] = v
		}
		models = append(models, key[0])
	}
	slices.SortFunc(models, compareModels)
	models = slices.Compact(models)
	var languages []string
	for l := range best {
		languages = append(languages, l)
	}
	slices.SortFunc(languages, compareLanguages)
	out := make([]Win, len(models))
	for i, m := range models {
		out[i].Model = m
		for _, l := range languages {
			if v, known := means[[2]string{m, l}]; !known || v != best[l] {
				continue
			}
			out[i].Languages = append(out[i].Languages, l)
			for _, other := range models {
				if v, known := means[[2]string{other, l}]; known && other != m && v == best[l] {
					out[i].Shared = append(out[i].Shared, l)
					break
				}
			}
		}
	}
	return out
}
