package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
	"antipode/metrics/prdc"
)

func computeGaps(ctx context.Context, call *Call, o GapsOptions) ([]GapRow, error) {
	if o.Resamples == 0 {
		return nil, errors.New("gaps have intervals; set resamples to 2 half-samples or more")
	}
	c, groups, err := compare(ctx, call, comparison{PrecisionCoverageOptions: PrecisionCoverageOptions{By: o.By,
		Vector: o.Vector, Cells: o.Cells, Balance: o.Balance, Intervals: o.Intervals, Comparison: o.Comparison}},
		"gaps", prdc.Options{})
	if err != nil {
		return nil, err
	}
	index := map[string]*group{}
	if o.SkipFew {
		groups = slices.DeleteFunc(groups, func(g *group) bool {
			few := len(g.result.Samples) == 0
			if few {
				call.Notef("group %s is left out: too few images for a gap with an interval", g.name(c.By))
			}
			return few
		})
		if len(groups) < 2 {
			return nil, nil
		}
	}
	for _, g := range groups {
		if len(g.result.Samples) == 0 {
			return nil, fmt.Errorf("group %s has too few images for a gap with an interval", g.name(c.By))
		}
		index[strings.Join(g.values, ", ")] = g
	}
	reference, err := referenceGroups(call, o, groups)
	if err != nil {
		return nil, err
	}
	var out []GapRow
	for _, name := range o.Scores {
		scored := make([]interval.Scored, len(groups))
		for i, g := range groups {
			score := prdcScores[name].of
			scored[i] = interval.Scored{Name: strings.Join(g.values, ", "), Value: score(g.result.Scores),
				Samples: g.result.Of(score)}
		}
		gaps, err := interval.GapsToMean(scored, reference, c.Level)
		if err != nil {
			return nil, fmt.Errorf("gaps of %s: %w", name, err)
		}
		for _, gap := range gaps {
			g, iv := index[gap.A], gap.Simultaneous
			out = append(out, GapRow{Group: gap.A, Vector: c.Vector, Score: name,
				Flagged:  iv.Excludes(0) && !(iv.Low == iv.High && g.copies > 0),
				Interval: c.intervalName("half-sampling interval, simultaneous over the groups"),
				Gap:      g.estimate(iv),
				Real:     len(g.real.rows), Generated: len(g.generated.rows)})
		}
	}
	return out, nil
}

// referenceGroups returns the names of the groups that the others are compared with.
func referenceGroups(call *Call, o GapsOptions, groups []*group) ([]string, error) {
	var except []string
	if call.Inputs["except"] != nil {
		in := tabular.Read(call, "except")
		if except = in.Texts(strings.Join(o.By, ", ")); in.Err != nil {
			return nil, in.Err
		}
	}
	var out []string
	for _, g := range groups {
		name := strings.Join(g.values, ", ")
		if !slices.Contains(except, name) && (len(o.Against) == 0 || slices.Contains(o.Against, name)) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no reference group is left to compare with")
	}
	if len(o.Against) > 0 && len(out) != len(o.Against) {
		return nil, fmt.Errorf("against is %q; only %d of these groups are in the tables",
			strings.Join(o.Against, ","), len(out))
	}
	return out, nil
}
