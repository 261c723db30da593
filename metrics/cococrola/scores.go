package cococrola

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	data "antipode/datasets/cococrola"
)

// Cell is a concept in a language.
type Cell struct{ Language, Concept string }

// Image is a picture of a cell.
type Image struct {
	ID     string    // unique within the cell: draws go by it, not by the order of pictures
	Vector []float32 // for Dt, Sc and Xc; nil = none
	Joint  []float32 // in the space of the words, for Wc; nil = none
}

// Set is what one model drew.
type Set struct {
	Model  string
	Images map[Cell][]Image   // a cell without pictures has blank scores
	Words  map[Cell][]float32 // text vectors of the words; none = no Wc
}

// Value is a score with its 95 % interval; NaN where there is none.
type Value struct{ Value, Low, High float64 }

var blank = Value{math.NaN(), math.NaN(), math.NaN()}

// Scores are those of one concept in one language.
type Scores struct {
	Cell
	Dt, Sc, Xc, Wc Value
	Used           int // pictures with a vector
	Reference      int // of them in the source language
	Others         int // in the sample of Dt
	Text           int // pictures with a joint vector behind Wc
}

// ImageError says which picture, or word (ID ""), cannot be scored.
type ImageError struct {
	Model string
	Cell
	ID     string
	Joint  bool // its joint vector (or the word's) is meant
	Reason string
}

func (e *ImageError) Error() string {
	what := "the word's text vector"
	if e.ID != "" {
		what = fmt.Sprintf("picture %q", e.ID)
	}
	return fmt.Sprintf("model %q, language %q, concept %q, %s: %s", e.Model, e.Language, e.Concept, what, e.Reason)
}

// drawn are the usable pictures of a cell.
type drawn struct {
	ids, jointIDs []string
	unit          [][]float64
	joint         [][]float32
}

// Score computes Dt, Sc, Xc and Wc for every cell of a set, in the order of languages (the paper's, then by name) and concepts (by name). Readings that are empty
// are those of profile paper; M is taken as it is. The result does not depend on the order of pictures.
func Score(set Set, o Options) ([]Scores, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	cells := make([]Cell, 0, len(set.Images))
	for c := range set.Images {
		cells = append(cells, c)
	}
	slices.SortFunc(cells, compareCells)
	all := map[Cell]*drawn{}
	width := 0
	for _, c := range cells {
		if all[c], err = prepare(set, c, &width); err != nil {
			return nil, err
		}
	}
	sample := sampler{o: o, model: set.Model, cells: cells, all: all}
	out := make([]Scores, len(cells))
	for i, c := range cells {
		if out[i], err = scoreCell(set, c, all, &sample, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func compareCells(a, b Cell) int {
	return cmp.Or(compareLanguages(a.Language, b.Language), cmp.Compare(a.Concept, b.Concept))
}

// compareLanguages puts the paper's languages first, in its order.
func compareLanguages(a, b string) int { return compareListed(data.Languages, a, b) }

func compareModels(a, b string) int { return compareListed(data.Models, a, b) }

func compareListed(list []string, a, b string) int {
	place := func(s string) int {
		if s == data.Average {
			return len(list) + 1
		}
		if i := slices.Index(list, s); i >= 0 {
			return i
		}
		return len(list)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// prepare sorts a cell's pictures by id and gives their vectors the length 1.
func prepare(set Set, c Cell, width *int) (*drawn, error) {
	images := slices.Clone(set.Images[c])
	slices.SortStableFunc(images, func(a, b Image) int { return cmp.Compare(a.ID, b.ID) })
	d := &drawn{}
	var vectors [][]float32
	for i, image := range images {
		if i > 0 && image.ID == images[i-1].ID {
			return nil, &ImageError{Model: set.Model, Cell: c, ID: image.ID, Reason: "the id occurs twice"}
		}
		if image.Vector != nil {
			d.ids, vectors = append(d.ids, image.ID), append(vectors, image.Vector)
		}
		if image.Joint != nil {
			d.jointIDs, d.joint = append(d.jointIDs, image.ID), append(d.joint, image.Joint)
		}
	}
	var err error
	if d.unit, err = unit(vectors, *width); err != nil {
		var bad *VectorError
		if errors.As(err, &bad) {
			return nil, &ImageError{Model: set.Model, Cell: c, ID: d.ids[bad.Row], Reason: bad.Reason}
		}
		return nil, err
	}
	if len(d.unit) > 0 {
		*width = len(d.unit[0])
	}
	return d, nil
}

func scoreCell(set Set, c Cell, all map[Cell]*drawn, sample *sampler, o Options) (Scores, error) {
	d := all[c]
	s := Scores{Cell: c, Dt: blank, Sc: blank, Xc: blank, Wc: blank, Used: len(d.unit)}
	w := resamples(o, len(d.unit), set.Model, c)
	self := similarities(d.unit, d.unit)
	s.Sc = bootstrapped(distinctPairMean(self, nil), w, func(draw int) float64 { return distinctPairMean(self, w[draw]) })

	others := sample.others(c)
	s.Others = len(others)
	if len(others) > 0 {
		means, middle := make([]float64, len(d.unit)), middleOf(others) // the mean similarity to the others is the product with their mean vector
		for i, x := range d.unit {
			means[i] = dot(x, middle)
		}
		s.Dt = bootstrapped(mean(means, nil), w, func(draw int) float64 { return mean(means, w[draw]) })
	}

	source := Cell{o.Source, c.Concept}
	reference := all[source]
	switch {
	case reference == nil:
	case source == c && o.Self == ExcludeSelf:
		s.Xc, s.Reference = s.Sc, len(d.unit)
	case source == c:
		s.Xc, s.Reference = bootstrapped(pairMean(self, nil, nil), w, func(draw int) float64 { return pairMean(self, w[draw], w[draw]) }), len(d.unit)
	default:
		v, cross := resamples(o, len(reference.unit), set.Model, source), similarities(d.unit, reference.unit)
		if v == nil || w == nil {
			v = nil
		}
		s.Xc, s.Reference = bootstrapped(pairMean(cross, nil, nil), v, func(draw int) float64 { return pairMean(cross, w[draw], v[draw]) }), len(reference.unit)
	}

	word := set.Words[Cell{o.Word, c.Concept}]
	if word == nil || len(d.joint) == 0 {
		return s, nil
	}
	matches, err := textMatches(word, d.joint, o.Product)
	if err != nil {
		var bad *VectorError
		if !errors.As(err, &bad) {
			return s, err
		}
		at := &ImageError{Model: set.Model, Cell: c, Joint: true, Reason: bad.Reason}
		if bad.Row > 0 {
			at.ID = d.jointIDs[bad.Row-1]
		}
		return s, at
	}
	s.Text = len(matches)
	jw := w
	if len(matches) != len(d.unit) {
		jw = resamples(o, len(matches), set.Model, c)
	}
	s.Wc = bootstrapped(mean(matches, nil), jw, func(draw int) float64 { return mean(matches, jw[draw]) })
	return s, nil
}
