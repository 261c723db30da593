package prdc

import (
	"context"
	"fmt"
	"runtime"

	"antipode/internal/distance"
	"antipode/internal/fault"
)

// Plain implements [Neighbors] in pure Go by comparing every pair in float64. It is slow and defines the exact result.
type Plain struct{}

// tile is the number of rows that are compared at a time with all others, so that each vector is loaded once for them.
const tile = 16

// Nearest implements [Neighbors].
func (Plain) Nearest(ctx context.Context, points [][]float32, k int) ([]int32, []float32, error) {
	if k <= 0 || k >= len(points) {
		return nil, nil, fmt.Errorf("prdc: %d neighbors of %d points", k, len(points))
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

// Within implements [Neighbors].
func (Plain) Within(ctx context.Context, balls distance.Balls, points [][]float32, visits []distance.Visit) error {
	return eachTile(ctx, len(balls.Centers), len(visits), func(worker, from, to int) {
		found := make([][]int32, to-from)
		levels := make([][]uint8, to-from)
		for p, v := range points {
			for j := from; j < to; j++ {
				if l := balls.Level(j, distance.Between(balls.Centers[j], v)); l < balls.Levels {
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

// eachTile distributes the tiles of n rows to workers.
func eachTile(ctx context.Context, n, workers int, do func(worker, from, to int)) error {
	fault.Pieces(n, tile, workers, func(worker, from, to int) {
		if ctx.Err() == nil {
			do(worker, from, to)
		}
	})
	return ctx.Err()
}
