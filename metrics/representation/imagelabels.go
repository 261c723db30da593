package representation

import (
	"context"
	"math"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/metrics"
)

// LabelOptions are the options of [ImageLabels].
type LabelOptions struct {
	Labeling
}

// ImageLabels is the table operation entigen-labels (Bansal et al., EMNLP 2022, section 2): the label of each image on
// each axis by the rule, one row each, for tests and image grids. label is a group of the axis or "no group"; side is
// "first" or "second" for the groups, and value 1 or −1, so that its mean is a bias in [-1, 1].
func ImageLabels(ratings datasets.Table, options ...LabelOptions) datasets.Table {
	return imageLabels.Of(ratings, options...)
}

type imageLabelRow struct {
	ID        string  `column:"id" help:"IMAGE/AXIS"`
	Image     string  `column:"image_id"`
	Category  string  `column:"category"`
	Prompt    string  `column:"prompt_id"`
	Kind      string  `column:"kind"`
	Model     string  `column:"model"`
	Attribute string  `column:"attribute"`
	Axis      string  `column:"axis"`
	Label     string  `column:"label"`
	Side      string  `column:"side"`
	Value     float64 `column:"value" range:"[-1, 1]"`
	Votes     int     `column:"n_votes" unit:"raters"`
	Rule      string  `column:"rule"`
	noted
}

var imageLabels = listing(2, metrics.Definition[LabelOptions, imageLabelRow]{
	Name: "entigen-labels", Title: "the perceived group of each image by a rule", Citation: "section 2",
	Inputs: []metrics.Input{ratingsIn},
	Compute: func(_ context.Context, call *metrics.Call, o LabelOptions) ([]imageLabelRow, error) {
		all, axes, err := o.read(call, "in")
		if err != nil {
			return nil, err
		}
		var out []imageLabelRow
		for _, p := range all {
			for _, a := range axes {
				votes := p.votes[a.axis]
				if len(votes) == 0 {
					continue
				}
				group, err := Label(votes, o.Rule)
				if err != nil {
					return nil, err
				}
				out = append(out, imageLabelRow{ID: p.name + "/" + a.axis, Image: p.name, Category: p.category,
					Prompt: p.prompt, Kind: p.kind, Model: p.model, Attribute: p.attribute, Axis: a.axis,
					Label: []string{data.NoGroup, a.groups[0], a.groups[1]}[group],
					Side:  []string{"", "first", "second"}[group],
					Value: []float64{math.NaN(), 1, -1}[group], Votes: len(votes), Rule: o.Rule})
			}
		}
		return out, nil
	},
})
