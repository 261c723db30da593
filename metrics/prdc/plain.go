package prdc

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"antipode/internal/distance"
)

// Plain compares every pair in float64, in pure Go: slow, needs nothing, and is what "exact" means. The zero Plain is ready to use.
type Plain struct{}

// tile is how many rows are compared at a time with all others: one load of a vector serves them all.
const tile = 16

// Nearest implements [Neighbours].
func (Plain) Nearest(ctx context.Context, points [][]float32, k int) ([]int32, []float32, error) {
	if k <= 0 || k >= len(points) {
		return nil, nil, fmt.Errorf("prdc: %d neighbours of %d points", k, len(points))
	}
	index, near := make([]int32, len(points)*k), make([]float32, len(points)*k)
	err := eachTile(ctx, len(points), runtime.GOMAXPROCS(0), func(_, from, to int) {
		lists := make([]distance.List, to-from)
		for i := range lists {
			at := (from + i) * k
			lists[i] = distance.List{K: k, Index: index[at:at:(at + k)], Distance: near[at:at:(at + k)]}
		}
		for j, v := range points {
			for i := range lists {
				if from+i != j {
					lists[i].Offer(int32(j), distance.Between(points[from+i], v))
				}
			}
		}
	})
	return index, near, err
}

// Within implements [Neighbours].
func (Plain) Within(ctx context.Context, balls distance.Balls, points [][]float32, visits []distance.Visit) error {
	return eachTile(ctx, len(balls.Centres), len(visits), func(worker, from, to int) {
		found := make([][]int32, to-from)
		levels := make([][]uint8, to-from)
		for p, v := range points {
			for j := from; j < to; j++ {
				if l := balls.Level(j, distance.Between(balls.Centres[j], v)); l < balls.Levels {
					found[j-from] = append(found[j-from], int32(p))
					levels[j-from] = append(levels[j-from], uint8(l))
				}
			}
		}
		for j := from; j < to; j++ {
			if len(found[j-from]) > 0 {
				visits[worker](j, found[j-from], levels[j-from])
			}
		}
	})
}

// eachTile shares the tiles of n rows among some workers.
func eachTile(ctx context.Context, n, workers int, do func(worker, from, to int)) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(tile)) - tile
				if from >= n {
					return
				}
				do(w, from, min(from+tile, n))
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}
