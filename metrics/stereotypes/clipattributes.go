package stereotypes

import (
	"antipode/metrics/internal/tabular"
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Methods of [ClipAttributes]: when an image shows an attribute, by the similarity of its vector with the vectors of
// the attributes' texts. The paper finds attributes in captions only.
const (
	ByTop         = "top"         // among the Top most similar; ties by the order of the texts
	ByProbability = "probability" // softmax of scale·cosine over the vocabulary is at least Threshold
	ByCosine      = "cosine"      // cosine is at least Threshold
)

// ClipVariant selects how [ClipAttributes] finds attributes.
type ClipVariant struct {
	Method    string // [ByTop], [ByProbability] or [ByCosine]; required
	Threshold float64
	Top       int
	Scale     float64 // CLIP's logit scale; 0 = 100
}

// Scored is the score of an attribute for an image.
type Scored struct {
	Attribute   int     // position among the texts
	Cosine      float64 // [-1, 1]
	Probability float64 // [0, 1]; over all texts they sum to 1
	Rank        int     // from 1, most similar first
	Found       bool
}

// ClipAttributes scores images against a vocabulary, zero-shot. It returns for each image all attributes, most similar
// first; nil for a nil vector. Cosines are computed in float64.
//
// Errors: an [EmbeddedError] for an image vector that is zero, not finite or of another length than those of the
// texts; a text without a vector.
func ClipAttributes(images, texts [][]float32, o ClipVariant) ([][]Scored, error) {
	if o.Scale == 0 {
		o.Scale = 100
	}
	methods := []string{ByTop, ByProbability, ByCosine}
	if !slices.Contains(methods, o.Method) || !(o.Scale > 0) || math.IsInf(o.Scale, 0) ||
		math.IsNaN(o.Threshold) || o.Method == ByTop && o.Top < 1 {
		return nil, fmt.Errorf("stereotypes: method %q, threshold %g, top %d, logit scale %g; use one of %v, "+
			"a top of 1 or more and a scale above 0", o.Method, o.Threshold, o.Top, o.Scale, methods)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("stereotypes: no text of an attribute")
	}
	units := make([][]float64, len(texts))
	for k, v := range texts {
		var reason string
		if units[k], reason = tabular.Unit(v); reason != "" || len(v) != len(texts[0]) {
			return nil, fmt.Errorf("stereotypes: the vector of text %d is zero, not finite, or has %d numbers, not %d",
				k+1, len(v), len(texts[0]))
		}
	}
	out := make([][]Scored, len(images))
	for i, v := range images {
		if v == nil {
			continue
		}
		if len(v) != len(texts[0]) {
			return nil, &EmbeddedError{i, "vector",
				fmt.Sprintf("the vector has %d numbers, those of the texts have %d; use one model for images and texts",
					len(v), len(texts[0]))}
		}
		if _, reason := tabular.Unit(v); reason != "" {
			return nil, &EmbeddedError{i, "vector", reason}
		}
	}
	each(len(images), func(i int) {
		if images[i] != nil {
			out[i] = o.score(images[i], units)
		}
	})
	return out, nil
}

func (o ClipVariant) score(image []float32, units [][]float64) []Scored {
	unit, _ := tabular.Unit(image)
	row := make([]Scored, len(units))
	for k, c := range cosines([][]float64{unit}, units)[0] {
		row[k] = Scored{Attribute: k, Cosine: c}
	}
	slices.SortStableFunc(row, func(a, b Scored) int { return cmp.Compare(b.Cosine, a.Cosine) })
	sum := 0.0
	for r := range row {
		row[r].Rank, row[r].Probability = r+1, math.Exp(o.Scale*(row[r].Cosine-row[0].Cosine))
		sum += row[r].Probability
	}
	for r := range row {
		s := &row[r]
		s.Probability /= sum
		switch o.Method {
		case ByProbability:
			s.Found = s.Probability >= o.Threshold
		case ByCosine:
			s.Found = s.Cosine >= o.Threshold
		default:
			s.Found = s.Rank <= o.Top
		}
	}
	return row
}

// Found are the attributes found in one image by another method than captions.
type Found struct {
	Identity, Image string
	Attributes      []string // of the vocabulary, without duplicates; empty = nothing was found
}

// SalienceOfFound is [Salience] of attributes that another method than captions found: each image counts as one
// caption that names what was found. Matching is not used. An attribute outside the vocabulary and a duplicate image
// are errors.
func SalienceOfFound(found []Found, v Vocabulary, o SalienceOptions) ([]CaptionScores, error) {
	names := slices.Compact(slices.Sorted(slices.Values(v.Attributes)))
	at := map[string]int{}
	for i, n := range names {
		at[n] = i
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Image, b.Image))
	})
	documents := make([]document, len(found))
	for i, p := range found {
		if i > 0 && p.Identity == found[i-1].Identity && p.Image == found[i-1].Image {
			return nil, fmt.Errorf("stereotypes: image %q of %s occurs twice", p.Image, p.Identity)
		}
		times := map[int]int{}
		for _, name := range p.Attributes {
			a, known := at[name]
			if !known || times[a] > 0 {
				return nil, fmt.Errorf("stereotypes: image %q of %s shows %q, which is not in the vocabulary or "+
					"occurs twice", p.Image, p.Identity, name)
			}
			times[a] = 1
		}
		documents[i] = document{p.Identity, p.Image, len(p.Attributes), times}
	}
	return salienceOf(documents, names, v, o)
}
