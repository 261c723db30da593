package neighbors

import (
	"math"
	"runtime"
	"slices"

	"antipode/internal/fault"
)

// frame is the common origin and scale of the sets that are compared. Distances of scaled vectors are Scale times those
// of the vectors.
type frame struct {
	origin []float64
	scale  float64 // a power of two: scaling rounds nothing
}

// newFrame centers all rows on their mean and scales them so that no component is larger than 1. The mean may differ in
// its last bits from call to call; neighbors do not depend on it.
func newFrame(sets ...[][]float32) *frame {
	f := &frame{origin: make([]float64, len(sets[0][0])), scale: 1}
	workers := runtime.GOMAXPROCS(0)
	sums := make([][]float64, workers)
	largest := make([]float64, workers)
	each := func(do func(worker int, row []float32)) {
		for _, rows := range sets {
			fault.Pieces(len(rows), 256, runtime.GOMAXPROCS(0), func(w, lo, hi int) {
				for _, row := range rows[lo:hi] {
					do(w, row)
				}
			})
		}
	}
	for w := range sums {
		sums[w] = make([]float64, len(f.origin))
	}
	each(func(w int, row []float32) {
		sum := sums[w]
		for c, x := range row {
			sum[c] += float64(x)
		}
	})
	n := 0
	for _, rows := range sets {
		n += len(rows)
	}
	for c := range f.origin {
		for _, sum := range sums {
			f.origin[c] += sum[c]
		}
		f.origin[c] = float64(float32(f.origin[c] / float64(n)))
	}
	each(func(w int, row []float32) {
		most := largest[w]
		for c, x := range row {
			most = max(most, math.Abs(float64(x)-f.origin[c]))
		}
		largest[w] = most
	})
	if most := slices.Max(largest); most > 0 {
		_, e := math.Frexp(most)
		f.scale = math.Ldexp(1, -e)
	}
	return f
}

// set is one of the sets that are compared, as the device sees it.
type set struct {
	*frame
	rows  [][]float32
	norms []float64 // squared norms of the scaled rows
}

func (f *frame) set(rows [][]float32) *set {
	s := &set{frame: f, rows: rows, norms: make([]float64, len(rows))}
	fault.Pieces(len(rows), 64, runtime.GOMAXPROCS(0), func(_, lo, hi int) {
		v := make([]float32, len(f.origin))
		for i := lo; i < hi; i++ {
			s.scaled(i, v)
			for _, x := range v {
				s.norms[i] += float64(x) * float64(x)
			}
		}
	})
	return s
}

// scaled writes the centerd and scaled row i.
func (s *set) scaled(i int, to []float32) {
	for c, x := range s.rows[i] {
		to[c] = float32((float64(x) - s.origin[c]) * s.scale)
	}
}

// longest is the largest norm of the rows from…to.
func (s *set) longest(from, to int) float64 {
	n := 0.
	for _, x := range s.norms[from:min(to, len(s.norms))] {
		n = max(n, x)
	}
	return math.Sqrt(n)
}

const unit = 1. / (1 << 24) // rounding of a float32 operation: |fl(x) − x| ≤ unit·|x|

// bound is how far the device's squared distance may be from the squared distance of the scaled vectors, whatever the
// order of its sums, for a row of norm a and a row of norm b, and how far two squared distances may be apart that
// round to the same distance.
//
// With d ≤ a+b, the error is made of
//   - the product: 2·D·unit·a·b ≤ ½·D·unit·(a+b)²
//   - centerd vectors rounded to float32: 2·unit·(a+b)·d ≤ 2·unit·(a+b)²
//   - norms rounded, two sums and the last difference: ≤ 5·unit·(a+b)²
//   - rounding to a float32 distance, twice: ≤ 8·unit·(a+b)²
//
// and of terms in unit², for which the bound has a margin of 5 %, and of numbers below float32's normal range,
// on the device (the scaled vectors are at most 1) and in the distance.
func (f *frame) bound(a, b float64) float64 {
	d := float64(len(f.origin))
	return 1.05*unit*(a+b)*(a+b)*(15+d/2) + (d+4)*0x1p-120 + f.scale*f.scale*0x1p-146
}

// above rounds up to float32, below rounds down.
func above(x float64) float32 {
	return math.Nextafter32(float32(min(x, math.MaxFloat32/2)), math.MaxFloat32)
}

func below(x float64) float32 {
	return math.Nextafter32(float32(min(x, math.MaxFloat32/2)), -math.MaxFloat32)
}
