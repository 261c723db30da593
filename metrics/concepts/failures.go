package concepts

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
)

// Kinds of failure (section 5.2).
const (
	NonSpecific       = "non-specific"       // images of unrelated kinds
	SpecificCollision = "specific collision" // a consistent but wrong concept
	GenericCollision  = "generic collision"  // a scene that the images of other concepts show, too
)

// Kinds are the kinds of failure, and "" for unlabeled.
var Kinds = []string{NonSpecific, SpecificCollision, GenericCollision, ""}

// Failing are the mean cosine similarities that [KindOf] reads about a concept that is not possessed.
type Failing struct {
	Self      float64 // of its images with each other
	Nearest   float64 // with the images of another concept in the same language: the most similar ones
	Reference float64 // with the images of that concept in the source language
	Typical   float64 // of a concept's images with each other, in the source language: the median over concepts
	Base      float64 // of the images of two different concepts in the source language: the mean
}

// KindOf returns the kind of failure of a concept that is not possessed; "" if a similarity is NaN. Similarities count
// on the scale from Base, 0, to Typical, 1:
//
//	Self below 0.5                      non-specific: the images vary
//	else Nearest at least 0.75·Self     generic collision: the concept shares its images with another one, and they
//	and Reference below 0.75·Nearest    are not of that one either
//	else                                specific collision: a consistent wrong concept, the nearest one if it is one
//	                                    of the study's
//
// The paper labels images by eye. This rule is an addition of this package; in twelve worlds of the Archipelago, whose
// injected kinds are known, it names that of 68 of 69 failures of a sampler. [FailureCounts] takes labels by people.
func KindOf(f Failing) string {
	scaled := func(x float64) float64 { return (x - f.Base) / (f.Typical - f.Base) }
	self, nearest, reference := scaled(f.Self), scaled(f.Nearest), scaled(f.Reference)
	switch {
	case math.IsNaN(self) || math.IsNaN(nearest) || math.IsNaN(reference):
		return ""
	case self < 0.5:
		return NonSpecific
	case nearest >= 0.75*self && reference < 0.75*nearest:
		return GenericCollision
	}
	return SpecificCollision
}

// FailureOptions are the options of [Failures].
type FailureOptions struct {
	Vector string `json:"vector,omitempty" default:"full" help:"image vectors, those of the scores"`
	Source string `json:"source,omitempty" default:"en,CogView 2=zh" help:"source language, or a list LANGUAGE,MODEL=LANGUAGE,…"`
}

// failureRow is a row of [Failures].
type failureRow struct {
	Model     string  `column:"model"`
	Language  string  `column:"language"`
	Concept   string  `column:"concept"`
	Kind      string  `column:"kind" help:"blank without images"`
	Nearest   string  `column:"nearest" help:"the other concept with the most similar images in the same language"`
	Xc        float64 `column:"cross_consistency"`
	Wc        float64 `column:"text_match"`
	Self      float64 `column:"self_consistency"`
	Near      float64 `column:"nearest_similarity" unit:"cosine" range:"[-1, 1]" help:"with the images of nearest in the same language"`
	Reference float64 `column:"nearest_reference" unit:"cosine" range:"[-1, 1]" help:"with the images of nearest in the source language"`
}

var failures = metrics.Define(metrics.Definition[FailureOptions, failureRow]{
	Name:    "cococrola-failures",
	Title:   "concepts not possessed, with the kind of failure that their images suggest",
	Version: 3, Unit: cosines, Range: ranges, Direction: "none",
	Citation: citation + ", section 5.2; the rule is an addition",
	Inputs: []metrics.Input{inScores[0], {Role: "images", Columns: cellColumns, Optional: true,
		About: "the images of the scores, with their vectors; without them no kind"}},
	Compute: computeFailures,
})

// Failures is the metric cococrola-failures (section 5.2): the concepts that are not possessed, with the kind of
// failure that their images suggest ([KindOf]). images are those of the scores, with the column Vector. Scores by
// template are compared with the images of all templates.
func Failures(scores, images datasets.Table, options ...FailureOptions) datasets.Table {
	return failures.Table(map[string]datasets.Table{"in": scores, "images": images}, options...)
}

// center is the sum of n unit vectors.
type center struct {
	sum []float64
	n   float64
}

// with returns the mean cosine of the images of two cells, NaN without images.
func (m *center) with(other *center) float64 {
	if m == nil || other == nil {
		return math.NaN()
	}
	return floats.Dot(m.sum, other.sum) / m.n / other.n
}

// self returns the mean cosine of two images of a cell, NaN under two images.
func (m *center) self() float64 {
	if m == nil || m.n < 2 {
		return math.NaN()
	}
	return (floats.Dot(m.sum, m.sum) - m.n) / m.n / (m.n - 1)
}

// readCenters returns the mean vectors of the images by model and cell.
func readCenters(call *metrics.Call, vector string) (map[string]map[Cell]*center, error) {
	in := tabular.Read(call, "images")
	models, languages, concepts := in.Texts("model"), in.Texts("language"), in.Texts("concept")
	vectors := in.Vectors(vector)
	if in.Err != nil {
		return nil, in.Err
	}
	out, widths := map[string]map[Cell]*center{}, map[string]int{}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		unit, reason := tabular.Unit(v)
		if out[models[i]] == nil {
			out[models[i]], widths[models[i]] = map[Cell]*center{}, len(v)
		}
		if width := widths[models[i]]; reason == "" && width != len(v) {
			reason = fmt.Sprintf("it has %d numbers, others have %d", len(v), width)
		}
		if reason != "" {
			return nil, tabular.BadRow(in.Frame, i, vector, "%s", reason)
		}
		of, cell := out[models[i]], Cell{languages[i], concepts[i]}
		if m := of[cell]; m == nil {
			of[cell] = &center{unit, 1}
		} else {
			floats.Add(m.sum, unit)
			m.n++
		}
	}
	return out, nil
}

// sourceLevels returns the similarities in a source language that [KindOf] compares with.
func sourceLevels(of map[Cell]*center, source string) (typical, base float64) {
	var means []*center
	var self, others []float64
	for _, c := range slices.SortedFunc(maps.Keys(of), func(a, b Cell) int { // for the same rounding in every run
		return strings.Compare(a.Concept, b.Concept)
	}) {
		if c.Language == source {
			means = append(means, of[c])
		}
	}
	for i, m := range means {
		if x := m.self(); !math.IsNaN(x) {
			self = append(self, x)
		}
		for _, other := range means[:i] {
			others = append(others, m.with(other))
		}
	}
	slices.Sort(self)
	return interval.Quantile(self, 0.5), floats.Sum(others) / float64(len(others))
}

func computeFailures(_ context.Context, call *metrics.Call, o FailureOptions) (out []failureRow, err error) {
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	means := map[string]map[Cell]*center{}
	if call.Inputs["images"] != nil {
		if means, err = readCenters(call, o.Vector); err != nil {
			return nil, err
		}
	} else {
		call.Notef("there are no images: the kinds of failure are not known")
	}
	levels := map[string]Failing{} // of each model, without what depends on the concept
	for _, s := range rows {
		if s.Possessed != No {
			continue
		}
		model := s.Model
		if at := strings.LastIndex(model, separator); at >= 0 && means[model] == nil {
			model = model[:at] // without the template
		}
		source, err := SourceOf(o.Source, model)
		if err != nil {
			return nil, err
		}
		of := means[model]
		f, known := levels[model]
		if !known {
			f = Failing{Nearest: math.NaN(), Reference: math.NaN()}
			f.Typical, f.Base = sourceLevels(of, source)
			levels[model] = f
		}
		f.Self = of[s.Cell].self()
		row := failureRow{Model: s.Model, Language: s.Language, Concept: s.Concept, Xc: s.Xc, Wc: s.Wc, Self: s.Sc}
		for c, other := range of {
			if c.Language != s.Language || c.Concept == s.Concept {
				continue
			}
			if x := of[s.Cell].with(other); (!(x <= f.Nearest) || x == f.Nearest && c.Concept < row.Nearest) &&
				!math.IsNaN(x) {
				f.Nearest, row.Nearest = x, c.Concept
			}
		}
		f.Reference = of[s.Cell].with(of[Cell{source, row.Nearest}])
		row.Kind, row.Near, row.Reference = KindOf(f), f.Nearest, f.Reference
		out = append(out, row)
	}
	return out, nil
}
