package preprocess

import (
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// TestInterpolate: an oblong map made wider and lower, by hand.
func TestInterpolate(t *testing.T) {
	rows := must.Get(Interpolate([]float32{0, 4, 8, 10, 14, 18}, 3, 2, 6, 1))(t)
	for y, row := range rows {
		near.Check(t, "row", row, []float32{5, 6, 8, 10, 12, 13}, 1e-6, 0)
		must.Equal(t, y, 0, "row", "of one")
	}
	for _, size := range [][4]int{{2, 2, 5, 5}, {0, 0, 5, 5}, {3, 2, 0, 5}, {3, 2, 5, -1}} {
		must.Fail(Interpolate(slices.Repeat([]float32{1}, 6), size[0], size[1], size[2], size[3]))(t)
	}
}
