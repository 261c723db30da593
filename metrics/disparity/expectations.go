package disparity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"antipode/metrics/interval"
)

// rounding is by how much the limits of differences are exceeded where only the last digits of scores do so.
const rounding = 1e-9

// trends checks the signs and orders of the paper's findings in a new run (section 8 of the specification). If new is
// nil, the expectations of a second template are omitted. Where the scores have intervals, an expectation is undecided
// if the interval of the difference that it is about allows both.
func trends(orig components, new *components, o TrendLinesOptions) ([]trendLineRow, error) {
	o.Equal, o.Clearly = cmp.Or(o.Equal, 0.05), cmp.Or(o.Clearly, 0.02)
	o.Low, o.High = cmp.Or(o.Low, "Africa"), cmp.Or(o.High, "SouthEastAsia")
	a, err := orig.summaries()
	if err != nil {
		return nil, err
	}
	equal := func(name, an string, x interval.Bounded, bn string, y interval.Bounded) trendLineRow {
		return expect(name, an, x, bn, y, x.Minus(y), -o.Equal-rounding, o.Equal+rounding,
			fmt.Sprintf("at most %.2f apart", o.Equal))
	}
	up := func(name string, x, y interval.Bounded) trendLineRow {
		return expect(name, "Orig.", x, "New", y, y.Minus(x), o.Clearly-rounding, math.Inf(1),
			fmt.Sprintf("up by at least %.2f", o.Clearly))
	}
	out := []trendLineRow{
		above("average precision, object above background", "Obj-only", orig.average(0), "BG-only", orig.average(1)),
		equal("average coverage about equal", "Obj-only", orig.average(3), "BG-only", orig.average(2)),
		above("best/worst coverage larger for background", "BG-only", interval.Bounded{Value: a.bc.Ratio}, "Obj-only",
			interval.Bounded{Value: a.oc.Ratio}),
	}
	if !o.AnyRegions {
		low, err1 := orig.extreme("smallest background coverage in ", o.Low, "smallest (", 1, a.bc.Worst,
			a.bc.WorstRegion)
		high, err2 := orig.extreme("largest background coverage in ", o.High, "largest (", -1, a.bc.Best,
			a.bc.BestRegion)
		lowObject, err3 := find(orig.ObjectPrecision, o.Low)
		lowBackground, err4 := find(orig.BackgroundPrecision, o.Low)
		if err := cmp.Or(err1, err2, err3, err4); err != nil {
			return nil, err
		}
		out = append(out, low, high, equal(o.Low+"'s precision about equal in both components", "Obj-only",
			orig.bounded(0, regionScore{o.Low, lowObject}), "BG-only",
			orig.bounded(1, regionScore{o.Low, lowBackground})))
	}
	if new == nil {
		return out, nil
	}
	b, err := new.summaries()
	if err != nil {
		return nil, err
	}
	return append(out,
		up("average background coverage clearly up", orig.average(2), new.average(2)),
		up("worst background coverage clearly up", orig.bounded(2, regionScore{a.bc.WorstRegion, a.bc.Worst}),
			new.bounded(2, regionScore{b.bc.WorstRegion, b.bc.Worst})),
		equal("average background precision little changed", "Orig.", orig.average(1), "New", new.average(1)),
		above("average object precision up", "New", new.average(0), "Orig.", orig.average(0))), nil
}

// expect returns the row of an expectation: d, by which x and y differ, is between least and most.
func expect(name, an string, x interval.Bounded, bn string, y, d interval.Bounded, least, most float64,
	rule string) trendLineRow {
	verdict := d.Within(least, most)
	return trendLineRow{name, verdict, an, bn, rule, fmt.Sprintf("%s  %s: %s %.3f, %s %.3f (%s)", verdict, name, an,
		x.Value, bn, y.Value, rule), x.Value, y.Value, d.Low, d.High}
}

func above(name, an string, x interval.Bounded, bn string, y interval.Bounded) trendLineRow {
	return expect(name, an, x, bn, y, x.Minus(y), 0, math.Inf(1), "first above second")
}

// extreme compares a region's background coverage with the smallest (sign 1) or largest (−1) of the others.
func (d components) extreme(name, region, what string, sign float64, worst float64, worstRegion string) (trendLineRow,
	error) {
	of, err := find(d.BackgroundCoverage, region)
	if err != nil {
		return trendLineRow{}, err
	}
	next := interval.Bounded{Value: math.NaN()}
	for _, v := range d.BackgroundCoverage {
		if v.Region != region && !(sign*v.Value >= sign*next.Value) {
			next = d.bounded(2, v)
		}
	}
	own := d.bounded(2, regionScore{region, of})
	apart := next.Minus(own)
	if sign < 0 {
		apart = own.Minus(next)
	}
	return expect(name+region, region, own, what+worstRegion+")", interval.Bounded{Value: worst}, apart,
		-rounding, math.Inf(1), "the same"), nil
}

// bounded returns the score of a region with its interval; the list is by number: object precision, background
// precision, background coverage, object coverage.
func (d components) bounded(list int, v regionScore) interval.Bounded {
	ends := d.Intervals[list][v.Region]
	return interval.Bounded{Value: v.Value, Low: ends[0], High: ends[1]}
}

// average returns the average of a list with its interval: the regions' images are disjoint, so the squares of their
// intervals' halves add up.
func (d components) average(list int) interval.Bounded {
	values := [][]regionScore{d.ObjectPrecision, d.BackgroundPrecision, d.BackgroundCoverage, d.ObjectCoverage}[list]
	var out interval.Bounded
	var below, above float64
	n := float64(len(values))
	for _, v := range values {
		b := d.bounded(list, v)
		out.Value += v.Value / n
		below, above = math.Hypot(below, b.Value-b.Low), math.Hypot(above, b.High-b.Value)
	}
	if len(d.Intervals[list]) == len(values) {
		out.Low, out.High = out.Value-below/n, out.Value+above/n
	}
	return out
}

type summaries struct{ op, oc, bp, bc Aggregate }

func (d components) summaries() (s summaries, err error) {
	var errs [4]error
	s.op, errs[0] = summarize(d.ObjectPrecision)
	s.oc, errs[1] = summarize(d.ObjectCoverage)
	s.bp, errs[2] = summarize(d.BackgroundPrecision)
	s.bc, errs[3] = summarize(d.BackgroundCoverage)
	return s, cmp.Or(errs[:]...)
}

func find(values []regionScore, region string) (float64, error) {
	i := slices.IndexFunc(values, func(v regionScore) bool { return v.Region == region })
	if i < 0 {
		return 0, fmt.Errorf("disparity: there is no region %q; set the expected regions, or skip the expectations "+
			"of named regions", region)
	}
	return values[i].Value, nil
}
