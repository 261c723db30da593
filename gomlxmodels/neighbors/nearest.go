package neighbors

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"antipode/internal/distance"
	"antipode/internal/fault"
)

// Nearest finds for each point its k nearest other points, nearest first, equal distances in the order of their
// position: those of point i are index[i*k:(i+1)*k]. Distances are those of package distance. Each pair of blocks is
// computed once.
func (f *Finder) Nearest(ctx context.Context, points [][]float32, k int) (index []int32, near []float32, err error) {
	n := len(points)
	if k <= 0 || k >= n {
		return nil, nil, fmt.Errorf("neighbors: %d neighbors of %d points", k, n)
	}
	index, near = make([]int32, n*k), make([]float32, n*k)
	s := &search{set: newFrame(points).set(points), lists: make([]distance.List, n)}
	for i := range s.lists {
		s.lists[i] = distance.List{K: k, Index: index[i*k : i*k : (i+1)*k], Distance: near[i*k : i*k : (i+1)*k]}
	}
	s.scratch = make([]scratch, runtime.GOMAXPROCS(0))
	size := f.rows(n)
	err = f.pairs(ctx, s.set, s.set, size, size, true, s.take)
	return index, near, err
}

// search is a nearest-neighbor search under way.
type search struct {
	*set
	lists   []distance.List
	scratch []scratch
}

// scratch is one worker's room.
type scratch struct {
	best   []float32 // the k smallest of a row of a block, ascending
	at     []int32   // candidates
	value  []float32
	column []float32 // some columns of a block, each contiguous
}

// columns is how many columns are turned into rows at a time: those of one cache line.
const columns = 16

// take processes the distances of the points from a and those from b, in rows of stride numbers. Off the diagonal each
// serves both its row and its column.
func (s *search) take(a, b, stride int, squared []float32) {
	rows, cols := min(stride, len(s.rows)-a), min(stride, len(s.rows)-b)
	longA, longB := s.longest(a, a+rows), s.longest(b, b+cols)
	fault.Pieces(rows, 16, runtime.GOMAXPROCS(0), func(w, lo, hi int) {
		for i := lo; i < hi; i++ {
			s.row(&s.scratch[w], a+i, b, squared[i*stride:i*stride+cols], longB)
		}
	})
	if a == b {
		return
	}
	fault.Pieces(cols, columns, runtime.GOMAXPROCS(0), func(w, lo, hi int) {
		c := &s.scratch[w]
		if len(c.column) < columns*stride {
			c.column = make([]float32, columns*stride)
		}
		for i := range rows {
			for j, v := range squared[i*stride+lo : i*stride+hi] {
				c.column[j*stride+i] = v
			}
		}
		for j := lo; j < hi; j++ {
			s.row(c, b+j, a, c.column[(j-lo)*stride:(j-lo)*stride+rows], longA)
		}
	})
}

// row offers point i the points from "from" on, whose approximate squared distances are given. longest is their
// largest norm.
func (s *search) row(c *scratch, i, from int, squared []float32, longest float64) {
	list := &s.lists[i]
	bound := s.bound(math.Sqrt(s.norms[i]), longest)
	cut := float32(math.MaxFloat32)
	if worst := float64(list.Worst()); !math.IsInf(worst, 1) {
		cut = above(worst*worst*s.scale*s.scale + bound)
	}
	c.best, c.at, c.value = c.best[:0], c.at[:0], c.value[:0]
	for j, v := range squared {
		if v > cut || from+j == i {
			continue
		}
		c.at, c.value = append(c.at, int32(from+j)), append(c.value, v)
		if len(c.best) < list.K {
			c.best = append(c.best, 0)
		} else if v >= c.best[list.K-1] {
			continue
		}
		p := len(c.best) - 1
		for ; p > 0 && c.best[p-1] > v; p-- {
			c.best[p] = c.best[p-1]
		}
		c.best[p] = v
		if len(c.best) == list.K { // k points of this block are at most best+bound away: what is surely further is out
			cut = min(cut, above(float64(c.best[list.K-1])+2*bound))
		}
	}
	for x, j := range c.at {
		if c.value[x] <= cut {
			list.Offer(j, distance.Between(s.rows[i], s.rows[j]))
		}
	}
}

// pairs goes through all pairs of blocks of two sets, or with triangle through those of one set with itself, each
// pair once. take is told where the blocks start and the distances, in rows of b numbers.
func (f *Finder) pairs(ctx context.Context, x, y *set, a, b int, triangle bool,
	take func(from, to, stride int, squared []float32)) error {
	width := len(x.origin)
	exec, err := f.exec(a, b, width)
	if err != nil {
		return fmt.Errorf("neighbors: %w", err)
	}
	var left, right *block
	err = f.onDevice(ctx, func() error {
		if left, err = f.newBlock(a, width); err == nil {
			right, err = f.newBlock(b, width)
		}
		if err == nil {
			err = f.check(exec, left, right)
		}
		return err
	})
	defer func() {
		_ = f.onDevice(context.WithoutCancel(ctx), func() error {
			for _, block := range []*block{left, right} {
				if block != nil {
					block.free()
				}
			}
			return nil
		})
	}()
	for i := 0; i < len(x.rows) && err == nil; i += a {
		start := 0
		if triangle {
			start = i
		}
		for j := start; j < len(y.rows) && err == nil; j += b {
			if err = ctx.Err(); err != nil {
				break
			}
			err = f.onDevice(ctx, func() error {
				if j == start {
					if err := left.fill(x, i); err != nil {
						return err
					}
				}
				if err := right.fill(y, j); err != nil {
					return err
				}
				return f.distances(exec, left, right, func(squared []float32) { take(i, j, b, squared) })
			})
		}
	}
	return err
}
