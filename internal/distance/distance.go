// Package distance fixes what "distance" means for every nearest-neighbor score of Antipode, and the shapes in which
// neighbors are requested. The pure Go implementation and the one on the accelerator share it, so that they agree to
// the last bit.
//
// Distances are Euclidean, computed in float64 from float32 vectors, rounded to float32 before and after the square
// root. That is how prdc (scikit-learn's pairwise distances of float32 arrays) rounds, so a comparison of two distances
// comes out here as it does there.
package distance

import "math"

// Squared returns the squared Euclidean distance of two vectors of equal length, in float64. The order of the sums is
// fixed, and products are rounded before they are added: the result is the same on every machine.
func Squared(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		d0 := float64(a[i]) - float64(b[i])
		d1 := float64(a[i+1]) - float64(b[i+1])
		d2 := float64(a[i+2]) - float64(b[i+2])
		d3 := float64(a[i+3]) - float64(b[i+3])
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
	}
	for ; i < len(a); i++ {
		d := float64(a[i]) - float64(b[i])
		s0 += float64(d * d)
	}
	return (s0 + s1) + (s2 + s3)
}

// root turns a squared distance into a distance.
func root(squared float64) float32 {
	return float32(math.Sqrt(float64(float32(squared))))
}

// Between returns the distance of two vectors of equal length.
func Between(a, b []float32) float32 { return root(Squared(a, b)) }

// Balls are hyperspheres around centers. Each center has Levels radii, ascending:
// those of center j are Radii[j*Levels : (j+1)*Levels].
type Balls struct {
	Centers [][]float32
	Radii   []float32
	Levels  int  // at least 1, at most 255
	Closed  bool // a point exactly on the boundary is inside
}

// Level returns the position of center j's first radius whose ball holds a point at distance d, or Levels where none
// does.
func (b *Balls) Level(j int, d float32) int {
	for l, r := range b.Radii[j*b.Levels : (j+1)*b.Levels] {
		if d < r || b.Closed && d == r {
			return l
		}
	}
	return b.Levels
}

// Visit is told of points inside the largest ball of a center: their positions, and for each the level of the first
// ball that holds it. The slices are only valid during the call. A center may be visited several times, each time with
// other points and never twice at once.
type Visit func(center int, points []int32, levels []uint8)

// List keeps the k nearest of the candidates it is offered, nearest first; equal distances in the order of their index.
type List struct {
	Index    []int32
	Distance []float32
	K        int
}

// Worst is the distance of the k-th nearest so far, +Inf while there are fewer than k.
func (l *List) Worst() float32 {
	if len(l.Index) < l.K {
		return float32(math.Inf(1))
	}
	return l.Distance[l.K-1]
}

// Offer adds a candidate if it is among the k nearest so far.
func (l *List) Offer(index int32, d float32) {
	n := len(l.Index)
	if n == l.K {
		if d > l.Distance[n-1] || d == l.Distance[n-1] && index > l.Index[n-1] {
			return
		}
		n--
	} else {
		l.Index = append(l.Index, 0)
		l.Distance = append(l.Distance, 0)
	}
	for n > 0 && (l.Distance[n-1] > d || l.Distance[n-1] == d && l.Index[n-1] > index) {
		l.Index[n], l.Distance[n] = l.Index[n-1], l.Distance[n-1]
		n--
	}
	l.Index[n], l.Distance[n] = index, d
}
