package metrics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// CalibratedDiversityOptions are the options of [CalibratedDiversity].
type CalibratedDiversityOptions struct {
	Value string   `json:"value,omitempty" default:"answer" help:"text column of the judge's answers"`
	Label string   `json:"label,omitempty" default:"label" help:"text column of the labels, with the same texts"`
	Item  string   `json:"item,omitempty" default:"id" help:"column of both tables with what is judged; several labels of one are averaged"`
	By    []string `json:"by,omitempty" help:"text columns that define the groups"`
	Order string   `json:"order,omitempty" default:"1" values:"1,2" help:"1 exponential of the entropy, 2 inverse Simpson concentration"`
	Intervals
}

// calibratedDiversityRow is a row of [CalibratedDiversity].
type calibratedDiversityRow struct {
	Group      Group
	Order      string   `column:"order"`
	Calibrated Estimate `column:"calibrated_hill" unit:"effective categories" range:"[1, ∞)" help:"of the shares, corrected by the labels"`
	Judge      float64  `column:"judge_hill" unit:"effective categories" help:"of the judge's answers"`
	Labels     float64  `column:"label_hill" unit:"effective categories" help:"from the labels alone"`
	Categories int      `column:"n_categories" unit:"categories"`
	Judged     int      `column:"n_judged" unit:"answers"`
	Labeled    int      `column:"n_labeled" unit:"labels"`
	Basis      string   `column:"basis" help:"what the number rests on: judge and labels, or the judge alone"`
	Interval   string   `column:"interval"`
}

var calibratedDiversity = Define(Definition[CalibratedDiversityOptions, calibratedDiversityRow]{
	Name: "calibrated-diversity", Version: 2,
	Title: "effective number of categories of a judge's answers, corrected by a labeled sample",
	Unit:  "effective categories", Range: "[1, ∞)", Direction: "higher is more diverse",
	Citation: calibrationCitation + "; Hill 1973", Inputs: calibratedInputs, Compute: computeCalibratedDiversity,
})

// CalibratedDiversity is the metric calibrated-diversity: the Hill number of the categories in each group, by a judge's
// answers and labels of a random sample. A judge that calls one category by the name of another moves no number by
// that, if the labels show it. Images without an answer are left out.
//
// The share of a category is Σ (share of the answer m · share of the category among the labels of images with the
// answer m): post-stratification by the answer. Shares of answers and of labels are drawn from their Dirichlet
// posteriors, with prior counts that sum to 1 for each answer, so that a category that the labels lack is not excluded.
// With d, the logarithm of the Hill number of the mean shares less the mean logarithm, the value is the mean logarithm
// + d; the interval is that of the draws, with an upper end + 2d, as noise makes shares uneven. In simulations it
// contains the truth in 94 to 100 % (docs/judges.md).
func CalibratedDiversity(answers, labels datasets.Table, options ...CalibratedDiversityOptions) datasets.Table {
	return calibratedDiversity.Table(map[string]datasets.Table{"in": answers, "labels": labels}, options...)
}

func computeCalibratedDiversity(_ context.Context, call *Call, o CalibratedDiversityOptions) (
	out []calibratedDiversityRow, err error) {
	in := tabular.Read(call, "in")
	items, answers, groups := in.Texts(o.Item), in.Texts(o.Value), in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	known, err := answered(in, o.Item)
	if err != nil {
		return nil, err
	}
	labels, categories, err := readLabels(call, o, answers, known)
	if err != nil {
		return nil, err
	}
	if len(categories) < 2 {
		return nil, &table.Error{Code: table.CodeUsage, Message: fmt.Sprintf("calibrated-diversity: the columns %s "+
			"and %s hold %d categories; diversity needs two", o.Value, o.Label, len(categories))}
	}
	var notes GroupNotes
	for _, g := range groups {
		c := newConfusion(len(categories))
		group, without := strings.Join(g.By, "/"), 0
		for _, row := range g.Rows {
			m, answered := slices.BinarySearch(categories, answers[row])
			if answered {
				c.add(m, labels[items[row]], categories)
			} else {
				without++
			}
		}
		if without > 0 {
			notes.Add("%d images have no answer and are left out", group, without)
		}
		if floats.Sum(c.answers) == 0 {
			notes.Add("no image has an answer: the group is left out", group)
			continue
		}
		row := calibratedDiversityRow{Group: g.By, Order: o.Order, Calibrated: Exact(math.NaN()), Labels: math.NaN(),
			Judge: hill(c.answers, o.Order), Categories: len(categories), Judged: int(floats.Sum(c.answers)),
			Labeled: c.labeled, Basis: basisJudge}
		if c.labeled < 2 {
			notes.Add("fewer than two labels: the judge's number is not calibrated", group)
		} else {
			row.Basis, row.Labels, row.Calibrated = basisLabels, hill(c.total(), o.Order), c.hill(o, group)
			if o.Resamples > 0 {
				row.Interval = fmt.Sprintf("%.4g %% posterior interval (post-stratified)", 100*o.Level)
			}
		}
		out = append(out, row)
	}
	notes.AddTo(call, o.By...)
	return out, nil
}

// readLabels returns the labels by item that is known, and the categories of the answers and these labels.
func readLabels(call *Call, o CalibratedDiversityOptions, answers []string, known map[string]int) (
	labels map[string][]string, categories []string, _ error) {
	labels, categories = map[string][]string{}, slices.Clone(answers)
	if call.Inputs["labels"] != nil {
		other := tabular.Read(call, "labels")
		labeled, texts := other.Texts(o.Item), other.Texts(o.Label)
		if other.Err != nil {
			return nil, nil, other.Err
		}
		unknown := 0
		for i, text := range texts {
			if _, has := known[labeled[i]]; !has {
				unknown++
			} else if text != "" {
				labels[labeled[i]], categories = append(labels[labeled[i]], text), append(categories, text)
			}
		}
		noteUnknown(call, unknown, len(texts))
	}
	slices.Sort(categories)
	if categories = slices.Compact(categories); len(categories) > 0 && categories[0] == "" {
		categories = categories[1:]
	}
	return labels, categories, nil
}

// hill returns the Hill number of counts or shares.
func hill(counts []float64, order string) float64 {
	total, entropy, squares := floats.Sum(counts), 0.0, 0.0
	for _, x := range counts {
		if p := x / total; p > 0 {
			entropy -= p * math.Log(p)
			squares += p * p
		}
	}
	if order == "2" {
		return 1 / squares
	}
	return math.Exp(entropy)
}

// confusion counts the answers of a judge, and the labels of the images with each answer.
type confusion struct {
	answers []float64
	labels  [][]float64
	labeled int
}

func newConfusion(n int) *confusion {
	c := &confusion{answers: make([]float64, n)}
	for range n {
		c.labels = append(c.labels, make([]float64, n))
	}
	return c
}

// total returns the labels of all answers.
func (c *confusion) total() []float64 {
	total := make([]float64, len(c.answers))
	for _, of := range c.labels {
		floats.Add(total, of)
	}
	return total
}

// add adds an answer, by its place among the categories, and the labels of its image, which have the weight of one.
func (c *confusion) add(answer int, labels, categories []string) {
	c.answers[answer]++
	for _, text := range labels {
		k, _ := slices.BinarySearch(categories, text)
		c.labels[answer][k] += 1 / float64(len(labels))
	}
	if len(labels) > 0 {
		c.labeled++
	}
}

// shares returns those of the categories, from shares of a count with a prior count.
func (c *confusion) shares(of func(counts []float64, prior float64) []float64) []float64 {
	out := make([]float64, len(c.answers))
	for m, share := range of(c.answers, 0) {
		if share > 0 {
			floats.AddScaled(out, share, of(c.labels[m], 1/float64(len(c.answers))))
		}
	}
	return out
}

// hill returns the calibrated Hill number; see [CalibratedDiversity].
func (c *confusion) hill(o CalibratedDiversityOptions, group string) Estimate {
	mean := math.Log(hill(c.shares(func(counts []float64, prior float64) []float64 {
		out := slices.Clone(counts)
		floats.AddConst(prior, out)
		floats.Scale(1/floats.Sum(out), out)
		return out
	}), o.Order))
	if o.Resamples == 0 {
		return Exact(math.Exp(mean))
	}
	rng := tabular.Random(o.Seed, "calibrated-diversity\x00"+group)
	logs := make([]float64, o.Resamples)
	for i := range logs {
		logs[i] = math.Log(hill(c.shares(func(counts []float64, prior float64) []float64 {
			out := make([]float64, len(counts))
			for k, n := range counts {
				if n += prior; n > 0 {
					out[k] = distuv.Gamma{Alpha: n, Beta: 1, Src: rng}.Rand()
				}
			}
			floats.Scale(1/floats.Sum(out), out)
			return out
		}), o.Order))
	}
	slices.Sort(logs)
	center := floats.Sum(logs) / float64(len(logs))
	d := mean - center
	at := func(x float64) float64 { return min(max(1, math.Exp(x)), float64(len(c.answers))) }
	return Estimate{Value: at(center + d), Low: at(interval.Quantile(logs, (1-o.Level)/2)),
		High: at(interval.Quantile(logs, (1+o.Level)/2) + 2*d)}
}
