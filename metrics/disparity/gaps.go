package disparity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
	"antipode/metrics/prdc"

	"gonum.org/v1/gonum/floats"
)

func computeGaps(ctx context.Context, call *metrics.Call, o GapsOptions) ([]gapRow, error) {
	c, groups, reference, err := gapGroups(ctx, call, o)
	if err != nil || len(groups) < 2 {
		return nil, err
	}
	var out []gapRow
	for _, name := range o.Scores {
		found, err := scoreGaps(groups, reference, c.Level, name)
		if err != nil {
			return nil, err
		}
		for i, gap := range found.own {
			g, iv := groupNamed(groups, gap.A), gap.Simultaneous
			out = append(out, gapRow{Group: gap.A, Vector: c.Vector, Score: name,
				Flagged:  iv.Excludes(0) && !(iv.Low == iv.High && g.copies > 0),
				Interval: c.intervalName("half-sampling interval, simultaneous over the groups"),
				Gap:      g.estimate(iv), Ceiling: metrics.Estimated(found.ceiling[i].Simultaneous),
				Real: len(g.real.rows), Generated: len(g.generated.rows)})
		}
	}
	return out, nil
}

func groupNamed(groups []*group, name string) *group {
	return groups[slices.IndexFunc(groups, func(g *group) bool { return strings.Join(g.values, ", ") == name })]
}

// gapGroups computes the scores of the groups that have half-samples, and returns the names of those to compare with.
func gapGroups(ctx context.Context, call *metrics.Call, o GapsOptions) (*comparison, []*group, []string, error) {
	if o.Resamples == 0 {
		return nil, nil, nil, errors.New("gaps have intervals; set resamples to 2 half-samples or more")
	}
	c, groups, err := compare(ctx, call, comparison{PrecisionCoverageOptions: PrecisionCoverageOptions{By: o.By,
		Vector: o.Vector, Cells: o.Cells, Balance: o.Balance, Intervals: o.Intervals, Comparison: o.Comparison}},
		"gaps", prdc.Options{HeldOut: true})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, g := range groups {
		if few := len(g.result.Samples) == 0; few && o.SkipFew {
			call.Notef("group %s is left out: too few images for a gap with an interval", g.name(c.By))
		} else if few {
			return nil, nil, nil, fmt.Errorf("group %s has too few images for a gap with an interval", g.name(c.By))
		}
	}
	except, err := exceptions(call, o, groups)
	if err != nil {
		return nil, nil, nil, err
	}
	groups = slices.DeleteFunc(groups, func(g *group) bool { return len(g.result.Samples) == 0 })
	if len(groups) < 2 && o.SkipFew {
		return c, groups, nil, nil
	}
	reference, err := referenceGroups(o, groups, except)
	return c, groups, reference, err
}

// exceptions returns the names of the table except, each that of a group.
func exceptions(call *metrics.Call, o GapsOptions, groups []*group) ([]string, error) {
	if call.Inputs["except"] == nil {
		return nil, nil
	}
	in := tabular.Read(call, "except")
	except := in.Texts(strings.Join(o.By, ", "))
	var names []string
	for _, g := range groups {
		names = append(names, strings.Join(g.values, ", "))
	}
	return except, cmp.Or(in.Err, known("except", except, names))
}

// known returns an error about the first name of a list that is not one of the groups.
func known(list string, names, groups []string) error {
	for _, name := range names {
		if !slices.Contains(groups, name) {
			return fmt.Errorf("%s: there is no group %q%s; there are: %s", list, name, table.Hint(name, groups),
				strings.Join(groups, ", "))
		}
	}
	return nil
}

// foundGaps are the gaps of a score, those of its ceiling, which held-out reference images have, and the difference.
type foundGaps struct{ own, ceiling, net []interval.Gap }

// scoreGaps returns the gaps of a score of the groups' results.
func scoreGaps(groups []*group, reference []string, level float64, score string) (out foundGaps, err error) {
	of := prdcScores[score].of
	var own, ceiling, net []interval.Scored
	for _, g := range groups {
		name, value := strings.Join(g.values, ", "), of(g.result.Scores)
		halves, held := g.result.Samples.Of(of), g.result.HeldOut.Of(of)
		own = append(own, interval.Scored{Name: name, Value: value, Samples: halves})
		ceiling = append(ceiling, interval.Scored{Name: name, Value: tabular.Average(held), Samples: held})
		net = append(net, interval.Scored{Name: name, Value: value - tabular.Average(held),
			Samples: floats.SubTo(make([]float64, len(held)), halves, held)})
	}
	if out.own, err = interval.GapsToMean(own, reference, level); err != nil {
		return out, fmt.Errorf("gaps of %s: %w", score, err)
	}
	if out.ceiling, err = interval.GapsToMean(ceiling, reference, level); err == nil {
		out.net, err = interval.GapsToMean(net, reference, level)
	}
	if err != nil {
		err = fmt.Errorf("gaps of the ceilings of %s: %w", score, err)
	}
	return out, err
}

// referenceGroups returns the names of the groups that the others are compared with.
func referenceGroups(o GapsOptions, groups []*group, except []string) ([]string, error) {
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
