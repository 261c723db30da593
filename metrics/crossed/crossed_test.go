package crossed

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/interval"
)

type golden struct {
	Name       string
	G, T, S    []int
	Y          []float64
	Components map[string]float64
	Errors     map[int]map[string]float64
	Gaps       []float64
}

func (g golden) design(t *testing.T) *Design {
	t.Helper()
	return must.Get(NewDesign(g.Y, factor("g", g.G), factor("t", g.T), factor("s", g.S)))(t)
}

func factor(name string, levels []int) Factor {
	f := Factor{Name: name}
	for _, l := range levels {
		f.Levels = append(f.Levels, fmt.Sprint(l))
	}
	return f
}

// TestGolden: components are those of the analysis of variance, crossed and nested, and half the width of gaps'
// intervals is Student's quantile times the clustered standard error.
func TestGolden(t *testing.T) {
	var all []golden
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/golden.json"))(t), &all))
	for _, g := range all {
		d := g.design(t)
		components := must.Get(d.Components(0.95))(t)
		if g.Components != nil && len(components) != len(g.Components) {
			t.Errorf("%s: %d components, want %d", g.Name, len(components), len(g.Components))
		}
		for _, c := range components {
			want, ok := g.Components[c.Name]
			if g.Components != nil && (!ok || math.Abs(c.Variance.Value-want) > 1e-9) {
				t.Errorf("%s: %s is %v, want %v", g.Name, c.Name, c.Variance.Value, want)
			}
			if v := c.Variance; !(v.Low <= max(v.Value, 0) && max(v.Value, 0) <= v.High) {
				t.Errorf("%s: the interval of %+v", g.Name, c)
			}
		}
		level := math.Pow(0.95, 0.25)
		for k, ways := range d.Gaps(0.95) {
			most := 0.0
			for _, o := range ways {
				error := (o.Gap.High - o.Gap.Low) / 2 / interval.Student(level, float64(o.Levels-1))
				want := g.Errors[k][strings.Fields(o.Name)[0]]
				switch most = max(most, error); o.Name {
				case Rows:
					want = error
				case All:
					want = max(want, most)
				}
				near.Check(t, g.Name+" "+o.Name, []float64{error, o.Gap.Value}, []float64{want, g.Gaps[k]}, 1e-9, 0)
			}
		}
	}
}

// simulated is a table of groups × templates × seeds from a normal model, of which a share is missing.
type simulated struct {
	groups, templates, seeds    int
	template, both, seed, noise float64 // standard deviations of template, group × template, seed, residual
	yes                         bool    // values above 0 count 1, the others 0
	gap, missing                float64 // of the first group; share of the rows
}

func (s simulated) draw(rng *rand.Rand) (*Design, error) {
	effects := func(n int, sd float64) (out []float64) {
		for range n {
			out = append(out, sd*rng.NormFloat64())
		}
		return out
	}
	template, both, seed := effects(s.templates, s.template), effects(s.groups*s.templates, s.both),
		effects(s.seeds, s.seed)
	var y []float64
	var levels [3][]int
	for g := range s.groups {
		for w := range s.templates {
			for k := range s.seeds {
				v := template[w] + both[g*s.templates+w] + seed[k] + s.noise*rng.NormFloat64()
				if g == 0 {
					v += s.gap
				}
				if rng.Float64() < s.missing {
					continue
				}
				if s.yes {
					v = math.Ceil(min(max(v, 0), 1))
				}
				y = append(y, v)
				for i, l := range []int{g, w, k} {
					levels[i] = append(levels[i], l)
				}
			}
		}
	}
	return NewDesign(y, factor("group", levels[0]), factor("template", levels[1]), factor("seed", levels[2]))
}

// rates are shares of simulated tables: with a gap flagged, over rows, templates and all, and with intervals of a
// component that contain its variance.
type rates struct {
	flagged  map[string]float64
	first    map[string]float64 // the first group's gap
	coverage map[string]float64
}

func (s simulated) rates(t *testing.T, n int) rates {
	t.Helper()
	r := rates{map[string]float64{}, map[string]float64{}, map[string]float64{}}
	rng := near.Rand(t, 5)
	truth := map[string]float64{"template": s.template, "group × template": s.both, "seed": s.seed, Residual: s.noise}
	for range n {
		d := must.Get(s.draw(rng))(t)
		flagged := map[string]bool{}
		for g, ways := range d.Gaps(0.95) {
			for _, o := range ways {
				if o.Flagged {
					flagged[o.Name] = true
					if g == 0 && o.Gap.Low > 0 {
						r.first[o.Name] += 1 / float64(n)
					}
				}
			}
		}
		for name := range flagged {
			r.flagged[name] += 1 / float64(n)
		}
		for _, c := range must.Get(d.Components(0.95))(t) {
			if sd, ok := truth[c.Name]; ok && c.Variance.Low <= sd*sd && sd*sd <= c.Variance.High {
				r.coverage[c.Name] += 1 / float64(n)
			}
		}
	}
	return r
}

// TestTemplates: groups that differ under each template in another way, and not beyond, are flagged over rows and not
// over templates; a real gap is flagged over both.
func TestTemplates(t *testing.T) {
	s := simulated{groups: 4, templates: 8, seeds: 12, template: 0.5, both: 0.7, seed: 0.3, noise: 1}
	r := s.rates(t, 100)
	if r.flagged[Rows] < 0.5 || r.flagged["template"] > 0.12 || r.flagged[All] > 0.12 {
		t.Errorf("no gap: %+v", r.flagged)
	}
	s.both, s.gap = 0.1, 0.8
	if r = s.rates(t, 50); r.first[All] < 0.9 || r.first["template"] < 0.9 {
		t.Errorf("a gap: %+v", r.first)
	}
}

// TestConfounded: a factor of which every group has one level, and a group of one row, leave no interval; a factor of
// which one group has one level has no narrower one than the rows.
func TestConfounded(t *testing.T) {
	y, g := []float64{1, 2, 4, 6, 3, 5, 9, 8}, []int{0, 0, 0, 1, 1, 1, 2, 2}
	for name, c := range map[string]struct {
		groups, raters []int
		none           string // ways without an interval
	}{
		"one rater a group":         {g, []int{0, 0, 0, 0, 0, 0, 1, 1}, "f all"},
		"one rater of two groups":   {g, []int{0, 0, 0, 0, 0, 1, 1, 1}, ""},
		"one row in the last group": {[]int{0, 0, 0, 1, 1, 1, 1, 2}, []int{0, 1, 0, 0, 1, 0, 1, 0}, "rows f item all"},
	} {
		d := must.Get(NewDesign(y, factor("g", c.groups), factor("f", c.raters),
			factor("item", []int{0, 1, 2, 0, 1, 2, 0, 1})))(t)
		for _, ways := range d.Gaps(0.95) {
			var none []string
			for _, o := range ways {
				if half := (o.Gap.High - o.Gap.Low) / 2; math.IsNaN(half) && !o.Flagged {
					none = append(none, o.Name)
				} else if rows := (ways[0].Gap.High - ways[0].Gap.Low) / 2; o.Name == "f" && half < rows {
					t.Errorf("%s: ±%v over f, ±%v over rows", name, half, rows)
				}
			}
			must.Equal(t, strings.Join(none, " "), c.none, name)
		}
	}
}

func TestErrors(t *testing.T) {
	y := []float64{1, 2, 3, 4}
	a, b := factor("a", []int{0, 0, 1, 1}), factor("b", []int{0, 1, 0, 1})
	for want, factors := range map[string][]Factor{
		"b has fewer than two values":         {a, factor("b", []int{1, 1, 1, 1})},
		"a and c divide the rows in the same": {a, factor("c", []int{5, 5, 7, 7})},
		"7 factors are too many":              {a, a, a, a, a, a, a},
		"2 levels of a for 4 values":          {factor("a", []int{0, 1})},
	} {
		must.Fail(NewDesign(y, factors...))(t, want)
	}
	c := must.Get(must.Get(NewDesign(y, a, b))(t).Components(0.9))(t)
	if len(c) != 3 || c[2].Name != Residual || math.Abs(c[2].Variance.Value) > 1e-12 {
		t.Errorf("additive effects: %+v", c)
	}
}
