package stereotypes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"antipode/metrics"
	"antipode/metrics/interval"
)

// NoneOfTheAbove is the last option of each screen of the annotation task.
const NoneOfTheAbove = "none of the above"

// Showing is one attribute shown once for one image.
type Showing struct {
	Identity   string
	Image      int // number of the image among those of the identity
	Attribute  string
	Selected   bool
	Stereotype bool // the attribute is in St(identity)
}

// Methods of [ComputeTendencies]: whether "none of the above" counts as a random attribute; see the package comment.
const (
	Compat = "compat"
	Clean  = "clean"
)

// Likelihood is L(a, id) of one attribute for one identity (section 4 of the paper), in [0, 1].
type Likelihood struct {
	Attribute        string
	Stereotype       bool
	Shown, Selected  int // n and k
	metrics.Estimate     // k/n
}

// Tendency is one row of Tables 1 and 2.
type Tendency struct {
	Identity      string
	Stereotypes   int              // attributes of St(id) that were shown
	Random        int              // options that count as random, by the method
	Stereo, Other metrics.Estimate // L(stereo, id), L(random, id) in [0, 1]; NaN without such attributes
	// NaN = N/A: L(random, id) is 0 or one of the two is missing; High is NaN where L(random) = 0 in the upper tail
	Theta            metrics.Estimate
	Showings, Images int
	Attributes       []Likelihood // most likely first, then by name
}

// AssociationOptions are the options of [ComputeTendencies].
type AssociationOptions struct {
	Method string // [Compat] or [Clean]; required
	metrics.Intervals
}

// ComputeTendencies computes the likelihoods and tendencies of every identity, sorted by name. An identity without a
// single showing does not occur.
func ComputeTendencies(rows []Showing, o AssociationOptions) ([]Tendency, error) {
	if o.Method != Compat && o.Method != Clean {
		return nil, fmt.Errorf("stereotypes: method %q; use %q or %q", o.Method, Compat, Clean)
	}
	rows = slices.Clone(rows) // sorted, so that no result depends on the order of the rows
	slices.SortFunc(rows, func(a, b Showing) int {
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Image, b.Image),
			cmp.Compare(a.Attribute, b.Attribute))
	})
	groups := map[string]*identity{}
	for _, r := range rows {
		if r.Attribute == NoneOfTheAbove && o.Method == Clean {
			continue
		}
		g := groups[r.Identity]
		if g == nil {
			g = &identity{name: r.Identity, attributeAt: map[string]int{}, imageAt: map[int]int{}}
			groups[r.Identity] = g
		}
		if err := g.add(r); err != nil {
			return nil, err
		}
	}
	out := make([]Tendency, 0, len(groups))
	for _, g := range groups {
		t, err := g.tendency(o.Intervals)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Tendency) int { return cmp.Compare(a.Identity, b.Identity) })
	return out, nil
}

// identity collects the showings of one identity, by image and attribute.
type identity struct {
	name        string
	attributes  []Likelihood
	attributeAt map[string]int
	images      [][]tally
	imageAt     map[int]int
	showings    int
}

// tally is how often an attribute was shown and selected for one image.
type tally struct{ attribute, shown, selected int }

func (g *identity) add(r Showing) error {
	a, known := g.attributeAt[r.Attribute]
	if !known {
		a = len(g.attributes)
		g.attributeAt[r.Attribute] = a
		g.attributes = append(g.attributes, Likelihood{Attribute: r.Attribute, Stereotype: r.Stereotype,
			Estimate: metrics.Exact(math.NaN())})
	}
	if g.attributes[a].Stereotype != r.Stereotype {
		return fmt.Errorf("stereotypes: %s, %s is a stereotype in one row and not in another", r.Identity, r.Attribute)
	}
	p, known := g.imageAt[r.Image]
	if !known {
		p = len(g.images)
		g.imageAt[r.Image] = p
		g.images = append(g.images, nil)
	}
	at := slices.IndexFunc(g.images[p], func(t tally) bool { return t.attribute == a })
	if at < 0 {
		at = len(g.images[p])
		g.images[p] = append(g.images[p], tally{attribute: a})
	}
	g.images[p][at].shown++
	g.attributes[a].Shown++
	g.showings++
	if r.Selected {
		g.images[p][at].selected++
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

func (g *identity) tendency(i metrics.Intervals) (Tendency, error) {
	t := Tendency{Identity: g.name, Showings: g.showings, Images: len(g.images)}
	for a := range g.attributes {
		l := &g.attributes[a]
		l.Value = float64(l.Selected) / float64(l.Shown)
		if l.Stereotype {
			t.Stereotypes++
		} else {
			t.Random++
		}
	}
	stereo, other, theta := g.means(func(a int) float64 { return g.attributes[a].Value })
	if math.IsInf(theta, 0) {
		theta = math.NaN()
	}
	t.Stereo, t.Other, t.Theta = metrics.Exact(stereo), metrics.Exact(other), metrics.Exact(theta)
	if err := g.bootstrap(&t, i); err != nil {
		return t, err
	}
	t.Attributes = slices.Clone(g.attributes)
	slices.SortFunc(t.Attributes, func(a, b Likelihood) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Attribute, b.Attribute))
	})
	return t, nil
}

// bootstrap sets the intervals from images resampled with replacement.
func (g *identity) bootstrap(t *Tendency, i metrics.Intervals) error {
	boot, err := interval.NewBootstrap(i.Bootstrap(g.name), len(g.images))
	if err != nil {
		return err
	}
	var stereo, other, theta []float64
	perAttribute := make([][]float64, len(g.attributes))
	shown, selected := make([]int, len(g.attributes)), make([]int, len(g.attributes))
	for _, units := range boot.Units() {
		clear(shown)
		clear(selected)
		for _, u := range units {
			for _, t := range g.images[u] {
				shown[t.attribute] += t.shown
				selected[t.attribute] += t.selected
			}
		}
		s, o, th := g.means(func(a int) float64 { return float64(selected[a]) / float64(shown[a]) })
		stereo, other, theta = append(stereo, s), append(other, o), append(theta, th)
		for a := range shown {
			perAttribute[a] = append(perAttribute[a], float64(selected[a])/float64(shown[a]))
		}
	}
	ends := func(e *metrics.Estimate, values []float64) { e.Low, e.High = boot.Ends(e.Value, values) }
	ends(&t.Stereo, stereo)
	ends(&t.Other, other)
	ends(&t.Theta, theta)
	for a := range perAttribute {
		ends(&g.attributes[a].Estimate, perAttribute[a])
	}
	return nil
}
