package engine

import (
	"math"

	"antipode/datasets/table"
)

// Difference is the [store.Difference] of items.
func Difference(columns []table.ColumnSpec, a, b []byte) (vectors float64, others bool) {
	left, err := decodeItem(a, columns)
	right, otherErr := decodeItem(b, columns)
	if err != nil || otherErr != nil || len(columns) == 0 {
		return 0, true
	}
	for i := range columns {
		x, y := left[i], right[i]
		if len(x.Vector) != len(y.Vector) || x.Text != y.Text || x.Mask != y.Mask || x.Image.SHA256 != y.Image.SHA256 ||
			x.Number != y.Number && !(math.IsNaN(x.Number) && math.IsNaN(y.Number)) {
			return 0, true
		}
		largest, apart := 0.0, 0.0
		for j := range x.Vector {
			largest = max(largest, math.Abs(float64(x.Vector[j])), math.Abs(float64(y.Vector[j])))
			apart = max(apart, math.Abs(float64(x.Vector[j])-float64(y.Vector[j])))
		}
		if apart > 0 {
			vectors = max(vectors, apart/largest)
		}
	}
	return vectors, false
}
