package distribution

import (
	"context"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// KernelOptions are the options of [KID] and [CMMD].
type KernelOptions struct {
	Method   string `json:"method,omitempty" values:"unbiased,biased" help:"without or with the kernel of each image with itself; empty = as the reference implementation (kid unbiased, cmmd biased)"`
	Ceiling  bool   `json:"ceiling,omitempty" help:"also score held-out reference images as if they were generated; all scores are then of half of the reference images"`
	Sampling `resamples:"200" samples:"100"`
}

// kidRow is a row of the result of [KID].
type kidRow struct {
	Subject
	KID metrics.Estimate `column:"kid" unit:"squared MMD"`
	Scored
}

// cmmdRow is a row of the result of [CMMD].
type cmmdRow struct {
	Subject
	CMMD metrics.Estimate `column:"cmmd" unit:"1000 × squared MMD"`
	Scored
}

var kid = metrics.Define(metrics.Definition[KernelOptions, kidRow]{
	Name: "kid", Version: 1, Device: true, Inputs: twoSets,
	Title: "kernel distance (KID) of generated and reference images by group, with intervals",
	Unit:  "squared MMD", Range: "(-∞, ∞)", Direction: "lower is better", Citation: "Bińkowski et al. 2018",
	Compute: func(ctx context.Context, call *metrics.Call, o KernelOptions) (out []kidRow, err error) {
		results, err := o.kernel(ctx, call, "kid", Polynomial)
		for _, r := range results {
			out = append(out, kidRow{r.subject(o.Sampling), r.value, r.Scored})
		}
		return out, err
	},
})

var cmmd = metrics.Define(metrics.Definition[KernelOptions, cmmdRow]{
	Name: "cmmd", Version: 1, Device: true, Inputs: twoSets,
	Title: "kernel distance of CLIP's vectors (CMMD) of generated and reference images by group, with intervals",
	Unit:  "1000 × squared MMD", Range: "[0, 2000]; unbiased also below 0", Direction: "lower is better",
	Citation: "Jayasumana et al. 2024 (arXiv 2401.09603)",
	Compute: func(ctx context.Context, call *metrics.Call, o KernelOptions) (out []cmmdRow, err error) {
		results, err := o.kernel(ctx, call, "cmmd", Gaussian)
		for _, r := range results {
			out = append(out, cmmdRow{r.subject(o.Sampling), r.value, r.Scored})
		}
		return out, err
	},
})

// KID is the metric kid: the kernel distance of Bińkowski et al. 2018, the unbiased [MMD] with the [Polynomial]
// kernel, of generated and reference images by group. Its expectation does not depend on n: it is 0 for sets of one
// distribution, and values may be below 0. N and Samples average over subsets of stated size, as torch-fidelity does
// over 100 of 1,000 images; without N the score is that of all images, which these averages estimate. The interval
// is that of the score over other images of the same number, not the spread of subsets.
func KID(sets metrics.Sets, options ...KernelOptions) datasets.Table {
	return kid.Table(sets.Inputs(), options...)
}

// CMMD is the metric cmmd: 1000 times the [MMD] with the [Gaussian] kernel, by group, meant for the vectors of CLIP
// ViT-L/14-336. As in cmmd-pytorch the estimator is the biased one, which is above 0 for sets of one distribution,
// by about 1000/n·(1 − the mean kernel) for each set: compare it at equal n, or use Method "unbiased".
func CMMD(sets metrics.Sets, options ...KernelOptions) datasets.Table {
	return cmmd.Table(sets.Inputs(), options...)
}

// Kernel is the kernel of [MMD].
type Kernel int

// The kernels, for vectors of d numbers.
const (
	Polynomial Kernel = iota // (x·y/d + 1)³
	Gaussian                 // 1000·exp(−|x − y|²/200) of vectors scaled to length 1
)

// Estimator says whether [MMD] includes the kernel of each vector with itself.
type Estimator string

// The estimators.
const (
	Unbiased Estimator = "unbiased"
	Biased   Estimator = "biased"
)

// MMD returns the squared maximum mean discrepancy of two sets of vectors (Gretton et al. 2012), in float64: the mean
// kernel within each set less twice the mean kernel between them. Errors: fewer than 2 rows, vectors of unequal length
// or with NaN, vectors of length 0 with the Gaussian kernel.
func MMD(v Vectors, k Kernel, e Estimator) (float64, error) {
	if err := v.check(2); err != nil {
		return 0, err
	}
	s, err := k.scorer(v, e)
	if err != nil {
		return 0, err
	}
	values, err := s(context.Background(), []pair{v.whole()})
	return mean(values), err
}

func (o KernelOptions) kernel(ctx context.Context, call *metrics.Call, name string, k Kernel) ([]*result, error) {
	e, m := Estimator(o.Method), measure{name: name, two: true, ceiling: o.Ceiling, least: 2}
	if e == "" {
		e = map[Kernel]Estimator{Polynomial: Unbiased, Gaussian: Biased}[k]
	}
	if e == Biased {
		m.within = positive
	}
	m.score = func(g *group) (scorer, error) { return k.scorer(g.vectors, e) }
	return o.run(ctx, call, m, "real", "generated")
}

// points are vectors with their squared lengths, and indicators of the samples that contain them.
type points struct {
	*mat.Dense
	squares []float64
	in      *mat.Dense
}

// points prepares vectors for the kernel.
func (k Kernel) points(rows [][]float32) (*points, error) {
	p := &points{Dense: dense(rows)}
	for i, v := range rows {
		if k == Gaussian {
			unit, reason := tabular.Unit(v)
			if reason != "" {
				return nil, fmt.Errorf("vector %d: %s", i+1, reason)
			}
			p.SetRow(i, unit)
		}
		p.squares = append(p.squares, floats.Dot(p.RawRowView(i), p.RawRowView(i)))
	}
	return p, nil
}

// sampled returns the points with the indicators of samples, which are lists of positions.
func (p *points) sampled(count int, positions func(sample int) []int) *points {
	out := &points{p.Dense, p.squares, mat.NewDense(len(p.squares), count, nil)}
	for s := range count {
		for _, i := range positions(s) {
			out.in.Set(i, s, 1)
		}
	}
	return out
}

// of replaces an inner product by the kernel.
func (k Kernel) of(product, squareX, squareY float64, width int) float64 {
	if k == Polynomial {
		x := product/float64(width) + 1
		return x * x * x
	}
	return 1000 * math.Exp((2*product-squareX-squareY)/200)
}

// scorer returns the squared MMD of pairs, for all of them in one pass over the kernels.
func (k Kernel) scorer(v Vectors, e Estimator) (scorer, error) {
	real, err := k.points(v.Real)
	if err != nil {
		return nil, fmt.Errorf("reference %w", err)
	}
	generated, err := k.points(v.Generated)
	if err != nil {
		return nil, fmt.Errorf("generated %w", err)
	}
	return func(ctx context.Context, pairs []pair) ([]float64, error) {
		x, y := real, generated
		if pairs[0].held {
			y = real
		}
		x = x.sampled(len(pairs), func(s int) []int { return pairs[s].real })
		y = y.sampled(len(pairs), func(s int) []int { return pairs[s].generated })
		out := make([]float64, len(pairs))
		for _, part := range [][2]*points{{x, x}, {y, y}, {x, y}} {
			sums, err := k.sums(ctx, part[0], part[1])
			if err != nil {
				return nil, err
			}
			for s, p := range pairs {
				n, m := float64(len(p.real)), float64(len(p.generated))
				switch {
				case part[0] != part[1]:
					out[s] -= 2 * sums[s] / (n * m)
					continue
				case part[0] == y:
					n = m
				}
				if e == Biased {
					out[s] += sums[s] / (n * n)
					continue
				}
				for i, square := range part[0].squares {
					sums[s] -= part[0].in.At(i, s) * k.of(square, square, square, x.RawMatrix().Cols)
				}
				out[s] += sums[s] / (n * (n - 1))
			}
		}
		return out, nil
	}, nil
}

// tile is the number of vectors whose products are computed at a time.
const tile = 512

// sums returns, for each sample, the sum of the kernel over the pairs of vectors in it.
func (k Kernel) sums(ctx context.Context, x, y *points) ([]float64, error) {
	_, samples := x.in.Dims()
	var tiles [][2]int
	for i := 0; i < len(x.squares); i += tile {
		for j := 0; j < len(y.squares); j += tile {
			if x != y || j >= i { // the kernel is symmetric
				tiles = append(tiles, [2]int{i, j})
			}
		}
	}
	parts := make([][]float64, len(tiles))
	_, err := each(ctx, len(tiles), func(t int) (float64, error) {
		i, j := tiles[t][0], tiles[t][1]
		endI, endJ := min(i+tile, len(x.squares)), min(j+tile, len(y.squares))
		kernels := products(x.Dense, y.Dense, i, endI, j, endJ)
		for a := range kernels.Rows {
			row := kernels.Data[a*kernels.Stride : (a+1)*kernels.Stride]
			for b, product := range row {
				row[b] = k.of(product, x.squares[i+a], y.squares[j+b], x.RawMatrix().Cols)
			}
		}
		of := blas64.General{Rows: endI - i, Cols: samples, Stride: samples, Data: make([]float64, (endI-i)*samples)}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, kernels, rowsOf(y.in, j, endJ), 0, of)
		parts[t] = make([]float64, samples)
		for a := range of.Rows {
			for s, in := range x.in.RawRowView(i + a) {
				parts[t][s] += in * of.Data[a*samples+s]
			}
		}
		if x == y && j > i {
			floats.Scale(2, parts[t])
		}
		return 0, nil
	})
	sums := make([]float64, samples)
	for _, part := range parts {
		if err == nil {
			floats.Add(sums, part)
		}
	}
	return sums, err
}
