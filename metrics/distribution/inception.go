package distribution

import (
	"context"
	"errors"
	"math"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
)

// InceptionOptions are the options of [InceptionScore].
type InceptionOptions struct {
	Splits   int  `json:"splits,omitempty" default:"1" min:"1" help:"parts, in the order of the rows, whose scores are averaged"`
	Ceiling  bool `json:"ceiling,omitempty" help:"also score reference images; all scores are then of at most half as many"`
	Sampling `resamples:"200"`
}

// inceptionRow is a row of the result of [InceptionScore].
type inceptionRow struct {
	Subject
	Score metrics.Estimate `column:"inception_score" unit:"effective classes" range:"[1, classes]"`
	Scored
}

var fromOne = interval.Range{Min: 1, Max: math.Inf(1)}

var inceptionScore = metrics.Define(metrics.Definition[InceptionOptions, inceptionRow]{
	Name: "inception-score", Version: 1,
	Inputs: []metrics.Input{{Role: "real", Optional: true, About: "the reference images, for the ceiling"}, twoSets[1]},
	Title:  "Inception score of generated images by group, for comparison with older papers (not recommended)",
	Unit:   "effective classes", Range: "[1, classes]", Direction: "higher is better",
	Citation: "Salimans et al. 2016; Barratt and Sharma 2018",
	Compute: func(ctx context.Context, call *metrics.Call, o InceptionOptions) (out []inceptionRow, err error) {
		roles := []string{"real", "generated"}
		if !o.Ceiling {
			roles = roles[1:]
		} else if call.Inputs["real"] == nil {
			return nil, errors.New("the ceiling needs reference images: give the table real")
		}
		m := measure{name: "inception-score", two: o.Ceiling, ceiling: o.Ceiling, least: max(2, o.Splits),
			within: fromOne, score: func(g *group) (scorer, error) {
				return func(ctx context.Context, pairs []pair) ([]float64, error) {
					return each(ctx, len(pairs), func(i int) (float64, error) {
						return Inception(pairs[i].of(g.vectors).Generated, o.Splits)
					})
				}, nil
			}}
		results, err := o.run(ctx, call, m, roles...)
		for _, r := range results {
			out = append(out, inceptionRow{r.subject(o.Sampling), r.value, r.Scored})
		}
		return out, err
	},
})

// InceptionScore is the metric inception-score: the [Inception] score of generated images by group; Vector is a
// column of class logits or probabilities. It is here to compare with older papers and not recommended: it knows no
// reference images, only the classes of ImageNet, depends on n, on the classifier and on the number of splits, and
// images of one class each that are all alike have the best score (Barratt and Sharma 2018).
func InceptionScore(sets metrics.Sets, options ...InceptionOptions) datasets.Table {
	return inceptionScore.Table(sets.Inputs(), options...)
}

// Inception returns exp of the mean Kullback-Leibler divergence of each image's class probabilities from their mean, in
// [1, classes]; with several splits the mean over contiguous parts of the rows (torch-fidelity without shuffling). Rows
// are probabilities if none is below 0 and each sums to 1 within 0.001, else logits, of which the softmax is taken.
// Errors: fewer rows than splits, vectors of unequal length or with NaN.
func Inception(rows [][]float32, splits int) (float64, error) {
	if err := (Vectors{rows, rows}).check(max(1, splits)); err != nil {
		return 0, err
	}
	p, logits, n, score := dense(rows), false, len(rows), 0.0
	for i := range n {
		row := p.RawRowView(i)
		logits = logits || floats.Min(row) < 0 || math.Abs(floats.Sum(row)-1) > 1e-3
	}
	for s := range splits {
		from, to := s*n/splits, (s+1)*n/splits
		average, divergence := make([]float64, len(rows[0])), 0.0
		for i := from; i < to; i++ {
			row := p.RawRowView(i)
			if logits {
				total := floats.LogSumExp(row)
				for c := range row {
					row[c] = math.Exp(row[c] - total)
				}
			}
			divergence -= entropy(row) / float64(to-from)
			floats.AddScaled(average, 1/float64(to-from), row)
		}
		score += math.Exp(divergence+entropy(average)) / float64(splits)
	}
	return score, nil
}

// entropy returns −Σ p log p.
func entropy(p []float64) (sum float64) {
	for _, x := range p {
		if x > 0 {
			sum -= x * math.Log(x)
		}
	}
	return sum
}
