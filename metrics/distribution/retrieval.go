package distribution

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// RetrievalOptions are the options of [ImageRetrieval].
type RetrievalOptions struct {
	Vector   string `json:"vector,omitempty" default:"full" help:"vector column to compare"`
	Ceiling  bool   `json:"ceiling,omitempty" help:"also score held-out reference images as if they were generated"`
	Sampling `resamples:"200"`
}

// RetrievalRow is a row of the result of [ImageRetrieval].
type RetrievalRow struct {
	Group     metrics.Group
	Vector    string           `column:"vector"`
	Interval  string           `column:"interval" help:"kind of the intervals, but that of the limit"`
	Score     metrics.Estimate `column:"image_retrieval" unit:"share of reference images" range:"[0, 1]"`
	Limit     metrics.Estimate `column:"image_retrieval_limit" unit:"share of reference images" range:"[0, 1]" help:"that infinitely many generated images would retrieve, with its exact interval"`
	Ceiling   metrics.Estimate `column:"ceiling" unit:"share of reference images" help:"of held-out reference images, at the same n"`
	Retrieved int              `column:"n_retrieved" unit:"images" help:"reference images that all generated images retrieve"`
	Compared
	N int `column:"n_each" unit:"images" help:"generated images in a score"`
	metrics.Counts
}

var imageRetrieval = metrics.Define(metrics.Definition[RetrievalOptions, RetrievalRow]{
	Name: "image-retrieval", Version: 1, Inputs: twoSets,
	Title: "share of reference images that generated images retrieve, by group, with intervals and limit",
	Unit:  "share of reference images", Range: "[0, 1]", Direction: "higher is more diverse",
	Citation: "Dombrowski et al. 2025 (arXiv 2411.16171)",
	Compute: func(ctx context.Context, call *metrics.Call, o RetrievalOptions) (out []RetrievalRow, err error) {
		retrieved := map[string]int{}
		results, err := o.vectors(ctx, call, o.Vector, measure{name: "image-retrieval", least: 1, ceiling: o.Ceiling,
			within: interval.Share}, func(g *group, v Vectors) (scorer, error) {
			s, k, err := retrievalScorer(ctx, v)
			retrieved[g.label()] = k
			return s, err
		})
		for _, r := range results {
			row := RetrievalRow{r.values, o.Vector, r.interval, r.value, metrics.Exact(math.NaN()), r.ceiling,
				retrieved[r.label()], r.Compared, r.n, r.counts()}
			if n := len(r.generated.rows); n > 0 {
				limit, err := RetrievalLimit(row.Retrieved, n, len(r.real.rows), o.Level)
				if err != nil {
					return nil, err
				}
				row.Limit = metrics.Estimate{Value: limit.Value, Low: limit.Low, High: limit.High}
			}
			out = append(out, row)
		}
		return out, err
	},
})

// ImageRetrieval is the metric image-retrieval (the image retrieval score of Dombrowski et al. 2025): the share of
// reference images that are the nearest one of some generated image, by group. It grows with n, so groups are compared
// at equal n; image_retrieval_limit is [RetrievalLimit], of all images of the group. Ceiling scores held-out reference
// images: the paper divides the limit of generated images by theirs.
func ImageRetrieval(sets metrics.Sets, options ...RetrievalOptions) datasets.Table {
	return imageRetrieval.Table(tables(sets), options...)
}

// RetrievalLimit estimates the share of N reference images that infinitely many generated images would retrieve (IRS∞),
// where n of them retrieve k. If each retrieves one of s reference images, all with the same probability,
//
//	P(k) = S(n, k) · s! / (s − k)! / sⁿ    with Stirling numbers S of the second kind
//
// The value is the most likely s over N; the interval has the s for which at most k, and at least k, have a probability
// of (1 − level)/2 or more. Both are exact, where the paper approximates S. If some of the s images are retrieved more
// often than others, as for real data, the value is too low. Errors: k outside [1, min(n, N)].
func RetrievalLimit(k, n, reference int, level float64) (interval.Interval, error) {
	if k < 1 || k > min(n, reference) || !(level > 0 && level < 1) {
		return interval.Interval{}, fmt.Errorf("%d of %d reference images retrieved by %d, level %g", k, reference, n,
			level)
	}
	// The likelihood of s+1 over that of s falls with s.
	falls := func(s int) bool {
		return math.Log(float64(s+1)/float64(s+1-k))+float64(n)*math.Log(float64(s)/float64(s+1)) <= 0
	}
	most := k + sort.Search(reference-k, func(i int) bool { return falls(k + i) })
	tail := (1 - level) / 2
	low := k + sort.Search(reference-k, func(i int) bool { _, above := occupied(k, n, k+i); return above >= tail })
	high := k + sort.Search(reference-k, func(i int) bool { below, _ := occupied(k, n, k+i+1); return below < tail })
	share := func(s int) float64 { return float64(s) / float64(reference) }
	return interval.Interval{Value: share(most), Low: min(share(low), share(most)), High: max(share(high), share(most)),
		Level: level}, nil
}

// occupied returns the probabilities that n images retrieve at most and at least k of s equally likely ones.
func occupied(k, n, s int) (below, above float64) {
	const negligible = 1e-20
	p := make([]float64, min(n, s)+1) // p[j]: j were retrieved so far
	p[0] = 1
	from, to := 0, 0
	for range n {
		if to < len(p)-1 {
			to++
		}
		for j := to; j >= from; j-- {
			p[j] *= float64(j) / float64(s)
			if j > from {
				p[j] += p[j-1] * float64(s-j+1) / float64(s)
			}
		}
		for from < to && p[from] < negligible {
			p[from] = 0
			from++
		}
	}
	for j, x := range p {
		if j <= k {
			below += x
		}
		if j >= k {
			above += x
		}
	}
	return below, above
}

// listed is the number of nearest reference images that are stored for each image.
const listed = 24

// retrievalScorer returns the scorer of a group, and the number of reference images that all generated images retrieve.
func retrievalScorer(ctx context.Context, v Vectors) (scorer, int, error) {
	lists, err := nearest(ctx, v.Generated, v.Real)
	if err != nil {
		return nil, 0, err
	}
	retrieved := map[int32]bool{}
	for _, l := range lists {
		retrieved[l[0]] = true
	}
	return func(ctx context.Context, pairs []pair) ([]float64, error) {
		lists, from := lists, v.Generated
		if pairs[0].held {
			var err error
			if lists, err = nearest(ctx, v.Real, v.Real); err != nil {
				return nil, err
			}
			from = v.Real
		}
		return each(ctx, len(pairs), func(i int) (float64, error) {
			in, hit := make([]bool, len(v.Real)), make([]bool, len(v.Real))
			for _, r := range pairs[i].real {
				in[r] = true
			}
			found := 0
			for _, g := range pairs[i].generated {
				at := slices.IndexFunc(lists[g], func(r int32) bool { return in[r] })
				var r int
				if at >= 0 {
					r = int(lists[g][at])
				} else {
					one, err := nearest(ctx, from[g:g+1], pick(v.Real, pairs[i].real))
					if err != nil {
						return 0, err
					}
					r = pairs[i].real[one[0][0]]
				}
				if !hit[r] {
					hit[r] = true
					found++
				}
			}
			return float64(found) / float64(len(pairs[i].real)), nil
		})
	}, len(retrieved), nil
}

// nearest lists the nearest points of each vector, nearest first, at equal distances in the order of the points.
func nearest(ctx context.Context, vectors, to [][]float32) ([][]int32, error) {
	if len(vectors) == 0 {
		return nil, nil
	}
	x, err := Polynomial.points(vectors)
	if err != nil {
		return nil, err
	}
	y, err := Polynomial.points(to)
	if err != nil {
		return nil, err
	}
	out := make([][]int32, len(vectors))
	_, err = each(ctx, (len(vectors)+tile-1)/tile, func(t int) (float64, error) {
		from, end := t*tile, min((t+1)*tile, len(vectors))
		products := blas64.General{Rows: end - from, Cols: len(to), Stride: len(to),
			Data: make([]float64, (end-from)*len(to))}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(x.Dense, from, end), rowsOf(y.Dense, 0, len(to)), 0, products)
		for i := from; i < end; i++ {
			row := products.Data[(i-from)*len(to) : (i-from+1)*len(to)]
			for j := range row {
				row[j] = y.squares[j] - 2*row[j]
			}
			out[i] = smallest(row)
		}
		return 0, nil
	})
	return out, err
}

// smallest returns the positions of the smallest values, ascending.
func smallest(values []float64) []int32 {
	var list []int32
	for j, v := range values {
		if len(list) == listed && v >= values[list[listed-1]] {
			continue
		}
		at := sort.Search(len(list), func(i int) bool { return values[list[i]] > v })
		if list = slices.Insert(list, at, int32(j)); len(list) > listed {
			list = list[:listed]
		}
	}
	return list
}
