package neighbors_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/neighbors"
	"antipode/internal/must"
	"antipode/metrics/prdc"
	"antipode/test/modeltest"
)

// Precision and coverage of 3,000 vectors against 3,000 of 768 numbers.
func BenchmarkPrecisionCoverage(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	s := prdc.Sets{Real: rows(3000, 768, r.NormFloat64), Generated: rows(3000, 768, r.NormFloat64)}
	for _, block := range []int{512, 1024, 2048} {
		b.Run(fmt.Sprint(block), func(b *testing.B) {
			d := modeltest.Device(b, device.XLACPU)
			f := neighbors.New(d.Backend, neighbors.Options{Block: block})
			defer f.Close()
			_ = must.Get(prdc.Compute(b.Context(), s, prdc.Options{}, f))(b) // compiles
			for b.Loop() {
				_ = must.Get(prdc.Compute(b.Context(), s, prdc.Options{}, f))(b)
			}
		})
	}
}
