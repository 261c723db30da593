package neighbors

import (
	"context"
	"fmt"
	"math"

	"antipode/internal/distance"
	"antipode/internal/fault"
)

// Within reports every point inside one of the balls, with the first level that contains it. It calls visits[w] from
// worker w only. The order of calls is not fixed.
func (f *Finder) Within(ctx context.Context, balls distance.Balls, points [][]float32, visits []distance.Visit) error {
	if len(balls.Centers) == 0 || len(points) == 0 {
		return ctx.Err()
	}
	if balls.Levels < 1 || balls.Levels > 255 || len(balls.Radii) != balls.Levels*len(balls.Centers) ||
		len(visits) == 0 {
		return fmt.Errorf("neighbors: %d radii for %d centers with %d levels, %d visitors", len(balls.Radii),
			len(balls.Centers), balls.Levels, len(visits))
	}
	frame := newFrame(balls.Centers, points)
	s := &sieve{balls: &balls, centers: frame.set(balls.Centers), points: frame.set(points), visits: visits,
		found: make([]found, len(visits))}
	for w := range s.found {
		s.found[w] = found{low: make([]float32, balls.Levels), high: make([]float32, balls.Levels)}
	}
	return f.pairs(ctx, s.centers, s.points, f.rows(len(balls.Centers)), f.rows(len(points)), false, s.take)
}

// sieve is a search of points in balls under way.
type sieve struct {
	balls           *distance.Balls
	centers, points *set
	visits          []distance.Visit
	found           []found
}

// found is one worker's room.
type found struct {
	low, high []float32 // of each level: surely inside below low, surely outside above high
	at        []int32
	level     []uint8
}

func (s *sieve) take(from, to, stride int, squared []float32) {
	rows, cols := len(squared)/stride, min(stride, len(s.points.rows)-to)
	rows = min(rows, len(s.centers.rows)-from)
	longest := s.points.longest(to, to+cols)
	fault.Pieces(rows, 16, len(s.visits), func(w, lo, hi int) {
		for i := lo; i < hi; i++ {
			s.row(&s.found[w], s.visits[w], from+i, to, squared[i*stride:i*stride+cols], longest)
		}
	})
}

// row sorts the points from "from" on, whose approximate squared distances to center j are given.
func (s *sieve) row(f *found, visit distance.Visit, j, from int, squared []float32, longest float64) {
	bound := s.centers.bound(math.Sqrt(s.centers.norms[j]), longest)
	for l, r := range s.balls.Radii[j*s.balls.Levels : (j+1)*s.balls.Levels] {
		radius := float64(r) * s.centers.scale
		f.low[l], f.high[l] = below(radius*radius-bound), above(radius*radius+bound)
	}
	f.at, f.level = f.at[:0], f.level[:0]
	outer := f.high[s.balls.Levels-1]
	for p, v := range squared {
		if v > outer {
			continue
		}
		l := 0
		for v > f.high[l] {
			l++
		}
		if v >= f.low[l] { // too close to the boundary for float32
			if l = s.balls.Level(j, distance.Between(s.balls.Centers[j], s.points.rows[from+p])); l == s.balls.Levels {
				continue
			}
		}
		f.at, f.level = append(f.at, int32(from+p)), append(f.level, uint8(l))
	}
	if len(f.at) > 0 {
		visit(j, f.at, f.level)
	}
}
