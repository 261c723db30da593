package plots_test

import (
	"context"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/plots"
)

// inMemory runs plans of verbs and metrics in this process.
type inMemory struct{}

func (inMemory) Run(ctx context.Context, req client.Request, _ func(table.Progress)) (*client.Result, error) {
	f, err := (&operation.Call{}).Evaluate(ctx, req.Plan)
	return &client.Result{Frame: f}, err
}

func init() {
	client.Register(inMemory{})
}

type hitRow struct {
	Region string           `column:"region"`
	Hits   metrics.Estimate `column:"hits" unit:"share of images" help:"share of images that show the object"`
	Misses float64          `column:"misses" unit:"share of images"`
	Cosine float64          `column:"cosine" unit:"cosine"`
	Used   int              `column:"n_used" unit:"images"`
}

var hits = metrics.Define(metrics.Definition[struct{}, hitRow]{
	Name: "test-hits", Title: "images that show their object", Version: 1, Unit: "share of images",
	Direction: "higher is better", Inputs: []metrics.Input{{Role: "in"}},
	Compute: func(context.Context, *metrics.Call, struct{}) ([]hitRow, error) {
		return []hitRow{
			{"Esk", metrics.Estimate{Value: 0.5, Low: 0.4, High: 0.6}, 0.5, 0.1, 40},
			{"Dorn", metrics.Estimate{Value: 0.75, Low: 0.7, High: 0.8}, 0.25, 0.2, 40},
		}, nil
	},
})

// TestMetricDefaults draws a metric's result, and what verbs make of it: titles, axes and captions come from the
// metric; a label that is given wins.
func TestMetricDefaults(t *testing.T) {
	scores := hits.Of(made(texts("id", "a")))
	for _, c := range map[string]struct {
		figure plots.Figure
		want   []string
	}{
		"bars": {plots.Bars{Table: scores, Y: "hits"}, []string{"Hits by region", "hits (share of images)",
			"hits: share of images that show the object; higher is better. "}},
		"percent": {plots.Bars{Table: scores.Where("region", "!=", "").Sort("hits"), Y: "hits", Percent: true},
			[]string{"hits (% of images)"}},
		"cosine": {plots.Forest{Table: scores.Concat(scores.With("region", "Averra").Head(1)), X: "cosine",
			Percent: true}, []string{">cosine × 100<"}},
		"together": {plots.Bars{Table: scores, Y: "hits", MoreY: []string{"misses"}},
			[]string{"value (share of images)", "Images that show their object; higher is better."}},
		"apart": {plots.Bars{Table: scores, Y: "hits", MoreY: []string{"cosine"}}, []string{">value<"}},
		"scatter": {plots.Scatter{Table: scores, X: "hits", Y: "cosine"},
			[]string{"Cosine and hits by region", ">cosine<", "hits (share of images)"}},
		"given": {plots.Bars{Table: scores, Y: "hits", Title: "own title", YLabel: "own label"}, []string{">own title<",
			">own label<"}},
		"in words": {plots.Bars{Table: scores.Rename("misses", "not_hit"), Y: "hits", MoreY: []string{"not_hit"},
			Names: map[string]string{"hits": "object_seen"}}, []string{">object_seen<", ">not hit<"}},
		"renamed": {plots.Bars{Table: scores.Rename("hits", "h"), Y: "h"}, []string{">h by region<", ">h<"}},
	} {
		svg := drawSVG(t, c.figure)
		must.Has(t, strings.Join(strings.Fields(svg), " "), c.want...)
	}
}
