package regions

import (
	"cmp"
	"math"
	"slices"
)

// ObjectValue is a score of one object in one region.
type ObjectValue struct {
	Object, Region string
	Value          float64 // NaN if the cell had too few images
}

// ObjectMean is the mean of an object's regions.
type ObjectMean struct {
	Object  string
	Mean    float64 // NaN if no region has a score
	Regions []Value // those with a score, by name
	Missing []string
}

// ObjectMeans returns the mean over regions of each object's scores, ordered by object.
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
