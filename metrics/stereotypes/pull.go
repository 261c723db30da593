package stereotypes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"antipode/internal/fault"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// The sets of study 2, by the prompt of the image.
const (
	Default          = "d"  // the identity alone
	Stereotypical    = "s"  // with a visual stereotype of the identity
	NonStereotypical = "ns" // with a visual attribute that is not one of its stereotypes
)

// Methods of [ComputePulls], and what its bootstrap resamples as a whole.
const (
	byAttribute = "attribute"
	pooled      = "pooled"
	byImage     = "image"
)

// Embedded is the vector of one image of an identity; a nil vector is no image.
type Embedded struct {
	Identity, Set string
	Attribute     string // of the prompt; "" in [Default]
	Vector        []float32
}

// EmbeddedError reports an image whose vector cannot be used.
type EmbeddedError struct {
	Row    int    // index into the slice of images
	Column string // "identity", "set" or "vector"
	Reason string
}

func (e *EmbeddedError) Error() string {
	return fmt.Sprintf("stereotypes: image %d: %s", e.Row+1, e.Reason)
}

// PullVariant selects what the paper leaves open about S. The zero value is the default.
type PullVariant struct {
	Method  string `json:"method" default:"attribute" values:"attribute,pooled" help:"mean over attributes of S, or S of all images of a set"`
	Cluster string `json:"cluster" default:"attribute" values:"attribute,image" help:"what is resampled as a whole: attributes (images where a set has one), or images within each attribute"`
	metrics.Intervals
}

// Pull is one row of Tables 3 to 5. A value is NaN where one of its sets is empty.
type Pull struct {
	Identity string           `column:"identity"`
	DS       metrics.Estimate `column:"s_d_s" unit:"cosine" range:"[-1, 1]" help:"default and stereotypical images"`
	DNS      metrics.Estimate `column:"s_d_ns" unit:"cosine" range:"[-1, 1]" help:"default and non-stereotypical images"`
	SNS      metrics.Estimate `column:"s_s_ns" unit:"cosine" range:"[-1, 1]"`
	Mean     metrics.Estimate `column:"mean_sim" unit:"cosine" range:"[-1, 1]" help:"mean of the three"`
	// above 0: default images are more similar to the stereotypical ones
	Pull        metrics.Estimate `column:"pull" unit:"difference of cosines" range:"[-2, 2]" help:"s_d_s - s_d_ns"`
	D           int              `column:"n_d" unit:"images"` // with a vector
	S           int              `column:"n_s" unit:"images"`
	NS          int              `column:"n_ns" unit:"images"`
	Stereotypes int              `column:"n_stereotypes" unit:"attributes"` // attributes of s with an image
	Others      int              `column:"n_others" unit:"attributes"`      // attributes of ns with an image
}

// set is the images of one identity and set: attribute by attribute, unit vectors.
type set struct {
	vectors [][]float64
	group   []int // of each image: its attribute, from 0
	sizes   []int // images of each attribute
}

// sets returns unit vectors of images by identity and set. They are sorted, so that no result depends on the order of
// the images.
func sets(images []Embedded) (by map[string]map[string]*set, identities []string, err error) {
	order := make([]int, len(images))
	width := 0
	for i, p := range images {
		order[i] = i
		if p.Identity == "" {
			return nil, nil, &EmbeddedError{i, "identity", "it has no identity"}
		}
		if !slices.Contains([]string{Default, Stereotypical, NonStereotypical}, p.Set) {
			return nil, nil, &EmbeddedError{i, "set",
				fmt.Sprintf("its set is %q; use %q (default), %q (stereotypical) or %q (non-stereotypical)", p.Set,
					Default, Stereotypical, NonStereotypical)}
		}
		if p.Vector == nil {
			continue
		}
		if width == 0 {
			width = len(p.Vector)
		}
		if len(p.Vector) != width {
			return nil, nil, &EmbeddedError{i, "vector",
				fmt.Sprintf("its vector has %d numbers, others have %d; do not mix vectors of two encoders",
					len(p.Vector), width)}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := images[i], images[j]
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Set, b.Set),
			cmp.Compare(a.Attribute, b.Attribute), slices.Compare(a.Vector, b.Vector))
	})
	by = map[string]map[string]*set{}
	last := map[*set]string{}
	for _, i := range order {
		p := images[i]
		if by[p.Identity] == nil {
			by[p.Identity] = map[string]*set{Default: {}, Stereotypical: {}, NonStereotypical: {}}
			identities = append(identities, p.Identity)
		}
		if p.Vector == nil {
			continue
		}
		v, reason := tabular.Unit(p.Vector)
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

// cosines returns the cosines of all pairs of unit vectors.
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

// clusters returns the sizes of the strata that are resampled: the attributes, or the images of each attribute.
func (s *set) clusters(o PullVariant) []int {
	if o.Cluster == byAttribute && len(s.sizes) > 1 {
		return []int{len(s.sizes)}
	}
	return s.sizes
}

// weights returns the weights of a set's images, with sum 1: of the set itself (nil units) or of a resample of its
// clusters.
func (s *set) weights(o PullVariant, units []int) []float64 {
	w := make([]float64, len(s.vectors))
	add := func(i int) {
		if o.Method == byAttribute {
			w[i] += 1 / float64(s.sizes[s.group[i]])
		} else {
			w[i]++
		}
	}
	switch {
	case units == nil:
		for i := range w {
			add(i)
		}
	case o.Cluster == byAttribute && len(s.sizes) > 1:
		start := make([]int, len(s.sizes)+1)
		for g, n := range s.sizes {
			start[g+1] = start[g] + n
		}
		for _, g := range units {
			for i := start[g]; i < start[g+1]; i++ {
				add(i)
			}
		}
	default:
		for _, i := range units {
			add(i)
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

// weighted returns the mean of cosines under weights of sum 1; NaN if a side is empty.
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

// ComputePulls is section 5 of the paper (stereotypical pull), one row for each identity, by name:
//
//	S(X, Y)     = mean of cos(x, y) over x in X, y in Y
//	pull(id)    = S(d, s) - S(d, ns)
//	MeanSim(id) = (S(d, s) + S(d, ns) + S(s, ns)) / 3
//
// By default a set of several attributes is averaged attribute by attribute (each weighs the same however many
// images it has); S(s, ns) is then the mean over pairs of attributes. Cosines are computed in float64. A vector
// that is zero, NaN or of another length is an [EmbeddedError].
//
// Intervals: bootstrap of all three sets at once. A value whose sets are one image each has none.
func ComputePulls(images []Embedded, o PullVariant) ([]Pull, error) {
	for _, err := range []error{choice("method", &o.Method, byAttribute, pooled),
		choice("cluster", &o.Cluster, byAttribute, byImage)} {
		if err != nil {
			return nil, err
		}
	}
	by, identities, err := sets(images)
	if err != nil {
		return nil, err
	}
	out, errs := make([]Pull, len(identities)), make([]error, len(identities))
	fault.Each(len(out), func(i int) { out[i], errs[i] = pullOf(identities[i], by[identities[i]], o) })
	return out, errors.Join(errs...)
}

func pullOf(identity string, of map[string]*set, o PullVariant) (Pull, error) {
	d, s, ns := of[Default], of[Stereotypical], of[NonStereotypical]
	ds, dns, sns := cosines(d.vectors, s.vectors), cosines(d.vectors, ns.vectors), cosines(s.vectors, ns.vectors)
	values := func(ofD, ofS, ofNS []int) [5]float64 {
		wd, ws, wns := d.weights(o, ofD), s.weights(o, ofS), ns.weights(o, ofNS)
		a, b, c := weighted(ds, wd, ws), weighted(dns, wd, wns), weighted(sns, ws, wns)
		return [5]float64{a, b, c, a - b, (a + b + c) / 3}
	}
	p := Pull{Identity: identity, D: len(d.vectors), S: len(s.vectors), NS: len(ns.vectors),
		Stereotypes: len(s.sizes), Others: len(ns.sizes)}
	into := [5]*metrics.Estimate{&p.DS, &p.DNS, &p.SNS, &p.Pull, &p.Mean}
	for k, v := range values(nil, nil, nil) {
		*into[k] = metrics.Exact(v)
	}
	var strata []int
	var starts [4]int // of the clusters of each set among the units
	for k, of := range []*set{d, s, ns} {
		strata = append(strata, of.clusters(o)...)
		for _, n := range of.clusters(o) {
			starts[k+1] += n
		}
		starts[k+1] += starts[k]
	}
	boot, err := interval.NewBootstrap(o.Bootstrap("pull", identity), strata...)
	if err != nil {
		return p, err
	}
	resamples := [5][]float64{}
	for _, units := range boot.Units() {
		of := [3][]int{{}, {}, {}}
		for k := range of {
			for _, u := range units[starts[k]:starts[k+1]] {
				of[k] = append(of[k], u-starts[k])
			}
		}
		for k, v := range values(of[0], of[1], of[2]) {
			resamples[k] = append(resamples[k], v)
		}
	}
	single := [5]bool{p.D+p.S < 3, p.D+p.NS < 3, p.S+p.NS < 3, p.D+p.S+p.NS < 4, p.D+p.S+p.NS < 4}
	for k, e := range into {
		if !single[k] {
			e.Low, e.High = boot.Ends(e.Value, resamples[k])
		}
	}
	return p, nil
}
