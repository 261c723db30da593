package distribution_test

import (
	"fmt"
	"math/rand/v2"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/distribution"
	"antipode/metrics/internal/tabulartest"
)

// embedded returns images of two regions; those of the south are shifted. gomlxmodels.Embed makes such tables.
func embedded(seed uint64, n int, shift float64) datasets.Table {
	rng := rand.New(rand.NewPCG(seed, 0))
	var region, answer []string
	var full [][]float32
	for i := range n {
		south := float64(i % 2)
		region = append(region, []string{"north", "south"}[i%2])
		answer = append(answer, []string{"boat", "canoe", "ferry", "raft"}[rng.IntN(2+2*(i%2))])
		full = append(full, []float32{float32(rng.NormFloat64() + shift*south), float32(rng.NormFloat64()), 3})
	}
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{table.TextColumn("region", region),
		table.TextColumn("answer", answer), table.VectorColumn("full", full)}})
}

var (
	sets   = metrics.Sets{Real: embedded(1, 200, 0), Generated: embedded(2, 120, 1.5)}
	byArea = distribution.Sampling{By: metrics.By("region"), Intervals: metrics.Intervals{Resamples: 100}}
)

func ExampleFrechetDistance() {
	tabulartest.Show(distribution.FrechetDistance(sets, distribution.FrechetOptions{Sampling: byArea}),
		"region", "frechet_distance", "frechet_distance_low", "frechet_distance_high", "flagged", "n_each")
	// Output:
	// region  frechet_distance  frechet_distance_low  frechet_distance_high  flagged  n_each
	// north          0.0528337                     0               0.256882  yes          60
	// south            2.23963               1.15414                3.69958  yes          60
}

func ExampleKID() {
	tabulartest.Show(distribution.KID(sets, distribution.KernelOptions{Sampling: byArea}),
		"region", "kid", "gap", "gap_low", "gap_high", "flagged")
	// Output:
	// region        kid       gap   gap_low  gap_high  flagged
	// north   -0.727596  -44.5444  -72.1825  -18.5159  yes
	// south     43.8168   44.5444   18.5159   72.1825  yes
}

func ExampleCMMD() {
	tabulartest.Show(distribution.CMMD(sets, distribution.KernelOptions{Sampling: byArea, Ceiling: true}),
		"region", "cmmd", "ceiling", "ceiling_low", "ceiling_high", "n_each")
	// Output:
	// region       cmmd    ceiling  ceiling_low  ceiling_high  n_each
	// north   0.0472578  0.0654215            0       0.35589      50
	// south     1.61092  0.0652289            0      0.443789      50
}

func ExampleImageRetrieval() {
	tabulartest.Show(distribution.ImageRetrieval(sets, distribution.RetrievalOptions{Sampling: byArea}),
		"region", "image_retrieval", "image_retrieval_limit", "image_retrieval_limit_low",
		"image_retrieval_limit_high")
	// Output:
	// region  image_retrieval  image_retrieval_limit  image_retrieval_limit_low  image_retrieval_limit_high
	// north              0.39                   0.63                       0.48                        0.94
	// south              0.29                   0.35                        0.3                        0.46
}

func ExampleInceptionScore() {
	tabulartest.Show(distribution.InceptionScore(sets, distribution.InceptionOptions{Sampling: byArea}),
		"region", "inception_score", "n_each")
	// Output:
	// region  inception_score  n_each
	// north           1.06179      60
	// south           1.08928      60
}

func ExampleVendiScore() {
	tabulartest.Show(distribution.VendiScore(sets.Generated, distribution.VendiOptions{Order: []string{"1", "inf"},
		Sampling: byArea}), "region", "order", "vendi", "vendi_low", "vendi_high", "n_used")
	// Output:
	// region  order    vendi  vendi_low  vendi_high  n_used
	// north   1      1.76276    1.61606     1.92343      60
	// south   1      1.67763     1.5106     1.79913      60
	// north   inf    1.20052    1.15014     1.25834      60
	// south   inf    1.17241    1.12033     1.21357      60
}

func ExampleHillNumbers() {
	tabulartest.Show(distribution.HillNumbers(sets.Generated, distribution.HillOptions{Column: "answer",
		By: metrics.By("region"), At: "infinity"}), "region", "order", "hill", "hill_low", "hill_high", "coverage")
	// Output:
	// region  order     hill  hill_low  hill_high  coverage
	// north   1       2.0124   1.90915    2.03563         1
	// south   1      4.04147   3.68527     4.2001         1
}

// The sets of the reference implementations: rows of equal length.
func ExampleFrechet() {
	v := distribution.Vectors{Real: [][]float32{{0, 0}, {1, 0}, {0, 1}, {1, 1}},
		Generated: [][]float32{{1, 0}, {2, 0}, {1, 1}, {2, 1}}}
	distance, err := distribution.Frechet(v)
	fmt.Printf("%.3f %v\n", distance, err)
	_, err = distribution.FrechetInfinity(v, distribution.ExtrapolateGenerated)
	fmt.Println(err)
	// Output:
	// 1.000 <nil>
	// <nil>
}

func ExampleMMD() {
	v := distribution.Vectors{Real: [][]float32{{0, 1}, {1, 0}}, Generated: [][]float32{{0, -1}, {1, 0}}}
	kid, _ := distribution.MMD(v, distribution.Polynomial, distribution.Unbiased)
	cmmd, _ := distribution.MMD(v, distribution.Gaussian, distribution.Biased)
	fmt.Printf("%.4f %.4f\n", kid, cmmd)
	// Output:
	// -0.7500 9.9007
}

func ExampleVendi() {
	for _, order := range []string{"0", "1", "2", "inf"} {
		score, _ := distribution.Vendi([][]float32{{1, 0}, {1, 0}, {1, 0}, {0, 1}}, order)
		fmt.Printf("%s: %.3f\n", order, score)
	}
	// Output:
	// 0: 2.000
	// 1: 1.755
	// 2: 1.600
	// inf: 1.333
}

func ExampleInception() {
	score, _ := distribution.Inception([][]float32{{1, 0}, {0, 1}}, 1)
	fmt.Println(score)
	// Output:
	// 2
}

// Of 1,000 reference images, 500 generated ones retrieve 300.
func ExampleRetrievalLimit() {
	limit, _ := distribution.RetrievalLimit(300, 500, 1000, 0.95)
	fmt.Printf("%.3f [%.3f, %.3f]\n", limit.Value, limit.Low, limit.High)
	// Output:
	// 0.443 [0.404, 0.491]
}

func ExampleAbundances() {
	answers := distribution.Abundances{9, 4, 2, 1, 1}
	fmt.Printf("%.2f of %d images, %.2f of 10, %.2f for all; coverage %.2f\n", answers.Observed("1"), answers.Size(),
		answers.At("1", 10), answers.Infinity("1"), answers.Coverage(answers.Size()))
	hill, size := answers.AtCoverage("1", 0.8)
	fmt.Printf("%.2f of the %.1f images that cover 80 %%; a population of %d categories\n", hill, size,
		len(answers.Population()))
	// Output:
	// 3.53 of 17 images, 3.14 of 10, 4.31 for all; coverage 0.89
	// 2.95 of the 8.0 images that cover 80 %; a population of 7 categories
}
