package power

import (
	"context"
	"fmt"
	"sync"

	"antipode/internal/distance"
	"antipode/kernel/client"
	"antipode/metrics/prdc"
)

// mostRemembered is how many distances are kept at most: 256 MiB.
const mostRemembered = 64 << 20

// remembering finds neighbours as [prdc.Plain] does, and keeps what draws have in common: the tables beside the pool are the same in all of them, and a
// picture of the pool is in many. Results are those of Plain, to the last bit.
type remembering struct {
	prdc.Plain
	fixed map[*float32]bool // vectors of the tables beside the pool, by where they lie
	mu    sync.Mutex
	kept  int // distances
	sets  map[string]*centres
}

// centres is a set of fixed vectors.
type centres struct {
	nearest  map[int]neighbours // by k
	distance map[*float32][]float32
}

type neighbours struct {
	index     []int32
	distances []float32
}

func newRemembering(fixed []*client.Frame) *remembering {
	r := &remembering{fixed: map[*float32]bool{}, sets: map[string]*centres{}}
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

// set is what is known of a set of vectors; nil where not all are fixed.
func (r *remembering) set(points [][]float32) *centres {
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
		c = &centres{nearest: map[int]neighbours{}, distance: map[*float32][]float32{}}
		r.sets[string(name)] = c
	}
	return c
}

// Nearest implements [prdc.Neighbours].
func (r *remembering) Nearest(ctx context.Context, points [][]float32, k int) ([]int32, []float32, error) {
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
		c.nearest[k] = neighbours{index, distances}
		r.mu.Unlock()
	}
	return index, distances, err
}

// Within implements [prdc.Neighbours].
func (r *remembering) Within(ctx context.Context, balls distance.Balls, points [][]float32, visits []distance.Visit) error {
	c := r.set(balls.Centres)
	if c == nil {
		return r.Plain.Within(ctx, balls, points, visits)
	}
	to := make([][]float32, len(points)) // distances of each point to the centres
	for p, v := range points {
		if err := ctx.Err(); err != nil {
			return err
		}
		to[p] = r.distances(c, balls.Centres, v)
	}
	for j := range balls.Centres {
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

func (r *remembering) distances(c *centres, from [][]float32, v []float32) []float32 {
	r.mu.Lock()
	known := c.distance[&v[0]]
	r.mu.Unlock()
	if known != nil {
		return known
	}
	out := make([]float32, len(from))
	for j, centre := range from {
		out[j] = distance.Between(centre, v)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept += len(out); r.kept <= mostRemembered {
		c.distance[&v[0]] = out
	}
	return out
}
