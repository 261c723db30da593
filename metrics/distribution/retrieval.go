package distribution

import (
	"context"
	"fmt"
	"math"
	"sort"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
)

// RetrievalOptions are the options of [ImageRetrieval].
type RetrievalOptions struct {
	Ceiling  bool `json:"ceiling,omitempty" help:"also score held-out reference images as if they were generated; all scores are then of half of the reference images"`
	Sampling `resamples:"200"`
}

// retrievalRow is a row of the result of [ImageRetrieval].
type retrievalRow struct {
	Subject
	Score     metrics.Estimate `column:"image_retrieval" unit:"share of reference images" range:"[0, 1]"`
	Limit     metrics.Estimate `column:"image_retrieval_limit" unit:"share of reference images" range:"[0, 1]" help:"that infinitely many generated images would retrieve, with its exact interval"`
	Retrieved int              `column:"n_retrieved" unit:"images" help:"reference images that all generated images retrieve"`
	Scored
}

var imageRetrieval = metrics.Define(metrics.Definition[RetrievalOptions, retrievalRow]{
	Name: "image-retrieval", Version: 1, Inputs: twoSets,
	Title: "share of reference images that generated images retrieve, by group, with intervals and limit",
	Unit:  "share of reference images", Range: "[0, 1]", Direction: "higher is more diverse",
	Citation: "Dombrowski et al. 2025 (arXiv 2411.16171)",
	Compute: func(ctx context.Context, call *metrics.Call, o RetrievalOptions) (out []retrievalRow, err error) {
		results, err := o.run(ctx, call, measure{name: "image-retrieval", two: true, ceiling: o.Ceiling, least: 1,
			within: interval.Share, score: func(g *group) (scorer, error) { return retrieval(g.vectors), nil }},
			"real", "generated")
		for _, r := range results {
			row := retrievalRow{r.subject(o.Sampling), r.value, none, 0, r.Scored}
			if r.N > 0 {
				share, err := retrieval(r.vectors)(ctx, []pair{r.vectors.whole()})
				if err != nil {
					return nil, err
				}
				row.Retrieved = int(math.Round(share[0] * float64(r.Real)))
				limit, err := RetrievalLimit(row.Retrieved, r.Generated, r.Real, o.Level)
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
// reference images that are the nearest one of some generated image, by group. It grows with n, so groups are
// compared at equal n; image_retrieval_limit is [RetrievalLimit], of all images of the group. Ceiling scores
// held-out reference images: the paper divides the limit of generated images by theirs.
func ImageRetrieval(sets metrics.Sets, options ...RetrievalOptions) datasets.Table {
	return imageRetrieval.Table(sets.Inputs(), options...)
}

// RetrievalLimit estimates the share of N reference images that infinitely many generated images would retrieve (IRS∞),
// where n of them retrieve k. If each retrieves one of s reference images, all with the same probability,
//
//	P(k) = S(n, k) · s! / (s − k)! / sⁿ    with Stirling numbers S of the second kind
//
// The value is the most likely s over N; the interval has the s for which at most k, and at least k, have a probability
// of (1 − level)/2 or more. Both are exact, where the paper approximates S. If some of the s images are retrieved more
// often than others, as for real data, the value is too low. Errors: k outside [1, min(n, N)], level outside (0, 1).
func RetrievalLimit(k, n, reference int, level float64) (interval.Interval, error) {
	if k < 1 || k > min(n, reference) || !(level > 0 && level < 1) {
		return interval.Interval{}, fmt.Errorf("%d of %d reference images retrieved by %d, level %g", k, reference, n,
			level)
	}
	// first returns the first s from k on with a property that all larger ones have, or reference.
	first := func(has func(s int) bool) float64 {
		return float64(k+sort.Search(reference-k, func(i int) bool { return has(k + i) })) / float64(reference)
	}
	most := first(func(s int) bool { // the likelihood of s + 1 is not larger
		return math.Log(float64(s+1)/float64(s+1-k))+float64(n)*math.Log(float64(s)/float64(s+1)) <= 0
	})
	low := first(func(s int) bool { _, above := occupied(k, n, s); return above >= (1-level)/2 })
	high := first(func(s int) bool { below, _ := occupied(k, n, s+1); return below < (1-level)/2 })
	return interval.Interval{Value: most, Low: min(low, most), High: max(high, most), Level: level}, nil
}

// occupied returns the probabilities that n images retrieve at most and at least k of s equally likely ones.
func occupied(k, n, s int) (below, above float64) {
	p := make([]float64, min(n, s)+1) // p[j]: j were retrieved so far
	p[0] = 1
	from, to := 0, 0
	for range n {
		to = min(to+1, len(p)-1)
		for j := to; j >= from; j-- {
			p[j] *= float64(j) / float64(s)
			if j > from {
				p[j] += p[j-1] * float64(s-j+1) / float64(s)
			}
		}
		for from < to && p[from] < 1e-20 {
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

// retrieval returns the scorer of a group: for all pairs in one pass over the distances. At equal distances the first
// reference image is the nearest one.
func retrieval(v Vectors) scorer {
	return func(ctx context.Context, pairs []pair) ([]float64, error) {
		from, hit, members := v.Generated, make([]map[int]bool, len(pairs)), map[int][]int{}
		if pairs[0].held {
			from = v.Real
		}
		for s, p := range pairs {
			hit[s] = map[int]bool{}
			for _, i := range p.generated {
				members[i] = append(members[i], s)
			}
		}
		x, y, squares := dense(from), dense(v.Real), make([]float64, len(v.Real))
		for j := range squares {
			squares[j] = floats.Dot(y.RawRowView(j), y.RawRowView(j))
		}
		for start := 0; start < len(from) && ctx.Err() == nil; start += tile {
			all := products(x, y, start, min(start+tile, len(from)), 0, len(v.Real))
			for i := range all.Rows {
				// twice the product less the square: the nearer the more
				near := all.Data[i*all.Stride : (i+1)*all.Stride]
				floats.Scale(2, near)
				floats.Sub(near, squares)
				for _, s := range members[start+i] {
					nearest := pairs[s].real[0]
					for _, j := range pairs[s].real {
						if near[j] > near[nearest] {
							nearest = j
						}
					}
					hit[s][nearest] = true
				}
			}
		}
		out := make([]float64, len(pairs))
		for s, p := range pairs {
			out[s] = float64(len(hit[s])) / float64(len(p.real))
		}
		return out, ctx.Err()
	}
}
