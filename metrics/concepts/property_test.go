package concepts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

func vector(rng *rand.Rand, center []float32, noise float64, width int) []float32 {
	v := make([]float32, width)
	for k := range v {
		v[k] = float32(noise * rng.NormFloat64())
		if center != nil {
			v[k] += center[k]
		}
	}
	return v
}

// world returns a random set: a center for each concept and images around it, from 0 to 7 in a cell.
func world(rng *rand.Rand, concepts, width int) Set {
	set := Set{Model: "model", Images: map[Cell][]Image{}, Words: map[Cell][]float32{}}
	for k := range concepts {
		name := fmt.Sprintf("concept %02d", k)
		center := vector(rng, nil, 1, width)
		set.Words[Cell{English, name}], set.Words[Cell{"zh", name}] = vector(rng, center, 1, width),
			vector(rng, center, 1, width)
		for _, l := range []string{"en", "he", "zh", "xx"} {
			c := Cell{l, name}
			set.Images[c] = nil
			for i := range rng.IntN(8) {
				image := Image{ID: fmt.Sprintf("%02d", i), Vector: vector(rng, center, 0.2+3*rng.Float64(), width),
					Joint: vector(rng, center, 1, width)}
				if rng.IntN(9) == 0 {
					image.Joint = nil
				}
				set.Images[c] = append(set.Images[c], image)
			}
		}
	}
	return set
}

// cosine is the cosine by its definition.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for k := range a {
		ab, aa, bb = ab+float64(a[k])*float64(b[k]), aa+float64(a[k])*float64(a[k]), bb+float64(b[k])*float64(b[k])
	}
	return ab / (math.Sqrt(aa) * math.Sqrt(bb))
}

func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*(1+math.Abs(b))
}

// TestOracle compares every score with naive loops, on random sets with missing images, for every option.
func TestOracle(t *testing.T) {
	rng := near.Rand(t, 5)
	for trial := range 24 {
		set := world(rng, 2+rng.IntN(9), 1+rng.IntN(12))
		o := Options{Source: []string{"en", "zh"}[trial%2], Self: []string{ExcludeSelf, Literal}[trial/2%2],
			Product: []string{Cosine, Dot}[trial/4%2], Word: []string{"", "source"}[trial%2],
			M: rng.IntN(6), Sample: []string{PerConcept, Shared}[rng.IntN(2)],
			Own:         []string{ExcludeOwn, IncludeOwn}[rng.IntN(2)],
			Replacement: []string{Without, With}[rng.IntN(2)], Intervals: metrics.Intervals{Seed: int64(trial)}}
		scores := must.Get(ComputeConceptScores(set, o))(t)
		must.Equal(t, len(scores), len(set.Images), "scores")
		for _, s := range scores {
			x, y := set.Images[s.Cell], set.Images[Cell{o.Source, s.Concept}]
			var sc, xc, wc, pairs, crossed, texts float64
			for i, a := range x {
				for j, b := range x {
					if i != j {
						sc, pairs = sc+cosine(a.Vector, b.Vector), pairs+1
					}
				}
				for j, b := range y {
					if s.Language != o.Source || o.Self == Literal || i != j {
						xc, crossed = xc+cosine(a.Vector, b.Vector), crossed+1
					}
				}
				word := set.Words[Cell{map[string]string{"": English, "source": o.Source}[o.Word], s.Concept}]
				switch {
				case a.Joint == nil:
				case o.Product == Cosine:
					wc, texts = wc+100*cosine(word, a.Joint), texts+1
				default:
					for k := range word {
						wc += float64(word[k]) * float64(a.Joint[k])
					}
					texts++
				}
			}
			if !same(s.Sc.Value, sc/pairs) || !same(s.Xc.Value, xc/crossed) || !same(s.Wc.Value, wc/texts) {
				t.Errorf("%+v, %+v: want Sc %g, Xc %g, Wc %g", o, s, sc/pairs, xc/crossed, wc/texts)
			}
			must.Equal(t, s.Used, len(x), s, "counts")
			must.Equal(t, s.Text, int(texts), s)
			if others := replay(set, o, s.Cell); s.Others != len(others) {
				t.Errorf("%+v: %d others, want %d", s, s.Others, len(others))
			} else {
				var dt, n float64
				for _, a := range x {
					for _, z := range others {
						dt, n = dt+dot(mustUnit(a.Vector), z), n+1
					}
				}
				if !same(s.Dt.Value, dt/n) {
					t.Errorf("%+v: Dt, want %g", s, dt/n)
				}
			}
		}
	}
}

// TestOrderAndBatch: the result does not depend on the order of images; Sc, Xc and Wc of a concept and their
// intervals do not depend on other concepts, nor Dt on other languages.
func TestOrderAndBatch(t *testing.T) {
	rng := near.Rand(t, 5)
	set := world(rng, 8, 6)
	o := Options{M: 4, Intervals: metrics.Intervals{Resamples: 50, Seed: 3}}
	all := must.Get(ComputeConceptScores(set, o))(t)
	shuffled := Set{Model: set.Model, Words: set.Words, Images: map[Cell][]Image{}}
	for c, images := range set.Images {
		images = slices.Clone(images)
		rng.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
		shuffled.Images[c] = images
	}
	must.Equal(t, fmt.Sprint(all), fmt.Sprint(must.Get(ComputeConceptScores(shuffled, o))(t)),
		"the order of images changes scores")
	byLanguage := Set{Model: set.Model, Words: set.Words, Images: map[Cell][]Image{}}
	for c, images := range set.Images {
		if c.Language == "he" {
			byLanguage.Images[c] = images
		}
	}
	he := must.Get(ComputeConceptScores(byLanguage, o))(t)
	for _, s := range all {
		alone := Set{Model: set.Model, Words: set.Words, Images: map[Cell][]Image{s.Cell: set.Images[s.Cell],
			{"en", s.Concept}: set.Images[Cell{"en", s.Concept}]}}
		one := must.Get(ComputeConceptScores(alone, o))(t)
		i := slices.IndexFunc(one, func(x Scores) bool { return x.Cell == s.Cell })
		if fmt.Sprint(one[i].Sc, one[i].Xc, one[i].Wc) != fmt.Sprint(s.Sc, s.Xc, s.Wc) {
			t.Errorf("%v alone: %v, among others %v", s.Cell, one[i], s)
		}
		if i := slices.IndexFunc(he, func(x Scores) bool { return x.Cell == s.Cell }); i >= 0 &&
			fmt.Sprint(he[i].Dt) != fmt.Sprint(s.Dt) {
			t.Errorf("%v: Dt %v in its language alone, %v", s.Cell, he[i].Dt, s.Dt)
		}
	}
}

// TestDirections: more scatter lowers Sc and Xc; one scene for all concepts raises Dt; images of another concept
// lower Xc and Wc and leave Sc.
func TestDirections(t *testing.T) {
	rng := near.Rand(t, 5)
	const width = 64
	set := Set{Model: "m", Images: map[Cell][]Image{}, Words: map[Cell][]float32{}}
	scene := vector(rng, nil, 1, width)
	for k := range 12 {
		name := fmt.Sprint(k)
		right, wrong := vector(rng, nil, 1, width), vector(rng, nil, 1, width)
		set.Words[Cell{English, name}] = right
		for l, kind := range map[string]struct {
			center []float32
			noise  float64
		}{"en": {right, 0.2}, "es": {right, 0.3}, "de": {right, 2}, "ja": {wrong, 0.3}, "he": {scene, 0.3}} {
			for i := range 8 {
				v := vector(rng, kind.center, kind.noise, width)
				set.Images[Cell{l, name}] = append(set.Images[Cell{l, name}], Image{fmt.Sprint(i), v, v})
			}
		}
	}
	scores := must.Get(ComputeConceptScores(set, Options{}))(t)
	var rows []Scored
	for _, s := range scores {
		rows = append(rows, Scored{"m", s.Cell, s.Dt.Value, s.Sc.Value, s.Xc.Value, s.Wc.Value, ""})
	}
	m := map[string]Mean{}
	for _, mean := range means(t, rows, LeaveOut) {
		if mean.Model == "m" {
			m[mean.Language] = mean
		}
	}
	for _, c := range []struct {
		what       string
		more, less float64
	}{
		{"Sc, less scatter", m["es"].Sc.Value, m["de"].Sc.Value + 0.3},
		{"Xc, less scatter", m["es"].Xc.Value, m["de"].Xc.Value + 0.3},
		{"Wc, less scatter", m["es"].Wc.Value, m["de"].Wc.Value + 30},
		{"Xc, right concept", m["es"].Xc.Value, m["ja"].Xc.Value + 0.5},
		{"Wc, right concept", m["es"].Wc.Value, m["ja"].Wc.Value + 50},
		{"Sc, wrong concept", m["ja"].Sc.Value, 0.8},
		{"Dt, one scene", m["he"].Dt.Value, m["es"].Dt.Value + 0.5},
	} {
		if !(c.more > c.less) {
			t.Errorf("%s: %g is not above %g", c.what, c.more, c.less)
		}
	}
}
