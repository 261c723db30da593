package chain

import (
	"fmt"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/prdc"
)

// TestRememberedDistancesAreTheSame: as Plain finds them, for fixed centers and for others.
func TestRememberedDistancesAreTheSame(t *testing.T) {
	rng := near.Rand(t, 8)
	vectors := func(n int) (out [][]float32) {
		for range n {
			out = append(out, []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.IntN(3))})
		}
		return out
	}
	real, other, pool := vectors(60), vectors(40), vectors(80)
	n := NewNeighbors([]*table.Frame{{Columns: []table.Column{table.VectorColumn("full", real)}}})
	for round := range 3 {
		sample := pool[10*round : 10*round+40]
		for name, centers := range map[string][][]float32{"fixed": real, "part of the fixed": real[20:50],
			"not fixed": other} {
			sets, opts := prdc.Sets{Real: centers, Generated: sample}, prdc.Options{Recall: true, Members: true}
			got := must.Get(prdc.Compute(t.Context(), sets, opts, n))(t)
			want := must.Get(prdc.Compute(t.Context(), sets, opts, nil))(t)
			must.Equal(t, got.Scores, want.Scores, name, "plain")
			must.Equal(t, fmt.Sprint(got.Members, got.Radii, got.Balls), fmt.Sprint(want.Members, want.Radii,
				want.Balls), name, "plain")
		}
	}
	if len(n.sets) != 2 || n.kept == 0 {
		t.Errorf("%d sets, %d distances cached", len(n.sets), n.kept)
	}
}
