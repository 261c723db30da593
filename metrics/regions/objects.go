package regions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Definition says how a score per object is meant; the paper leaves it open.
type Definition string

// The two definitions.
const (
	PerRegion Definition = "per region" // a manifold for each region and object; an object's score is the mean of its regions
	Pooled    Definition = "pooled"     // a manifold for each object, all regions together
)

// Group is a set of rows that make one manifold.
type Group struct {
	Object string
	Region string // "" where regions are pooled
	Rows   []int
}

// Groups sorts rows into the manifolds of a definition: by object, then by region, rows in their order.
func Groups(objects, regions []string, d Definition) ([]Group, error) {
	if len(objects) != len(regions) {
		return nil, fmt.Errorf("regions: %d objects for %d regions", len(objects), len(regions))
	}
	if d != PerRegion && d != Pooled {
		return nil, fmt.Errorf("regions: definition %q is not known: %q or %q", d, PerRegion, Pooled)
	}
	rows := map[cell][]int{}
	for i, object := range objects {
		c := cell{object: object}
		if d == PerRegion {
			c.region = regions[i]
		}
		rows[c] = append(rows[c], i)
	}
	groups := make([]Group, 0, len(rows))
	for c, r := range rows {
		groups = append(groups, Group{c.object, c.region, r})
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Region, b.Region))
	})
	return groups, nil
}

// ObjectValue is a score of one object in one region.
type ObjectValue struct {
	Object, Region string
	Value          float64 // NaN where the cell had too few pictures
}

// ObjectMean is the mean of an object's regions.
type ObjectMean struct {
	Object  string
	Mean    float64 // NaN where no region has a score
	Regions []Value // those with a score, by name
	Missing []string
}

// ObjectMeans takes the scores of [PerRegion] together, by object.
func ObjectMeans(values []ObjectValue) []ObjectMean {
	sorted := slices.SortedFunc(slices.Values(values), func(a, b ObjectValue) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Region, b.Region))
	})
	var means []ObjectMean
	for _, v := range sorted {
		if len(means) == 0 || means[len(means)-1].Object != v.Object {
			means = append(means, ObjectMean{Object: v.Object})
		}
		m := &means[len(means)-1]
		if math.IsNaN(v.Value) {
			m.Missing = append(m.Missing, v.Region)
		} else {
			m.Regions = append(m.Regions, Value{v.Region, v.Value})
			m.Mean += v.Value
		}
	}
	for i := range means {
		means[i].Mean /= float64(len(means[i].Regions))
	}
	return means
}
