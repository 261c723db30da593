package visage

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"antipode/metrics/internal/tabular"
)

// NoneOfTheAbove is the option that screens of the annotation task end with.
const NoneOfTheAbove = "none of the above"

// Showing is one attribute shown once for one picture.
type Showing struct {
	Identity   string
	Picture    int // which of the identity's pictures
	Attribute  string
	Selected   bool
	Stereotype bool // the attribute is in St(identity)
}

// Mode says whether "none of the above" counts as a random attribute.
type Mode string

// The modes; see the package comment.
const (
	Compat Mode = "compat"
	Clean  Mode = "clean"
)

// Likelihood is L(a, id) of one attribute for one identity (section 4 of the paper).
type Likelihood struct {
	Attribute       string
	Stereotype      bool
	Shown, Selected int     // n and k
	Value           float64 // k/n in [0, 1]
	Low, High       float64 // interval; NaN without draws
}

// Tendency is one row of Tables 1 and 2.
type Tendency struct {
	Identity           string
	Stereotypes        int     // attributes of St(id) that were shown
	Random             int     // options counted as random, by the mode
	Stereo, Other      float64 // L(stereo, id), L(random, id) in [0, 1]; NaN without such attributes
	Theta              float64 // NaN = N/A: L(random, id) is 0 or one of the two is missing
	StereoLow          float64 // intervals; NaN = no draws, or no such end
	StereoHigh         float64
	OtherLow           float64
	OtherHigh          float64
	ThetaLow           float64
	ThetaHigh          float64 // NaN where more than the upper tail of the draws has L(random) = 0: no upper end
	Showings, Pictures int
	Attributes         []Likelihood // most likely first, then by name
}

// Options of [Association]. The zero value is no mode: say which.
type Options struct {
	Mode  Mode
	Draws int     // bootstrap draws; 0 = no intervals
	Level float64 // of the intervals; 0 = 0.95
	Seed  int64
}

// Association computes the likelihoods and tendencies of every identity, sorted by name. An identity without a single showing does not occur.
func Association(rows []Showing, o Options) ([]Tendency, error) {
	if o.Mode != Compat && o.Mode != Clean {
		return nil, fmt.Errorf("visage: mode %q; use %q or %q", o.Mode, Compat, Clean)
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Level <= 0 || o.Level >= 1 || o.Draws < 0 {
		return nil, fmt.Errorf("visage: level %g and %d draws; the level lies between 0 and 1, draws are not negative", o.Level, o.Draws)
	}
	rows = slices.Clone(rows) // sorted, so that no result depends on the order of the rows
	slices.SortFunc(rows, func(a, b Showing) int {
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Picture, b.Picture), cmp.Compare(a.Attribute, b.Attribute))
	})
	groups := map[string]*identity{}
	for _, r := range rows {
		if r.Attribute == NoneOfTheAbove && o.Mode == Clean {
			continue
		}
		g := groups[r.Identity]
		if g == nil {
			g = &identity{name: r.Identity, attributeAt: map[string]int{}, pictureAt: map[int]int{}}
			groups[r.Identity] = g
		}
		if err := g.add(r); err != nil {
			return nil, err
		}
	}
	out := make([]Tendency, 0, len(groups))
	for _, g := range groups {
		out = append(out, g.tendency(o))
	}
	slices.SortFunc(out, func(a, b Tendency) int { return cmp.Compare(a.Identity, b.Identity) })
	return out, nil
}

// identity collects the showings of one identity, by picture and attribute.
type identity struct {
	name        string
	attributes  []Likelihood
	attributeAt map[string]int
	pictures    [][]tally
	pictureAt   map[int]int
	showings    int
}

// tally is how often an attribute was shown and selected for one picture.
type tally struct{ attribute, shown, selected int }

func (g *identity) add(r Showing) error {
	a, known := g.attributeAt[r.Attribute]
	if !known {
		a = len(g.attributes)
		g.attributeAt[r.Attribute] = a
		g.attributes = append(g.attributes, Likelihood{Attribute: r.Attribute, Stereotype: r.Stereotype, Low: math.NaN(), High: math.NaN()})
	}
	if g.attributes[a].Stereotype != r.Stereotype {
		return fmt.Errorf("visage: %s, %s is a stereotype in one row and not in another", r.Identity, r.Attribute)
	}
	p, known := g.pictureAt[r.Picture]
	if !known {
		p = len(g.pictures)
		g.pictureAt[r.Picture] = p
		g.pictures = append(g.pictures, nil)
	}
	at := slices.IndexFunc(g.pictures[p], func(t tally) bool { return t.attribute == a })
	if at < 0 {
		at = len(g.pictures[p])
		g.pictures[p] = append(g.pictures[p], tally{attribute: a})
	}
	g.pictures[p][at].shown++
	g.attributes[a].Shown++
	g.showings++
	if r.Selected {
		g.pictures[p][at].selected++
		g.attributes[a].Selected++
	}
	return nil
}

// means are L(stereo), L(random) and theta from likelihoods; NaN where undefined.
func (g *identity) means(likelihood func(a int) float64) (stereo, other, theta float64) {
	var sum [2]float64
	var n [2]int
	for a := range g.attributes {
		if l := likelihood(a); !math.IsNaN(l) {
			side := 1
			if g.attributes[a].Stereotype {
				side = 0
			}
			sum[side] += l
			n[side]++
		}
	}
	stereo, other = sum[0]/float64(n[0]), sum[1]/float64(n[1]) // 0/0 is NaN: no such attribute
	return stereo, other, stereo / other
}

func (g *identity) tendency(o Options) Tendency {
	nan := math.NaN()
	t := Tendency{Identity: g.name, Showings: g.showings, Pictures: len(g.pictures),
		StereoLow: nan, StereoHigh: nan, OtherLow: nan, OtherHigh: nan, ThetaLow: nan, ThetaHigh: nan}
	for a := range g.attributes {
		l := &g.attributes[a]
		l.Value = float64(l.Selected) / float64(l.Shown)
		if l.Stereotype {
			t.Stereotypes++
		} else {
			t.Random++
		}
	}
	t.Stereo, t.Other, t.Theta = g.means(func(a int) float64 { return g.attributes[a].Value })
	if math.IsInf(t.Theta, 0) {
		t.Theta = nan
	}
	if o.Draws > 0 {
		g.bootstrap(&t, o)
	}
	t.Attributes = slices.Clone(g.attributes)
	slices.SortFunc(t.Attributes, func(a, b Likelihood) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Attribute, b.Attribute))
	})
	return t
}

// bootstrap draws pictures with replacement and fills in the intervals.
func (g *identity) bootstrap(t *Tendency, o Options) {
	h := fnv.New64a()
	h.Write([]byte(g.name))
	rng := rand.New(rand.NewPCG(uint64(o.Seed), h.Sum64()))
	var stereo, other, theta []float64
	perAttribute := make([][]float64, len(g.attributes))
	shown, selected := make([]int, len(g.attributes)), make([]int, len(g.attributes))
	for range o.Draws {
		clear(shown)
		clear(selected)
		for range g.pictures {
			for _, t := range g.pictures[rng.IntN(len(g.pictures))] {
				shown[t.attribute] += t.shown
				selected[t.attribute] += t.selected
			}
		}
		s, r, th := g.means(func(a int) float64 { return float64(selected[a]) / float64(shown[a]) })
		stereo, other, theta = keep(stereo, s), keep(other, r), keep(theta, th)
		for a := range shown {
			if shown[a] > 0 {
				perAttribute[a] = append(perAttribute[a], float64(selected[a])/float64(shown[a]))
			}
		}
	}
	t.StereoLow, t.StereoHigh = tabular.Percentiles(stereo, o.Level)
	t.OtherLow, t.OtherHigh = tabular.Percentiles(other, o.Level)
	if !math.IsNaN(t.Theta) {
		t.ThetaLow, t.ThetaHigh = tabular.Percentiles(theta, o.Level)
	}
	for a := range perAttribute {
		g.attributes[a].Low, g.attributes[a].High = tabular.Percentiles(perAttribute[a], o.Level)
	}
}

func keep(values []float64, v float64) []float64 {
	if math.IsNaN(v) {
		return values
	}
	return append(values, v)
}
