package regions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Trend is an expectation of a new run, with the two numbers that it compares.
type Trend struct {
	Name         string
	Pass         bool
	A, B         float64
	AName, BName string
	Rule         string // required relation of A and B
}

// String returns the trend as a line of a report.
func (t Trend) String() string {
	verdict := "FAIL"
	if t.Pass {
		verdict = "pass"
	}
	return fmt.Sprintf("%s  %s: %s %.3f, %s %.3f (%s)", verdict, t.Name, t.AName, t.A, t.BName, t.B, t.Rule)
}

// TrendOptions are the options of [Trends], with defaults in brackets.
type TrendOptions struct {
	Equal   float64 // "about equal", "within a few hundredths", "little changed": at most this far apart [0.05]
	Clearly float64 // "clearly up": at least this much [0.02]
	// expected to have the smallest background coverage and equal precision of objects and backgrounds [Africa]
	LowRegion   string
	HighRegion  string // expected to have the largest background coverage [SouthEastAsia]
	SkipRegions bool   // omit the expectations of named regions, for data sets other than GeoDE
}

// Trends checks the signs and orders of the paper's findings in a new run (section 8 of the specification). If new is
// nil, the expectations of a second template are omitted.
func Trends(orig Decomposed, new *Decomposed, o TrendOptions) ([]Trend, error) {
	o = TrendOptions{cmp.Or(o.Equal, 0.05), cmp.Or(o.Clearly, 0.02), cmp.Or(o.LowRegion, "Africa"),
		cmp.Or(o.HighRegion, "SouthEastAsia"), o.SkipRegions}
	a, err := orig.summaries()
	if err != nil {
		return nil, err
	}
	above := func(name, an string, x float64, bn string, y float64) Trend {
		return Trend{name, x > y, x, y, an, bn, "first above second"}
	}
	equal := func(name, an string, x float64, bn string, y float64) Trend {
		return Trend{name, math.Abs(x-y) <= o.Equal, x, y, an, bn, fmt.Sprintf("at most %.2f apart", o.Equal)}
	}
	up := func(name string, x, y float64) Trend {
		return Trend{name, y-x >= o.Clearly, x, y, "Orig.", "New", fmt.Sprintf("up by at least %.2f", o.Clearly)}
	}
	trends := []Trend{
		above("average precision, object above background", "Obj-only", a.op.Average, "BG-only", a.bp.Average),
		equal("average coverage about equal", "Obj-only", a.oc.Average, "BG-only", a.bc.Average),
		above("best/worst coverage larger for background", "BG-only", a.bc.Ratio, "Obj-only", a.oc.Ratio),
	}
	if !o.SkipRegions {
		low, err1 := find(orig.BackgroundCoverage, o.LowRegion)
		high, err2 := find(orig.BackgroundCoverage, o.HighRegion)
		lowObject, err3 := find(orig.ObjectPrecision, o.LowRegion)
		lowBackground, err4 := find(orig.BackgroundPrecision, o.LowRegion)
		if err := cmp.Or(err1, err2, err3, err4); err != nil {
			return nil, err
		}
		trends = append(trends,
			Trend{"smallest background coverage in " + o.LowRegion, low == a.bc.Worst, low, a.bc.Worst, o.LowRegion,
				"smallest (" + a.bc.WorstRegion + ")", "the same"},
			Trend{"largest background coverage in " + o.HighRegion, high == a.bc.Best, high, a.bc.Best, o.HighRegion,
				"largest (" + a.bc.BestRegion + ")", "the same"},
			equal(o.LowRegion+"'s precision about equal in both components", "Obj-only", lowObject, "BG-only",
				lowBackground))
	}
	if new == nil {
		return trends, nil
	}
	b, err := new.summaries()
	if err != nil {
		return nil, err
	}
	return append(trends,
		up("average background coverage clearly up", a.bc.Average, b.bc.Average),
		up("worst background coverage clearly up", a.bc.Worst, b.bc.Worst),
		equal("average background precision little changed", "Orig.", a.bp.Average, "New", b.bp.Average),
		above("average object precision up", "New", b.op.Average, "Orig.", a.op.Average)), nil
}

type summaries struct{ op, oc, bp, bc Aggregate }

func (d Decomposed) summaries() (s summaries, err error) {
	var errs [4]error
	s.op, errs[0] = Summarize(d.ObjectPrecision)
	s.oc, errs[1] = Summarize(d.ObjectCoverage)
	s.bp, errs[2] = Summarize(d.BackgroundPrecision)
	s.bc, errs[3] = Summarize(d.BackgroundCoverage)
	return s, cmp.Or(errs[:]...)
}

func find(values []Value, region string) (float64, error) {
	i := slices.IndexFunc(values, func(v Value) bool { return v.Region == region })
	if i < 0 {
		return 0, fmt.Errorf("regions: there is no region %q; set the expected regions, or skip the expectations "+
			"of named regions", region)
	}
	return values[i].Value, nil
}
