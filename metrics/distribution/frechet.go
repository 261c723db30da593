package distribution

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// FrechetOptions are the options of [FrechetDistance].
type FrechetOptions struct {
	Extrapolate string `json:"extrapolate,omitempty" default:"none" values:"none,generated,both" help:"the distance for infinitely many images of these sets, from samples of different n"`
	Ceiling     bool   `json:"ceiling,omitempty" help:"also score held-out reference images as if they were generated; all scores are then of half of the reference images"`
	Sampling    `resamples:"200"`
}

// frechetRow is a row of the result of [FrechetDistance].
type frechetRow struct {
	Subject
	Distance metrics.Estimate `column:"frechet_distance" unit:"squared distance" range:"[0, ∞); extrapolated also below 0"`
	Scored
}

var positive = interval.Range{Min: 0, Max: math.Inf(1)}

var frechetDistance = metrics.Define(metrics.Definition[FrechetOptions, frechetRow]{
	Name: "frechet-distance", Version: 2, // 1 had no extrapolated intervals below 0
	Device: true, Inputs: twoSets,
	Title: "Fréchet distance of generated and reference images (FID, FD-DINOv2) by group, with intervals",
	Unit:  "squared distance", Range: "[0, ∞); extrapolated also below 0", Direction: "lower is better",
	Citation: "Heusel et al. 2017; Chong and Forsyth 2020; Stein et al. 2023",
	Compute: func(ctx context.Context, call *metrics.Call, o FrechetOptions) (out []frechetRow, err error) {
		m := measure{name: "frechet-distance", two: true, ceiling: o.Ceiling, least: 2, within: positive,
			score: o.scorer}
		if o.Extrapolate != "none" {
			m.least, m.within = 4, interval.Range{}
		}
		results, err := o.run(ctx, call, m, "real", "generated")
		var notes metrics.GroupNotes
		for _, r := range results {
			if r.N > 0 && r.N < 2*len(r.vectors.Real[0]) {
				notes.Add(fmt.Sprintf("n is below twice the %d numbers of a vector: the distance is mostly bias; "+
					"compare it only at equal n", len(r.vectors.Real[0])), r.label())
			}
			out = append(out, frechetRow{r.subject(o.Sampling), r.value, r.Scored})
		}
		notes.AddTo(call, o.By...)
		return out, err
	},
})

// FrechetDistance is the metric frechet-distance: the [Frechet] distance of generated and reference images in the space
// of one vector column, by group. With Inception's vectors it is the FID, with DINOv2's the FD-DINOv2.
//
// The distance grows as n falls: about as 1/n for n above twice the length of the vectors, faster below (a note says
// so). With intervals and By, all groups are therefore scored at the n of the smallest one, and gap compares them.
// Extrapolate selects [FrechetInfinity]. Resamples -1 is the reference implementation's value on all rows.
func FrechetDistance(sets metrics.Sets, options ...FrechetOptions) datasets.Table {
	return frechetDistance.Table(sets.Inputs(), options...)
}

func (o FrechetOptions) scorer(g *group) (scorer, error) {
	distance := Frechet
	if o.Extrapolate != "none" {
		distance = func(v Vectors) (float64, error) { return FrechetInfinity(v, Extrapolation(o.Extrapolate)) }
	}
	return func(ctx context.Context, pairs []pair) ([]float64, error) {
		return each(ctx, len(pairs), func(i int) (float64, error) { return distance(pairs[i].of(g.vectors)) })
	}, nil
}

// Frechet returns the Fréchet distance of two sets of vectors, in float64:
//
//	|μ₁ − μ₂|² + tr Σ₁ + tr Σ₂ − 2 tr (Σ₁Σ₂)^½    [0, ∞); 0 for equal means and covariances
//
// Covariances have the divisor n − 1. The trace of the root is the sum of the roots of the eigenvalues of F Σ₂ Fᵀ with
// FᵀF = Σ₁, which are those of Σ₁Σ₂ where the covariances are singular, too; those below 0 by rounding count as 0. This
// is torch-fidelity's value, up to the accuracy of eigenvalues. Errors: fewer than 2 rows, vectors of unequal length or
// with NaN.
func Frechet(v Vectors) (float64, error) {
	if err := v.check(2); err != nil {
		return 0, err
	}
	a, b := dense(v.Real), dense(v.Generated)
	mean, other := center(a), center(b)
	n, d := a.Dims()
	m, _ := b.Dims()
	var product mat.Dense
	if min(n, m) < d { // the eigenvalues of Σ₁Σ₂ other than 0 are those of ABᵀBAᵀ, which is smaller
		product.Mul(a, b.T())
		if n > m {
			product = *mat.DenseCopyOf(product.T())
		}
		product = *gram(&product, false)
	} else {
		two := gram(b, true)
		f, err := factor(gram(a, true))
		if err != nil {
			return 0, err
		}
		product.Mul(f, two)
		product.Mul(mat.DenseCopyOf(&product), f.T())
	}
	values, err := eigenvalues(&product)
	floats.Sub(mean, other)
	distance := floats.Dot(mean, mean)
	for _, s := range []*mat.Dense{a, b} {
		rows, _ := s.Dims()
		for i := range rows {
			distance += floats.Dot(s.RawRowView(i), s.RawRowView(i)) / float64(rows-1)
		}
	}
	for _, x := range values {
		distance -= 2 * math.Sqrt(max(x, 0)/(float64(n-1)*float64(m-1)))
	}
	return max(0, distance), err
}

// factor returns F with FᵀF = S: the Cholesky factor, or where S is (nearly) singular that of its eigenvalues.
func factor(s *mat.Dense) (*mat.Dense, error) {
	n, _ := s.Dims()
	symmetric := mat.NewSymDense(n, s.RawMatrix().Data)
	var chol mat.Cholesky
	if chol.Factorize(symmetric) && chol.Cond() < 1e10 {
		var u mat.TriDense
		chol.UTo(&u)
		return mat.DenseCopyOf(&u), nil
	}
	var e mat.EigenSym
	if !e.Factorize(symmetric, true) {
		return nil, errors.New("the eigenvalues of a covariance did not converge")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	f := mat.DenseCopyOf(v.T())
	for i, x := range e.Values(nil) {
		floats.Scale(math.Sqrt(max(x, 0)), f.RawRowView(i))
	}
	return f, nil
}

// Extrapolation says of which sets [FrechetInfinity] has infinitely many images.
type Extrapolation string

// The extrapolations.
const (
	ExtrapolateGenerated Extrapolation = "generated" // as Chong and Forsyth
	ExtrapolateBoth      Extrapolation = "both"
)

// FrechetInfinity returns the [Frechet] distance extrapolated to infinitely many images (Chong and Forsyth 2020): the
// intercept of the least-squares line through the distances of 15 samples of n images over 1/n, for n from half of them
// to all (in the paper from 5,000 to 50,000). The line is a good fit where n is above twice the length of the vectors.
// The samples are the first rows of fixed permutations. The result may be below 0. Errors: those of Frechet; fewer than
// 4 images.
func FrechetInfinity(v Vectors, of Extrapolation) (float64, error) {
	if err := v.check(4); err != nil {
		return 0, err
	}
	const samples = 15
	var x, y []float64
	for i := range samples {
		some := func(rows [][]float32) [][]float32 {
			n := int(float64(len(rows)) * (0.5 + 0.5*float64(i)/(samples-1)))
			return pick(rows, rand.New(rand.NewPCG(uint64(i), 0)).Perm(len(rows))[:n])
		}
		sample := Vectors{v.Real, some(v.Generated)}
		if of == ExtrapolateBoth {
			sample.Real = some(v.Real)
		}
		d, err := Frechet(sample)
		if err != nil {
			return 0, err
		}
		x, y = append(x, 1/float64(len(sample.Generated))), append(y, d)
	}
	mx, my, above, below := mean(x), mean(y), 0.0, 0.0
	for i := range x {
		above, below = above+(x[i]-mx)*(y[i]-my), below+(x[i]-mx)*(x[i]-mx)
	}
	return my - mx*above/below, nil
}
