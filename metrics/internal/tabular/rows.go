package tabular

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"antipode/datasets/table"
)

// Random returns a random generator that depends on the seed and the key only.
func Random(seed int64, key string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(key))
	return rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
}

// Unit returns a vector scaled to length 1, in float64, or the reason why that is not possible.
func Unit(v []float32) (unit []float64, reason string) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return nil, "the vector contains NaN or infinity"
	case sum == 0:
		return nil, "the vector is all zeros; leave it blank for an image without a vector"
	}
	unit = make([]float64, len(v))
	for k, x := range v {
		unit[k] = float64(x) / math.Sqrt(sum)
	}
	return unit, ""
}

// Average is the mean, NaN of no values.
func Average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Ratio returns a / b, or NaN if b is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// Outcome returns "refused", "failed" or "skipped" for a row without an image, else "".
func Outcome(f *table.Frame, row int) string {
	if o := f.Texts("outcome"); o != nil && slices.Contains([]string{"refused", "failed", "skipped"}, o[row]) {
		return o[row]
	}
	return ""
}

// NumberOf returns a function that returns the value of a row in a number column that may be missing; NaN without it.
func NumberOf(f *table.Frame, column string) func(row int) float64 {
	v := f.Numbers(column)
	return func(row int) float64 {
		if v == nil {
			return math.NaN()
		}
		return v[row]
	}
}

// Number is NumberOf of one row.
func Number(f *table.Frame, column string, row int) float64 { return NumberOf(f, column)(row) }

// Text returns the value of a text column that may be missing; "" without it.
func Text(f *table.Frame, column string, row int) string {
	if v := f.Texts(column); v != nil {
		return v[row]
	}
	return ""
}

// BadRow returns an error about a cell of a frame, with the number that the row has in its source; row is from 0.
func BadRow(f *table.Frame, row int, column, format string, args ...any) error {
	b := table.BadRow{Row: f.RowNumber(row), Column: column, Reason: fmt.Sprintf(format, args...)}
	if ids := f.Texts("id"); ids != nil {
		b.ID = ids[row]
	}
	return b
}

// Images returns the vectors of a frame's images and their names, the column image_id or else id, which must be unique.
// A row without an image has no vector.
func Images(f *table.Frame, vector string) (names []string, vectors [][]float32, err error) {
	column, err := f.Need(vector, table.KindVector)
	if err != nil {
		return nil, nil, err
	}
	from := "image_id"
	if names = f.Texts(from); names == nil {
		from = "id"
		if names = f.Texts(from); names == nil {
			return nil, nil, fmt.Errorf("the images have no name; add a column image_id or id")
		}
	}
	vectors = slices.Clone(column.Vectors)
	seen := map[string]bool{}
	for i, name := range names {
		if seen[name] {
			return nil, nil, BadRow(f, i, from, "%q occurs twice", name)
		}
		seen[name] = true
		if Outcome(f, i) != "" {
			vectors[i] = nil
		}
	}
	return names, vectors, nil
}
