package chain

import (
	"context"
	"fmt"
	"sync"

	"antipode/datasets/table"
	"antipode/internal/distance"
	"antipode/metrics/prdc"
)

// maxCached is the largest number of cached distances: 256 MiB.
const maxCached = 64 << 20

// Neighbors is [prdc.Plain] with a cache of what samples have in common: the tables next to the pool
// are the same in all of them, and an image of the pool is in many. Results are bitwise equal to those of Plain.
type Neighbors struct {
	prdc.Plain
	fixed map[*float32]bool // vectors of the tables next to the pool, by address
	mu    sync.Mutex
	kept  int // number of cached distances
	sets  map[string]*centers
}

// centers is a set of fixed vectors.
type centers struct {
	nearest  map[int]neighborList // by k
	distance map[*float32][]float32
}

type neighborList struct {
	index     []int32
	distances []float32
}

// NewNeighbors returns the search for audits that read these tables next to the pool.
func NewNeighbors(fixed []*table.Frame) *Neighbors {
	r := &Neighbors{fixed: map[*float32]bool{}, sets: map[string]*centers{}}
	for _, f := range fixed {
		for i := range f.Columns {
			for _, v := range f.Columns[i].Vectors {
				if len(v) > 0 {
					r.fixed[&v[0]] = true
				}
			}
		}
	}
	return r
}

// set returns the cache of a set of vectors, or nil if not all are fixed.
func (r *Neighbors) set(points [][]float32) *centers {
	name := make([]byte, 0, 8*len(points))
	for _, v := range points {
		if len(v) == 0 || !r.fixed[&v[0]] {
			return nil
		}
		name = fmt.Appendf(name, "%p", &v[0])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.sets[string(name)]
	if c == nil {
		c = &centers{nearest: map[int]neighborList{}, distance: map[*float32][]float32{}}
		r.sets[string(name)] = c
	}
	return c
}

// Nearest implements [prdc.Neighbors].
func (r *Neighbors) Nearest(ctx context.Context, points [][]float32, k int) ([]int32, []float32, error) {
	c := r.set(points)
	if c == nil {
		return r.Plain.Nearest(ctx, points, k)
	}
	r.mu.Lock()
	n, known := c.nearest[k]
	r.mu.Unlock()
	if known {
		return n.index, n.distances, nil
	}
	index, distances, err := r.Plain.Nearest(ctx, points, k)
	if err == nil {
		r.mu.Lock()
		c.nearest[k] = neighborList{index, distances}
		r.mu.Unlock()
	}
	return index, distances, err
}

// Within implements [prdc.Neighbors].
func (r *Neighbors) Within(ctx context.Context, balls distance.Balls, points [][]float32,
	visits []distance.Visit) error {
	c := r.set(balls.Centers)
	if c == nil {
		return r.Plain.Within(ctx, balls, points, visits)
	}
	to := make([][]float32, len(points)) // distances of each point to the centers
	for p, v := range points {
		if err := ctx.Err(); err != nil {
			return err
		}
		to[p] = r.distances(c, balls.Centers, v)
	}
	for j := range balls.Centers {
		var found []int32
		var levels []uint8
		for p := range points {
			if l := balls.Level(j, to[p][j]); l < balls.Levels {
				found, levels = append(found, int32(p)), append(levels, uint8(l))
			}
		}
		if len(found) > 0 {
			visits[0](j, found, levels)
		}
	}
	return nil
}

func (r *Neighbors) distances(c *centers, from [][]float32, v []float32) []float32 {
	r.mu.Lock()
	known := c.distance[&v[0]]
	r.mu.Unlock()
	if known != nil {
		return known
	}
	out := make([]float32, len(from))
	for j, center := range from {
		out[j] = distance.Between(center, v)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept += len(out); r.kept <= maxCached {
		c.distance[&v[0]] = out
	}
	return out
}
