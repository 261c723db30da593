package disparity

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
)

var sixRegions = []string{"Africa", "Americas", "EastAsia", "Europe", "SouthEastAsia", "WestAsia"}

// findings are scores by region that agree with Table 1 and with every claim of the paper on the original template.
func findings() *table.Frame {
	return byRegionOf([]float64{0.564, 0.62, 0.62, 0.64, 0.65, 0.608}, []float64{0.352, 0.37, 0.38, 0.42, 0.38, 0.36},
		[]float64{0.56, 0.5, 0.5, 0.48, 0.483, 0.363}, []float64{0.278, 0.36, 0.38, 0.37, 0.556, 0.354})
}

func byRegionOf(objectPrecision, objectCoverage, backgroundPrecision, backgroundCoverage []float64) *table.Frame {
	return &table.Frame{Columns: []table.Column{table.TextColumn("region", slices.Concat(sixRegions, sixRegions)),
		table.TextColumn("vector", slices.Concat(slices.Repeat([]string{"object_only"}, 6),
			slices.Repeat([]string{"background_only"}, 6))),
		table.NumberColumn("precision", slices.Concat(objectPrecision, backgroundPrecision)),
		table.NumberColumn("coverage", slices.Concat(objectCoverage, backgroundCoverage))}}
}

// shifted adds to the scores of a component.
func shifted(f *table.Frame, vector string, precision, coverage float64) *table.Frame {
	p, c := slices.Clone(f.Numbers("precision")), slices.Clone(f.Numbers("coverage"))
	for i, v := range f.Texts("vector") {
		if v == vector {
			p[i], c[i] = p[i]+precision, c[i]+coverage
		}
	}
	return f.With(table.NumberColumn("precision", p), table.NumberColumn("coverage", c))
}

// Each trend is a line with its verdict and its two numbers; a run that turns one finding round fails that line
// alone.
func TestTrendLines(t *testing.T) {
	original := findings()
	changed := shifted(shifted(original, "background_only", -0.01, 0.1), "object_only", 0.04, 0)
	f, _, err := evaluate(t, ask{Metric: "trend-lines"}, original, changed)
	if err != nil || f.Len() != 10 {
		t.Fatal(f, err)
	}
	if slices.Contains(f.Texts("verdict"), "FAIL") {
		t.Errorf("%q", f.Texts("line"))
	}
	if got := f.Texts("line")[0]; !strings.HasPrefix(got,
		"pass  average precision, object above background: Obj-only 0.617, BG-only 0.481") {
		t.Errorf("%q", got)
	}
	must.Near(t, f.Numbers("a")[7], 0.278, 1e-12)
	must.Near(t, f.Numbers("b")[7], 0.378, 1e-12)
	must.Equal(t, f.Texts("trend")[7], "worst background coverage clearly up")
	exact, _ := must.Get2(evaluate(t, ask{Metric: "trend-lines", Options: options("clearly", "0.07")}, original,
		shifted(original, "background_only", -0.05, 0.07)))(t)
	must.EqualSlices(t, exact.Texts("verdict")[6:9], []string{"pass", "pass", "pass"}, "differences but for rounding")
	alone, _, err := evaluate(t, ask{Metric: "trend-lines"}, original)
	if err != nil || alone.Len() != 6 || slices.Contains(alone.Texts("verdict"), "FAIL") {
		t.Errorf("the original template alone: %v, %v", alone, err)
	}
	for trend, c := range map[string]struct {
		in      *table.Frame
		options map[string]string
	}{
		"average precision, object above background": {shifted(original, "background_only", 0.14, 0),
			options("equal", "0.15")},
		"average coverage about equal":            {shifted(original, "object_only", 0, 0.1), nil},
		"smallest background coverage in Europe":  {original, options("low", "Europe", "equal", "0.2")},
		"largest background coverage in WestAsia": {original, options("high", "WestAsia")},
		"best/worst coverage larger for background": {byRegionOf([]float64{0.564, 0.62, 0.62, 0.64, 0.65, 0.608},
			[]float64{0.2, 0.42, 0.4, 0.4, 0.42, 0.42}, []float64{0.56, 0.5, 0.5, 0.48, 0.483, 0.363},
			[]float64{0.34, 0.36, 0.38, 0.37, 0.4, 0.36}), nil},
		"Africa's precision about equal in both components": {original, options("equal", "0.003")},
	} {
		o := c.options
		f, _ := must.Get2(evaluate(t, ask{Metric: "trend-lines", Options: o}, c.in))(t)
		failed := []string{}
		for i, v := range f.Texts("verdict") {
			if v == "FAIL" && !(trend == "Africa's precision about equal in both components" &&
				f.Texts("trend")[i] == "average coverage about equal") {
				failed = append(failed, f.Texts("trend")[i])
			}
		}
		must.EqualSlices(t, failed, []string{trend}, trend, "failed")
	}
	any, _ := must.Get2(evaluate(t, ask{Metric: "trend-lines", Options: options("any-regions", "true")}, original))(t)
	must.Equal(t, any.Len(), 3, "any regions", any)
	for want, c := range map[string]struct {
		in      *table.Frame
		options map[string]string
	}{
		`there is no region "Atlantis"`:     {original, options("low", "Atlantis")},
		"with Concat":                       {original.Pick([]int{0, 1, 2, 3, 4, 5}), nil},
		`equal: "x" is not a finite number`: {original, options("equal", "x")},
		`no such column: "place"`:           {original, options("region", "place")},
		"has two scores":                    {original.Pick([]int{0, 0, 6}), nil},
	} {
		must.Fail(evaluate(t, ask{Metric: "trend-lines", Options: c.options}, c.in))(t, want)
	}
}

// The candidates for the paper's 1.7x stand side by side (row 14 of the checklist), and the summary names the
// regions.
func TestDisparityRatiosSideBySide(t *testing.T) {
	f, _, err := evaluate(t, ask{Metric: "disparity-ratios"}, findings())
	if err != nil || f.Len() != 3 {
		t.Fatal(f, err)
	}
	for i, want := range []float64{(0.556 / 0.278) / (0.42 / 0.352), 0.278 / 0.068, 0.197 / 0.086} {
		must.Near(t, f.Numbers("ratio")[i], want, 1e-9, f.Texts("name")[i])
	}
	must.Fail(evaluate(t, ask{Metric: "disparity-ratios"}, findings().Pick([]int{0, 1})))(t, "with Concat")
	s, _, err := evaluate(t, ask{Metric: "region-summary"}, findings())
	if err != nil || s.Len() != 4 {
		t.Fatal(s, err)
	}
	for i, v := range s.Texts("vector") {
		if v == "background_only" && s.Texts("score")[i] == "coverage" &&
			(s.Texts("worst_region")[i] != "Africa" || s.Texts("best_region")[i] != "SouthEastAsia" ||
				math.Abs(s.Numbers("average")[i]-0.383) > 1e-9 || math.Abs(s.Numbers("ratio")[i]-2) > 1e-9) {
			t.Errorf("%v", datasets.Format(s, 0))
		}
	}
}

// The average's interval adds the squares of the regions' half intervals; the worst region's is its own. Scores without
// intervals have none.
func TestRegionSummaryIntervals(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{
		table.TextColumn("region", []string{"a", "b"}), table.TextColumn("vector", []string{"full", "full"}),
		table.NumberColumn("precision", []float64{0.4, 0.6}), table.NumberColumn("coverage", []float64{0.5, 0.3}),
		table.NumberColumn("coverage_low", []float64{0.2, 0.26}),
		table.NumberColumn("coverage_high", []float64{0.53, 0.34})}}
	s, _, err := evaluate(t, ask{Metric: "region-summary"}, f)
	if err != nil || s.Len() != 2 {
		t.Fatal(s, err)
	}
	got := func(column string, row int) float64 { return s.Numbers(column)[row] }
	if !math.IsNaN(got("average_low", 0)) || !math.IsNaN(got("worst_high", 0)) {
		t.Error("precision has no interval")
	}
	for column, want := range map[string]float64{"average_low": 0.4 - math.Hypot(0.3, 0.04)/2,
		"average_high": 0.4 + math.Hypot(0.03, 0.04)/2, "worst_low": 0.26, "worst_high": 0.34} {
		must.Near(t, got(column, 1), want, 1e-12, column)
	}
}

// Scores per object, by the mean over regions: a row for each object and component, regions without a score named. A
// region without images has coverage 0 and no precision, and counts in neither mean.
func TestObjectMeans(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("object", []string{"bag", "bag", "car", "car"}),
		table.TextColumn("region", []string{"Africa", "Europe", "Africa", "Europe"}),
		table.TextColumn("vector", slices.Repeat([]string{"full"}, 4)),
		table.NumberColumn("precision", []float64{0.2, 0.6, 0.5, math.NaN()}),
		table.NumberColumn("coverage", []float64{0.1, 0.3, 0.4, 0})}}
	got, _, err := evaluate(t, ask{Metric: "object-means"}, f)
	if err != nil || got.Len() != 2 || got.Texts("object")[1] != "car" ||
		math.Abs(got.Numbers("precision")[0]-0.4) > 1e-12 || got.Numbers("precision")[1] != 0.5 ||
		got.Numbers("coverage")[1] != 0.4 || math.Abs(got.Numbers("coverage")[0]-0.2) > 1e-12 ||
		got.Texts("missing")[1] != "Europe" || got.Numbers("n_regions")[1] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	must.Fail(evaluate(t, ask{Metric: "object-means"}, f.Pick([]int{2, 0, 2})))(t, `"Africa" has two scores of car`)
}

// Warnings about an empty component and uneven cells reach the result; TestOneNoteForAllGroups has the others.
func TestWarningsOfTables(t *testing.T) {
	real, gen := cloud(1, 80, 0), cloud(2, 80, 0)
	empty := slices.Clone(gen.Numbers("background_patches"))
	empty[3] = 0
	for want, c := range map[string]struct {
		vector    string
		real, gen *table.Frame
	}{
		"have an empty or too small": {"background_only", real,
			gen.With(table.NumberColumn("background_patches", empty))},
		"uneven cells": {"full", real, gen.Pick([]int{0, 1, 2, 3, 4, 8, 12})},
	} {
		_, notes, err := evaluate(t,
			ask{Metric: "precision-coverage", Options: options("vector", c.vector, "resamples", "0", "cells",
				"object")},
			c.real, c.gen)
		if err != nil || !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("%s: notes %q, %v", want, notes, err)
		}
	}
	empty[3] = math.NaN() // not known
	for _, o := range []map[string]string{options("vector", "background_only"),
		options("vector", "object_only", "min_patches", "200")} { // of backgrounds
		if _, notes := must.Get2(evaluate(t, ask{Metric: "precision-coverage", Options: o}, real,
			gen.With(table.NumberColumn("background_patches", empty))))(t); len(notes) > 0 {
			t.Errorf("%v: notes %q", o, notes)
		}
	}
	must.Fail(evaluate(t, ask{Metric: "precision-coverage", Options: options("k", "80")}, real,
		gen))(t, "a radius needs more than k = 80")
}
