package distribution

import (
	"context"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// KernelOptions are the options of [KID] and [CMMD].
type KernelOptions struct {
	Vector   string `json:"vector,omitempty" default:"full" help:"vector column to compare"`
	Method   string `json:"method,omitempty" values:"unbiased,biased" help:"with or without the kernel of each image with itself; empty = as the reference implementation (kid unbiased, cmmd biased)"`
	Ceiling  bool   `json:"ceiling,omitempty" help:"also score held-out reference images as if they were generated"`
	Sampling `resamples:"200" samples:"100"`
}

// KIDRow is a row of the result of [KID].
type KIDRow struct {
	Group    metrics.Group
	Vector   string           `column:"vector"`
	Interval string           `column:"interval" help:"kind of the intervals"`
	KID      metrics.Estimate `column:"kid" unit:"squared MMD"`
	Ceiling  metrics.Estimate `column:"ceiling" unit:"squared MMD" help:"of held-out reference images, at the same n"`
	Compared
	N int `column:"n_each" unit:"images" help:"generated images in a score"`
	metrics.Counts
}

// CMMDRow is a row of the result of [CMMD].
type CMMDRow struct {
	Group    metrics.Group
	Vector   string           `column:"vector"`
	Interval string           `column:"interval" help:"kind of the intervals"`
	CMMD     metrics.Estimate `column:"cmmd" unit:"1000 × squared MMD"`
	Ceiling  metrics.Estimate `column:"ceiling" unit:"1000 × squared MMD" help:"of held-out reference images, at the same n"`
	Compared
	N int `column:"n_each" unit:"images" help:"generated images in a score"`
	metrics.Counts
}

var kid = metrics.Define(metrics.Definition[KernelOptions, KIDRow]{
	Name: "kid", Version: 1, Inputs: twoSets,
	Title: "kernel distance (KID) of generated and reference images by group, with intervals",
	Unit:  "squared MMD", Range: "(-∞, ∞)", Direction: "lower is better",
	Citation: "Bińkowski et al. 2018",
	Compute: func(ctx context.Context, call *metrics.Call, o KernelOptions) (out []KIDRow, err error) {
		results, err := o.run(ctx, call, "kid", Polynomial)
		for _, r := range results {
			out = append(out, KIDRow{r.values, o.Vector, r.interval, r.value, r.ceiling, r.Compared, r.n, r.counts()})
		}
		return out, err
	},
})

var cmmd = metrics.Define(metrics.Definition[KernelOptions, CMMDRow]{
	Name: "cmmd", Version: 1, Inputs: twoSets,
	Title: "kernel distance of CLIP's vectors (CMMD) of generated and reference images by group, with intervals",
	Unit:  "1000 × squared MMD", Range: "[0, 2000]; unbiased also below 0", Direction: "lower is better",
	Citation: "Jayasumana et al. 2024 (arXiv 2401.09603)",
	Compute: func(ctx context.Context, call *metrics.Call, o KernelOptions) (out []CMMDRow, err error) {
		results, err := o.run(ctx, call, "cmmd", Gaussian)
		for _, r := range results {
			out = append(out, CMMDRow{r.values, o.Vector, r.interval, r.value, r.ceiling, r.Compared, r.n, r.counts()})
		}
		return out, err
	},
})

// KID is the metric kid: the kernel distance of Bińkowski et al. 2018, the unbiased [MMD] with the [Polynomial] kernel,
// of generated and reference images by group. Its expectation does not depend on n: it is 0 for sets of one
// distribution, and may be below 0. N and Samples score subsets of stated size and average them, as torch-fidelity does
// with 100 of 1,000 images; without N the score is that of all images, which these averages estimate. The interval is
// that of the score over other images of the same number, not the spread over subsets.
func KID(sets metrics.Sets, options ...KernelOptions) datasets.Table {
	return kid.Table(tables(sets), options...)
}

// CMMD is the metric cmmd: 1000 times the [MMD] with the [Gaussian] kernel, by group; meant for the normalized vectors of
// CLIP ViT-L/14-336. As in cmmd-pytorch the estimator is the biased one, which is above 0 for sets of one distribution
// by about 1000/n·(1 − the mean kernel) of each set: compare it at equal n, or use Method "unbiased".
func CMMD(sets metrics.Sets, options ...KernelOptions) datasets.Table {
	return cmmd.Table(tables(sets), options...)
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
// kernel within each set less twice the mean kernel between them. Errors: fewer than 2 rows, rows of unequal length,
// vectors of length 0 with the Gaussian kernel.
func MMD(v Vectors, k Kernel, e Estimator) (float64, error) {
	if _, err := v.check(2); err != nil {
		return 0, err
	}
	whole := pair{real: count(len(v.Real)), generated: count(len(v.Generated))}
	s, err := k.scorer(v, e)
	if err != nil {
		return 0, err
	}
	values, err := s(context.Background(), []pair{whole})
	if err != nil {
		return 0, err
	}
	return values[0], nil
}

func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (o KernelOptions) run(ctx context.Context, call *metrics.Call, name string, k Kernel) ([]*result, error) {
	e, m := Estimator(o.Method), measure{name: name, least: 2, ceiling: o.Ceiling}
	if e == "" {
		e = map[Kernel]Estimator{Polynomial: Unbiased, Gaussian: Biased}[k]
	}
	if e == Biased {
		m.within = interval.Range{Min: 0, Max: math.Inf(1)}
	}
	return o.vectors(ctx, call, o.Vector, m, func(_ *group, v Vectors) (scorer, error) {
		return k.scorer(v, e)
	})
}

// points are vectors with their squared lengths.
type points struct {
	*mat.Dense
	squares []float64
}

// points prepares vectors for the kernel.
func (k Kernel) points(rows [][]float32) (points, error) {
	p := points{Dense: dense(rows)}
	for i, v := range rows {
		row := p.RawRowView(i)
		if k == Gaussian {
			unit, reason := tabular.Unit(v)
			if reason != "" {
				return p, fmt.Errorf("vector %d: %s", i+1, reason)
			}
			copy(row, unit)
		}
		p.squares = append(p.squares, floats.Dot(row, row))
	}
	return p, nil
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
	x, err := k.points(v.Real)
	if err != nil {
		return nil, fmt.Errorf("reference %w", err)
	}
	y, err := k.points(v.Generated)
	if err != nil {
		return nil, fmt.Errorf("generated %w", err)
	}
	return func(ctx context.Context, pairs []pair) ([]float64, error) {
		y := y
		if pairs[0].held {
			y = x
		}
		inX, inY := mat.NewDense(len(x.squares), len(pairs), nil), mat.NewDense(len(y.squares), len(pairs), nil)
		for p := range pairs {
			for _, i := range pairs[p].real {
				inX.Set(i, p, 1)
			}
			for _, i := range pairs[p].generated {
				inY.Set(i, p, 1)
			}
		}
		out := make([]float64, len(pairs))
		for _, part := range []struct {
			x, y     points
			inX, inY *mat.Dense
			within   bool
		}{{x, x, inX, inX, true}, {y, y, inY, inY, true}, {x, y, inX, inY, false}} {
			sums, err := k.sums(ctx, part.x, part.y, part.inX, part.inY, part.within)
			if err != nil {
				return nil, err
			}
			for p := range pairs {
				n, m := floats.Sum(mat.Col(nil, p, part.inX)), floats.Sum(mat.Col(nil, p, part.inY))
				switch {
				case !part.within:
					out[p] -= 2 * sums[p] / (n * m)
				case e == Biased:
					out[p] += sums[p] / (n * n)
				default:
					for i, square := range part.x.squares {
						sums[p] -= part.inX.At(i, p) * k.of(square, square, square, part.x.RawMatrix().Cols)
					}
					out[p] += sums[p] / (n * (n - 1))
				}
			}
		}
		return out, nil
	}, nil
}

// tile is the number of vectors whose kernels are computed at a time.
const tile = 512

// sums returns, for each column of the indicators, the sum of the kernel over the pairs of vectors that both have.
func (k Kernel) sums(ctx context.Context, x, y points, inX, inY *mat.Dense, symmetric bool) ([]float64, error) {
	_, samples := inX.Dims()
	var tiles [][2]int
	for i := 0; i < len(x.squares); i += tile {
		for j := 0; j < len(y.squares); j += tile {
			if !symmetric || j >= i {
				tiles = append(tiles, [2]int{i, j})
			}
		}
	}
	parts, width := make([][]float64, len(tiles)), x.RawMatrix().Cols
	_, err := each(ctx, len(tiles), func(t int) (float64, error) {
		i, j := tiles[t][0], tiles[t][1]
		endI, endJ := min(i+tile, len(x.squares)), min(j+tile, len(y.squares))
		kernels := blas64.General{Rows: endI - i, Cols: endJ - j, Stride: endJ - j,
			Data: make([]float64, (endI-i)*(endJ-j))}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(x.Dense, i, endI), rowsOf(y.Dense, j, endJ), 0, kernels)
		for a := range kernels.Rows {
			row := kernels.Data[a*kernels.Stride : (a+1)*kernels.Stride]
			for b, product := range row {
				row[b] = k.of(product, x.squares[i+a], y.squares[j+b], width)
			}
		}
		of := blas64.General{Rows: endI - i, Cols: samples, Stride: samples, Data: make([]float64, (endI-i)*samples)}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, kernels, rowsOf(inY, j, endJ), 0, of)
		sum := make([]float64, samples)
		for a := range of.Rows {
			for p, in := range inX.RawRowView(i + a) {
				sum[p] += in * of.Data[a*samples+p]
			}
		}
		if symmetric && j > i {
			floats.Scale(2, sum)
		}
		parts[t] = sum
		return 0, nil
	})
	sums := make([]float64, samples)
	for _, part := range parts {
		if part != nil {
			floats.Add(sums, part)
		}
	}
	return sums, err
}

// rowsOf returns some rows of a matrix, which it shares.
func rowsOf(m *mat.Dense, from, to int) blas64.General {
	return m.Slice(from, to, 0, m.RawMatrix().Cols).(*mat.Dense).RawMatrix()
}
