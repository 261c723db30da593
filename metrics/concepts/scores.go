package concepts

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"antipode/datasets/cococrola"
	"antipode/metrics"
	"antipode/metrics/interval"
)

// Cell is a concept in a language.
type Cell struct{ Language, Concept string }

// Image is an image of a cell.
type Image struct {
	ID     string    // unique within the cell; resampling depends on it, not on the order of images
	Vector []float32 // for Dt, Sc and Xc; nil = none
	Joint  []float32 // in the space of the words, for Wc; nil = none
}

// Set is the images of one model.
type Set struct {
	Model  string
	Images map[Cell][]Image   // a cell without images has no scores
	Words  map[Cell][]float32 // text vectors of the words; without them there is no Wc
}

var blank = metrics.Exact(math.NaN())

// Scores are the scores of one concept in one language.
type Scores struct {
	Cell
	Dt, Sc, Xc, Wc metrics.Estimate
	Used           int // images with a vector
	Reference      int // images in the source language
	Others         int // images in the sample of Dt
	Text           int // images with a joint vector, for Wc
}

// ImageError reports an image, or a word (ID ""), that cannot be scored.
type ImageError struct {
	Model string
	Cell
	ID     string
	Joint  bool // the error is in the joint vector
	Reason string
}

func (e *ImageError) Error() string {
	what := "the word's text vector"
	if e.ID != "" {
		what = fmt.Sprintf("image %q", e.ID)
	}
	return fmt.Sprintf("model %q, language %q, concept %q, %s: %s", e.Model, e.Language, e.Concept, what, e.Reason)
}

// usable holds the images of a cell that can be scored.
type usable struct {
	ids, jointIDs []string
	unit          [][]float64
	joint         [][]float32
}

// ComputeConceptScores computes Dt, Sc, Xc and Wc for every cell of a set, in the order of languages (the paper's
// first, then by name) and concepts (by name). The result does not depend on the order of images.
func ComputeConceptScores(set Set, o Options) ([]Scores, error) {
	o, err := o.check(set.Model)
	if err != nil {
		return nil, err
	}
	cells := slices.SortedFunc(maps.Keys(set.Images), compareCells)
	all := map[Cell]*usable{}
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

// compareLanguages orders languages: those of the paper first.
func compareLanguages(a, b string) int { return compareListed(cococrola.Languages, a, b) }

func compareModels(a, b string) int { return compareListed(cococrola.Models, a, b) }

// unique sorts names and removes duplicates.
func unique(names []string, compare func(a, b string) int) []string {
	slices.SortFunc(names, compare)
	return slices.Compact(names)
}

func compareListed(list []string, a, b string) int {
	place := func(s string) int {
		if s == cococrola.Average {
			return len(list) + 1
		}
		if i := slices.Index(list, s); i >= 0 {
			return i
		}
		return len(list)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// prepare sorts a cell's images by id and scales their vectors to length 1.
func prepare(set Set, c Cell, width *int) (*usable, error) {
	images := slices.Clone(set.Images[c])
	slices.SortStableFunc(images, func(a, b Image) int { return cmp.Compare(a.ID, b.ID) })
	d := &usable{}
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

func scoreCell(set Set, c Cell, all map[Cell]*usable, sample *sampler, o Options) (Scores, error) {
	d := all[c]
	s := Scores{Cell: c, Dt: blank, Sc: blank, Xc: blank, Wc: blank, Used: len(d.unit)}
	boot, err := resample(o, len(d.unit), set.Model, c)
	if err != nil {
		return s, err
	}
	self := similarities(d.unit, d.unit)
	s.Sc = boot.estimate(distinctPairMean(self, nil), func(w []float64) float64 { return distinctPairMean(self, w) })

	others := sample.others(c)
	s.Others = len(others)
	if len(others) > 0 {
		// the mean similarity to the others is the dot product with their mean vector
		means, middle := make([]float64, len(d.unit)), middleOf(others)
		for i, x := range d.unit {
			means[i] = dot(x, middle)
		}
		s.Dt = boot.estimate(mean(means, nil), func(w []float64) float64 { return mean(means, w) })
	}

	source := Cell{o.Source, c.Concept}
	reference := all[source]
	switch {
	case reference == nil:
	case source == c && o.Self == ExcludeSelf:
		s.Xc, s.Reference = s.Sc, len(d.unit)
	case source == c:
		s.Xc, s.Reference = boot.estimate(pairMean(self, nil, nil),
			func(w []float64) float64 { return pairMean(self, w, w) }), len(d.unit)
	default:
		s.Reference = len(reference.unit)
		if s.Xc, err = crossed(similarities(d.unit, reference.unit), boot, o, set.Model, source); err != nil {
			return s, err
		}
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
	if len(matches) != len(d.unit) {
		if boot, err = resample(o, len(matches), set.Model, c); err != nil {
			return s, err
		}
	}
	s.Wc = boot.estimate(mean(matches, nil), func(w []float64) float64 { return mean(matches, w) })
	return s, nil
}

// crossed returns the mean similarity of a cell's images with those of another cell, both of which are resampled.
func crossed(cross [][]float64, boot *resamples, o Options, model string, source Cell) (metrics.Estimate, error) {
	e := metrics.Exact(pairMean(cross, nil, nil))
	if len(cross) == 0 {
		return e, nil
	}
	other, err := resample(o, len(cross[0]), model, source)
	if err != nil || boot.Bootstrap == nil || other.Bootstrap == nil {
		return e, err
	}
	both, err := interval.NewBootstrap(o.Bootstrap(), len(cross), len(cross[0]))
	values := make([]float64, len(boot.weights))
	for b := range values {
		values[b] = pairMean(cross, boot.weights[b], other.weights[b])
	}
	e.Low, e.High = both.Ends(e.Value, values)
	return e, err
}
