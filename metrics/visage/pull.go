package visage

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The sets of study 2, by the prompt that a picture was made with.
const (
	Default           = "d"  // the identity alone
	Stereotypical     = "s"  // with a visual stereotype of the identity
	NonStereotypical  = "ns" // with a visual attribute that is none of its stereotypes
	averageAttributes = "attribute"
)

// Embedded is the vector of one picture of an identity; a nil vector is no picture.
type Embedded struct {
	Identity, Set string
	Attribute     string // of the prompt; "" in [Default]
	Vector        []float32
}

// EmbeddedError says which picture's vector cannot be used.
type EmbeddedError struct {
	Row    int    // from 0, in the slice that was given
	Column string // "identity", "set" or "vector": what is wrong
	Reason string
}

func (e *EmbeddedError) Error() string {
	return fmt.Sprintf("visage: picture %d: %s", e.Row+1, e.Reason)
}

// PullOptions settle what the paper leaves open about S. The zero value is the default.
type PullOptions struct {
	Average string // "attribute" (also ""): S for each attribute, then their mean; "pooled": all pictures of a set
	Cluster string // "attribute" (also ""): draws take attributes whole, and single pictures in a set of one attribute; "picture": pictures within each attribute
	Draws   int    // bootstrap draws; 0 = no intervals
	Level   float64
	Seed    int64
}

// Pull is one row of Tables 3 to 5. A value is NaN where one of its sets is empty.
type Pull struct {
	Identity            string
	DS, DNS, SNS        Bounded // S of the sets d and s, d and ns, s and ns: mean cosine, [-1, 1]
	Pull                Bounded // S(d, s) - S(d, ns), [-2, 2]; above 0: the default looks more like the stereotype
	Mean                Bounded // MeanSim, the mean of the three
	D, S, NS            int     // pictures with a vector
	Stereotypes, Others int     // attributes of s and of ns with a picture
}

// set is the pictures of one identity and set: attribute by attribute, unit vectors.
type set struct {
	vectors [][]float64
	group   []int // of each picture: its attribute, from 0
	sizes   []int // pictures of each attribute
}

// sets reads pictures into unit vectors, by identity and set. Vectors are sorted: no result depends on the order of the pictures.
func sets(pictures []Embedded) (by map[string]map[string]*set, identities []string, err error) {
	order := make([]int, len(pictures))
	width := 0
	for i, p := range pictures {
		order[i] = i
		if p.Identity == "" {
			return nil, nil, &EmbeddedError{i, "identity", "it has no identity"}
		}
		if !slices.Contains([]string{Default, Stereotypical, NonStereotypical}, p.Set) {
			return nil, nil, &EmbeddedError{i, "set", fmt.Sprintf("its set is %q; use %q (default), %q (stereotypical) or %q (non-stereotypical)", p.Set, Default, Stereotypical, NonStereotypical)}
		}
		if p.Vector == nil {
			continue
		}
		if width == 0 {
			width = len(p.Vector)
		}
		if len(p.Vector) != width {
			return nil, nil, &EmbeddedError{i, "vector", fmt.Sprintf("its vector has %d numbers, others have %d; vectors of two encoders must not be mixed", len(p.Vector), width)}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := pictures[i], pictures[j]
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Set, b.Set), cmp.Compare(a.Attribute, b.Attribute), slices.Compare(a.Vector, b.Vector))
	})
	by = map[string]map[string]*set{}
	last := map[*set]string{}
	for _, i := range order {
		p := pictures[i]
		if by[p.Identity] == nil {
			by[p.Identity] = map[string]*set{Default: {}, Stereotypical: {}, NonStereotypical: {}}
			identities = append(identities, p.Identity)
		}
		if p.Vector == nil {
			continue
		}
		v, reason := direction(p.Vector)
		if reason != "" {
			return nil, nil, &EmbeddedError{i, "vector", reason}
		}
		s := by[p.Identity][p.Set]
		if len(s.sizes) == 0 || last[s] != p.Attribute {
			s.sizes = append(s.sizes, 0)
			last[s] = p.Attribute
		}
		s.sizes[len(s.sizes)-1]++
		s.group = append(s.group, len(s.sizes)-1)
		s.vectors = append(s.vectors, v)
	}
	return by, identities, nil
}

// direction gives a vector the length 1, in float64, or says why it has none.
func direction(v []float32) (unit []float64, reason string) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return nil, "its vector holds NaN or infinity"
	case sum == 0:
		return nil, "its vector is all zeros and has no direction; a picture without a vector has a blank one"
	}
	unit = make([]float64, len(v))
	for k, x := range v {
		unit[k] = float64(x) / math.Sqrt(sum)
	}
	return unit, ""
}

// cosines are those of all pairs of unit vectors.
func cosines(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i, x := range a {
		out[i] = make([]float64, len(b))
		for j, y := range b {
			for k, v := range x {
				out[i][j] += v * y[k]
			}
		}
	}
	return out
}

// weights are those of a set's pictures, with sum 1: of the set itself (a nil source) or of a draw.
func (s *set) weights(o PullOptions, source *rand.Rand) []float64 {
	w := make([]float64, len(s.vectors))
	start := make([]int, len(s.sizes)+1)
	for g, n := range s.sizes {
		start[g+1] = start[g] + n
	}
	add := func(i int) {
		if o.Average == averageAttributes {
			w[i] += 1 / float64(s.sizes[s.group[i]])
		} else {
			w[i]++
		}
	}
	for g, n := range s.sizes {
		switch {
		case source == nil:
			for i := range n {
				add(start[g] + i)
			}
		case o.Cluster == averageAttributes && len(s.sizes) > 1:
			g := source.IntN(len(s.sizes))
			for i := start[g]; i < start[g+1]; i++ {
				add(i)
			}
		default:
			for range n {
				add(start[g] + source.IntN(n))
			}
		}
	}
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// weighted is the mean of cosines under weights of sum 1; NaN where a side is empty.
func weighted(cosines [][]float64, a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for i, row := range cosines {
		if a[i] == 0 {
			continue
		}
		part := 0.0
		for j, c := range row {
			part += b[j] * c
		}
		sum += a[i] * part
	}
	return sum
}

// Pulls is section 5 of the paper (stereotypical pull), one row for each identity, by name:
//
//	S(X, Y)     = mean of cos(x, y) over x in X, y in Y
//	pull(id)    = S(d, s) - S(d, ns)
//	MeanSim(id) = (S(d, s) + S(d, ns) + S(s, ns)) / 3
//
// By default a set of several attributes is averaged attribute by attribute (each weighs the same however many pictures it has); S(s, ns)
// is then the mean over pairs of attributes. Cosines are computed in float64. A vector that is zero, NaN or of another length is an [EmbeddedError].
//
// Intervals: percentile bootstrap of all three sets at once. There is none where the sets of a value are one picture each.
func Pulls(pictures []Embedded, o PullOptions) ([]Pull, error) {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if !(o.Level > 0 && o.Level < 1) || o.Draws < 0 {
		return nil, fmt.Errorf("visage: level %g and %d draws; the level lies between 0 and 1, draws are not negative", o.Level, o.Draws)
	}
	for _, err := range []error{choice("average", &o.Average, averageAttributes, "pooled"), choice("cluster", &o.Cluster, averageAttributes, "picture")} {
		if err != nil {
			return nil, err
		}
	}
	by, identities, err := sets(pictures)
	if err != nil {
		return nil, err
	}
	out := make([]Pull, len(identities))
	each(len(out), func(i int) { out[i] = pullOf(identities[i], by[identities[i]], o) })
	return out, nil
}

func pullOf(identity string, of map[string]*set, o PullOptions) Pull {
	d, s, ns := of[Default], of[Stereotypical], of[NonStereotypical]
	ds, dns, sns := cosines(d.vectors, s.vectors), cosines(d.vectors, ns.vectors), cosines(s.vectors, ns.vectors)
	values := func(source *rand.Rand) [5]float64 {
		wd, ws, wns := d.weights(o, source), s.weights(o, source), ns.weights(o, source)
		a, b, c := weighted(ds, wd, ws), weighted(dns, wd, wns), weighted(sns, ws, wns)
		return [5]float64{a, b, c, a - b, (a + b + c) / 3}
	}
	p := Pull{Identity: identity, D: len(d.vectors), S: len(s.vectors), NS: len(ns.vectors), Stereotypes: len(s.sizes), Others: len(ns.sizes)}
	into := [5]*Bounded{&p.DS, &p.DNS, &p.SNS, &p.Pull, &p.Mean}
	for k, v := range values(nil) {
		*into[k] = Bounded{v, math.NaN(), math.NaN()}
	}
	draws := [5][]float64{}
	source := seeded(o.Seed, "pull", identity)
	for range o.Draws {
		for k, v := range values(source) {
			draws[k] = append(draws[k], v)
		}
	}
	single := [5]bool{p.D+p.S < 3, p.D+p.NS < 3, p.S+p.NS < 3, p.D+p.S+p.NS < 4, p.D+p.S+p.NS < 4}
	for k, b := range into {
		if !single[k] {
			b.bound(draws[k], o.Level)
		}
	}
	return p
}
