package prdc_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"antipode/metrics/interval"
	"antipode/metrics/prdc"
)

// Precision and coverage of one region with their half-sampling intervals.
func ExampleCompute() {
	r := rand.New(rand.NewPCG(1, 1))
	images := func(n int, scale float64) (vectors [][]float32, cells []string) {
		for i := range n {
			vectors = append(vectors, []float32{float32(scale * r.NormFloat64()), float32(scale * r.NormFloat64()),
				float32(scale * r.NormFloat64())})
			cells = append(cells, []string{"car", "bag"}[i%2]) // the object; a half-sample contains half of each
		}
		return vectors, cells
	}
	real, realCells := images(200, 1)
	generated, generatedCells := images(200, 0.5) // less diverse than the real images

	realSamples, err := interval.HalfSample(interval.HalfSampleOptions{Seed: 7, Side: "real", Cells: realCells})
	if err != nil {
		fmt.Println(err)
		return
	}
	generatedSamples, err := interval.HalfSample(interval.HalfSampleOptions{Seed: 7, Side: "generated",
		Cells: generatedCells})
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := prdc.Compute(context.Background(), prdc.Sets{Real: real, Generated: generated},
		prdc.Options{K: 3, RealSamples: realSamples, GeneratedSamples: generatedSamples}, prdc.Plain{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []struct {
		name string
		of   func(prdc.Scores) float64
	}{
		{"precision", func(s prdc.Scores) float64 { return s.Precision }},
		{"coverage", func(s prdc.Scores) float64 { return s.Coverage }},
	} {
		i, err := interval.FromHalves(s.of(run.Scores), run.Samples.Of(s.of), 0.95, interval.Share)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %.3f (%.3f to %.3f), n = %d real, %d generated\n", s.name, i.Value, i.Low, i.High, run.Real,
			run.Generated)
	}
	// Output:
	// precision 0.995 (0.979 to 0.999), n = 200 real, 200 generated
	// coverage 0.575 (0.484 to 0.654), n = 200 real, 200 generated
}
