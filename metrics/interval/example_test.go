package interval_test

import (
	"fmt"

	"antipode/metrics/interval"
)

func ExampleWilson() {
	i := interval.Wilson(9, 10, 0.95)
	fmt.Printf("%.2f (%.2f to %.2f)\n", i.Value, i.Low, i.High)
	// Output: 0.90 (0.60 to 0.98)
}

func ExampleBootstrapMean() {
	scores := []float64{1, 1, 0, 0, 1, 1, 0, 1}
	prompts := []string{"a", "a", "b", "b", "c", "c", "d", "d"}
	i, err := interval.BootstrapMean(scores, prompts, interval.BootstrapOptions{Resamples: 2000, Seed: 1,
		Range: interval.Share})
	fmt.Printf("%.3f (%.3f to %.3f) %s, %d resamples, %v\n", i.Value, i.Low, i.High, i.Method, i.Resamples, err)
	// Output: 0.625 (0.000 to 1.000) clustered bootstrap, 2000 resamples, <nil>
}

func ExampleBootstrapRatio() {
	hits, shown := []float64{3, 1, 0, 2}, []float64{4, 4, 2, 4}
	i, err := interval.BootstrapRatio(hits, shown, nil, interval.BootstrapOptions{Resamples: 500})
	fmt.Printf("%.3f, %v\n", i.Value, err)
	// Output: 0.429, <nil>
}

func ExampleHalfSample() {
	s, err := interval.HalfSample(interval.HalfSampleOptions{Resamples: 3, Side: "real",
		Cells: []string{"car", "car", "bag", "bag"}})
	fmt.Println(s.Count(), s.Len(), s.Sizes(), err)
	// Output: 3 4 [2 2 2] <nil>
}

func ExampleFromHalves() {
	i, err := interval.FromHalves(0.5, []float64{0.4, 0.45, 0.5, 0.55, 0.6}, 0.6, interval.Share)
	fmt.Printf("%.2f (%.2f to %.2f), %v\n", i.Value, i.Low, i.High, err)
	// Output: 0.50 (0.41 to 0.59), <nil>
}

func ExampleGaps() {
	gaps, err := interval.Gaps([]interval.Scored{
		{Name: "Africa", Value: 0.2, Samples: []float64{0.19, 0.2, 0.21, 0.2}},
		{Name: "Europe", Value: 0.6, Samples: []float64{0.6, 0.58, 0.62, 0.6}},
	}, 0.95)
	for _, g := range gaps {
		fmt.Printf("%s − %s: %.2f, significant %v\n", g.A, g.B, g.Single.Value, g.Simultaneous.Excludes(0))
	}
	fmt.Println(err)
	// Output:
	// Africa − Europe: -0.40, significant true
	// <nil>
}
