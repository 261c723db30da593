package distribution

import (
	"context"
	"errors"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// FrechetOptions are the options of [FrechetDistance].
type FrechetOptions struct {
	Vector      string `json:"vector,omitempty" default:"full" help:"vector column to compare"`
	Extrapolate string `json:"extrapolate,omitempty" default:"none" values:"none,generated,both" help:"the distance for infinitely many images of these sets, from samples of different n"`
	Ceiling     bool   `json:"ceiling,omitempty" help:"also score held-out reference images as if they were generated"`
	Sampling    `resamples:"200"`
}

// FrechetRow is a row of the result of [FrechetDistance].
type FrechetRow struct {
	Group    metrics.Group
	Vector   string           `column:"vector"`
	Interval string           `column:"interval" help:"kind of the intervals"`
	Distance metrics.Estimate `column:"frechet_distance" unit:"squared distance" range:"[0, ∞)"`
	Ceiling  metrics.Estimate `column:"ceiling" unit:"squared distance" help:"of held-out reference images, at the same n"`
	Compared
	N int `column:"n_each" unit:"images" help:"generated images in a score"`
	metrics.Counts
}

var twoSets = []metrics.Input{{Role: "real", About: "the reference images"},
	{Role: "generated", About: "the generated images"}}

var frechetDistance = metrics.Define(metrics.Definition[FrechetOptions, FrechetRow]{
	Name: "frechet-distance", Version: 1, Inputs: twoSets,
	Title: "Fréchet distance of generated and reference images (FID, FD-DINOv2) by group, with intervals",
	Unit:  "squared distance", Range: "[0, ∞)", Direction: "lower is better",
	Citation: "Heusel et al. 2017; Chong and Forsyth 2020; Stein et al. 2023",
	Compute: func(ctx context.Context, call *metrics.Call, o FrechetOptions) (out []FrechetRow, err error) {
		width := 0
		results, err := o.vectors(ctx, call, o.Vector, measure{name: "frechet-distance", least: 2, ceiling: o.Ceiling,
			within: interval.Range{Min: 0, Max: math.Inf(1)}}, func(_ *group, v Vectors) (scorer, error) {
			width = len(v.Real[0])
			return o.scorer(call, v), nil
		})
		var notes metrics.GroupNotes
		for _, r := range results {
			if r.n > 0 && r.n < 2*width {
				notes.Add(fmt.Sprintf("n is below twice the %d numbers of a vector: the distance is mostly bias; compare "+
					"it only at equal n", width), r.label())
			}
			out = append(out, FrechetRow{r.values, o.Vector, r.interval, r.value, r.ceiling, r.Compared, r.n, r.counts()})
		}
		notes.AddTo(call, o.By...)
		return out, err
	},
})

// FrechetDistance is the metric frechet-distance: the [Frechet] distance of generated and reference images in the space
// of one vector column, by group. With Inception's vectors it is the FID, with DINOv2's the FD-DINOv2.
//
// The distance grows as n falls: about as 1/n for n above twice the length d of the vectors, faster below (a note says
// so). With intervals and By, all groups are therefore scored at the n of the smallest one (see [Sampling]), and gap
// compares them. Extrapolate estimates the distance for infinitely many images by the line through the distances of 15
// sizes from n/2 to n over 1/n: of the generated images, as Chong and Forsyth, or of both sets. Ceiling scores reference
// images against others of them. Resamples -1 is the reference implementation's value on all rows.
func FrechetDistance(sets metrics.Sets, options ...FrechetOptions) datasets.Table {
	return frechetDistance.Table(tables(sets), options...)
}

func tables(s metrics.Sets) map[string]datasets.Table {
	return map[string]datasets.Table{"real": s.Real, "generated": s.Generated}
}

// vectors scores two tables by a vector column; score makes the scorer of a group.
func (o Sampling) vectors(ctx context.Context, call *metrics.Call, vector string, m measure,
	score func(g *group, v Vectors) (scorer, error)) ([]*result, error) {
	groups, vectors, err := gatherVectors(ctx, call, o, vector, "real", "generated")
	if err != nil {
		return nil, err
	}
	m.two, m.score = true, func(g *group) (scorer, error) {
		return score(g, Vectors{pick(vectors["real"], g.real.rows), pick(vectors["generated"], g.generated.rows)})
	}
	return o.run(ctx, call, groups, m)
}

func (o FrechetOptions) scorer(call *metrics.Call, v Vectors) scorer {
	distance := Frechet
	if o.Extrapolate != "none" {
		distance = func(v Vectors) (float64, error) { return FrechetInfinity(v, Extrapolation(o.Extrapolate)) }
	}
	return func(ctx context.Context, pairs []pair) ([]float64, error) {
		return each(ctx, len(pairs), func(i int) (float64, error) {
			call.Report("frechet-distance", i, len(pairs))
			return distance(pairs[i].of(v))
		})
	}
}

// Frechet returns the Fréchet distance of two sets of vectors, in float64:
//
//	|μ₁ − μ₂|² + tr Σ₁ + tr Σ₂ − 2 tr (Σ₁Σ₂)^½    [0, ∞); 0 for equal means and covariances
//
// Covariances have the divisor n − 1. The trace of the root is the sum of the roots of the eigenvalues of F Σ₂ Fᵀ with
// FᵀF = Σ₁, which are those of Σ₁Σ₂ where the covariances are singular, too; those below 0 by rounding count as 0. This
// is torch-fidelity's value, up to the accuracy of eigenvalues. Errors: fewer than 2 rows, rows of unequal length.
func Frechet(v Vectors) (float64, error) {
	if _, err := v.check(2); err != nil {
		return 0, err
	}
	a, b := dense(v.Real), dense(v.Generated)
	means, trace := center(a, b)
	n, d := a.Dims()
	m, _ := b.Dims()
	product := mat.NewSymDense(min(n, m, d), nil)
	scale := 1 / (float64(n-1) * float64(m-1))
	if min(n, m) < d { // the eigenvalues of Σ₁Σ₂ other than 0 are those of ABᵀBAᵀ, which is smaller
		var c mat.Dense
		c.Mul(a, b.T())
		if n <= m {
			gram(product, scale, &c)
		} else {
			gram(product, scale, c.T())
		}
	} else {
		one, two := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
		gram(one, 1/float64(n-1), a.T())
		gram(two, 1/float64(m-1), b.T())
		f, err := factor(one)
		if err != nil {
			return 0, err
		}
		var left, both mat.Dense
		left.Mul(f, mat.DenseCopyOf(two)) // Mul is slow for matrices of other kinds
		both.Mul(&left, f.T())
		for i := range d {
			for j := i; j < d; j++ {
				product.SetSym(i, j, (both.At(i, j)+both.At(j, i))/2)
			}
		}
	}
	values, err := eigenvalues(product)
	if err != nil {
		return 0, err
	}
	root := 0.0
	for _, v := range values {
		root += math.Sqrt(max(v, 0))
	}
	return max(0, means+trace[0]+trace[1]-2*root), nil
}

// factor returns F with FᵀF = Σ: the Cholesky factor, or where Σ is (nearly) singular that of its eigenvalues.
func factor(sigma *mat.SymDense) (*mat.Dense, error) {
	var chol mat.Cholesky
	if chol.Factorize(sigma) && chol.Cond() < 1e10 {
		var u mat.TriDense
		chol.UTo(&u)
		return mat.DenseCopyOf(&u), nil
	}
	var e mat.EigenSym
	if !e.Factorize(sigma, true) {
		return nil, errors.New("the eigenvalues of a covariance did not converge")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	roots := e.Values(nil)
	f := mat.DenseCopyOf(v.T())
	for i, x := range roots {
		floats.Scale(math.Sqrt(max(x, 0)), f.RawRowView(i))
	}
	return f, nil
}

// extrapolated is the number of sizes from which [FrechetInfinity] extrapolates.
const extrapolated = 15

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
	if _, err := v.check(4); err != nil {
		return 0, err
	}
	var x, y []float64
	for i := range extrapolated {
		share := 0.5 + 0.5*float64(i)/(extrapolated-1)
		n, sample := int(share*float64(len(v.Generated))), v
		if of == ExtrapolateBoth {
			sample.Real = shuffled(v.Real, uint64(2*i))[:int(share*float64(len(v.Real)))]
		}
		sample.Generated = shuffled(v.Generated, uint64(2*i+1))[:n]
		d, err := Frechet(sample)
		if err != nil {
			return 0, err
		}
		x, y = append(x, 1/float64(n)), append(y, d)
	}
	mx, my, above, below := mean(x), mean(y), 0.0, 0.0
	for i := range x {
		above, below = above+(x[i]-mx)*(y[i]-my), below+(x[i]-mx)*(x[i]-mx)
	}
	return my - mx*above/below, nil
}
