package concepts

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets/cococrola"
	"antipode/metrics"
)

// Correlation is Pearson's r of a score between two languages (Figure 7), over pairs of concept and model, with the
// least-squares line B = Slope·A + Intercept.
type Correlation struct {
	A         string           `column:"language_a"`
	B         string           `column:"language_b"`
	Model     string           `column:"model" help:"all = pooled"`
	R         metrics.Estimate `column:"pearson" range:"[-1, 1]"`
	RSquared  float64          `column:"r_squared" range:"[0, 1]"`
	Slope     float64          `column:"slope"`
	Intercept float64          `column:"intercept"`
	Used      int              `column:"n_used" unit:"pairs of values"`
	Concepts  int              `column:"n_concepts" unit:"concepts"`
}

// ComputeLanguageCorrelations returns r for every pair of languages, in the order of languages. score returns the score
// of a row, NaN to leave it out. Models are pooled under the name "all", as in Figure 7, or separate. r, slope and
// intercept are NaN under three points or if a score is constant. Intervals resample concepts, all models of a concept
// together.
func ComputeLanguageCorrelations(rows []Scored, score func(Scored) float64, pooled bool,
	o metrics.Intervals) ([]Correlation,
	error) {
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
	languages = unique(languages, compareLanguages)
	models = unique(models, compareModels)
	if pooled {
		models = []string{""}
	}
	var out []Correlation
	for _, m := range models {
		for i, a := range languages {
			for _, b := range languages[i+1:] {
				c, err := correlate(a, b, m, values[a], values[b], o)
				if err != nil {
					return nil, err
				}
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func correlate(a, b, model string, va, vb map[[2]string]float64, o metrics.Intervals) (Correlation, error) {
	var keys [][2]string
	var concepts []string
	for key, x := range va {
		y, both := vb[key]
		if both && !math.IsNaN(x) && !math.IsNaN(y) && (model == "" || key[0] == model) {
			keys, concepts = append(keys, key), append(concepts, key[1])
		}
	}
	slices.SortFunc(keys, func(p, q [2]string) int { return cmp.Or(cmp.Compare(p[1], q[1]), cmp.Compare(p[0], q[0])) })
	concepts = unique(concepts, cmp.Compare[string])
	x, y, place := make([]float64, len(keys)), make([]float64, len(keys)), make([]int, len(keys))
	for i, key := range keys {
		x[i], y[i] = va[key], vb[key]
		place[i], _ = slices.BinarySearch(concepts, key[1])
	}
	boot, err := resampleUnits(o, len(concepts), "concepts", a, b, model)
	counts := make([]float64, len(keys))
	r, slope, intercept := fit(x, y, nil)
	estimate := boot.estimate(r, func(w []float64) float64 {
		for i, at := range place {
			counts[i] = w[at]
		}
		r, _, _ := fit(x, y, counts)
		return r
	})
	return Correlation{a, b, orDefault(model, "all"), estimate, r * r, slope, intercept, len(keys), len(concepts)}, err
}

// fit returns Pearson's r of points with weights w (nil = 1) and their least-squares line y = slope·x + intercept; NaN
// under three points or without variance.
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

// Ranked is an entry in the ranking of a model and language (section 5.5).
type Ranked struct {
	Row  int // index of the row
	Rank int // 1 + the number of concepts that are strictly before it
	Of   int // concepts with a score
}

// Rank orders the concepts of every model and language by a score, descending or ascending. Equal scores share a rank
// and are ordered by name; NaN is left out. top limits each list; 0 = no limit.
func ComputeRanking(rows []Scored, score func(Scored) float64, ascending bool, top int) []Ranked {
	var order []int
	for i, r := range rows {
		if !math.IsNaN(score(r)) {
			order = append(order, i)
		}
	}
	same := func(a, b Scored) int {
		return modelLanguage{a.Model, a.Language}.compare(modelLanguage{b.Model, b.Language})
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

// Win lists the languages in which a model has the best mean of a score ("column wins" of Table 2).
type Win struct {
	Model     string
	Languages []string // with the best mean, alone or shared
	Shared    []string // those shared with another model
}

// ComputeColumnWins returns the wins of every model. means are values by model and language, rounded by the caller if
// rounded values tie; averages are left out.
func ComputeColumnWins(means map[[2]string]float64) []Win {
	best, models := map[string]float64{}, []string{}
	for key, v := range means {
		if key[0] == cococrola.Average || key[1] == cococrola.Average || math.IsNaN(v) {
			continue
		}
		if b, known := best[key[1]]; !known || v > b {
			best[key[1]] = v
		}
		models = append(models, key[0])
	}
	models = unique(models, compareModels)
	languages := slices.SortedFunc(maps.Keys(best), compareLanguages)
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
