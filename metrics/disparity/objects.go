package disparity

import (
	"cmp"
	"math"
	"slices"
)

// objectScore is a score of one object in one region.
type objectScore struct {
	Object, Region string
	Value          float64 // NaN if the cell had too few images
}

// objectMean is the mean of an object's regions.
type objectMean struct {
	Object  string
	Mean    float64       // NaN if no region has a score
	Regions []regionScore // those with a score, by name
	Missing []string
}

// meansOfObjects returns the mean over regions of each object's scores, ordered by object.
func meansOfObjects(values []objectScore) []objectMean {
	sorted := slices.SortedFunc(slices.Values(values), func(a, b objectScore) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Region, b.Region))
	})
	var means []objectMean
	for _, v := range sorted {
		if len(means) == 0 || means[len(means)-1].Object != v.Object {
			means = append(means, objectMean{Object: v.Object})
		}
		m := &means[len(means)-1]
		if math.IsNaN(v.Value) {
			m.Missing = append(m.Missing, v.Region)
		} else {
			m.Regions = append(m.Regions, regionScore{v.Region, v.Value})
			m.Mean += v.Value
		}
	}
	for i := range means {
		means[i].Mean /= float64(len(means[i].Regions))
	}
	return means
}
