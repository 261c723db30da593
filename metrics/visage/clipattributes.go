package visage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// ClipRule says when a picture shows an attribute, from the similarities of its vector with those of the attributes' texts.
type ClipRule string

// The rules; the paper takes attributes from captions alone, so none is its.
const (
	ByProbability ClipRule = "probability" // softmax of scale·cosine over the vocabulary at least Threshold
	ByCosine      ClipRule = "cosine"      // cosine at least Threshold
	ByTop         ClipRule = "top"         // among the Top most similar; ties go by the order of the texts
)

// ClipRules lists them.
var ClipRules = []string{string(ByProbability), string(ByCosine), string(ByTop)}

// ClipOptions settle how attributes are found by CLIP.
type ClipOptions struct {
	Rule      ClipRule
	Threshold float64
	Top       int
	Scale     float64 // CLIP's logit scale; 0 = 100
}

// Scored is an attribute's score for a picture.
type Scored struct {
	Attribute   int     // position among the texts
	Cosine      float64 // [-1, 1]
	Probability float64 // [0, 1]; over all texts they sum to 1
	Rank        int     // from 1, most similar first
	Found       bool
}

// ClipAttributes scores pictures against a vocabulary, zero-shot: for each picture all attributes, most similar first; nil for a nil vector (no picture). Cosines are computed
// in float64.
//
// Errors: an [EmbeddedError] for a picture's vector that is zero, not finite or of another length than the texts'; a text without one.
func ClipAttributes(pictures, texts [][]float32, o ClipOptions) ([][]Scored, error) {
	if o.Scale == 0 {
		o.Scale = 100
	}
	if !slices.Contains(ClipRules, string(o.Rule)) || !(o.Scale > 0) || math.IsInf(o.Scale, 0) || math.IsNaN(o.Threshold) || o.Rule == ByTop && o.Top < 1 {
		return nil, fmt.Errorf("visage: rule %q, threshold %g, top %d and logit scale %g; rules are %v, top is from 1 up, the scale above 0", o.Rule, o.Threshold, o.Top, o.Scale, ClipRules)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("visage: there is no text of an attribute to compare with")
	}
	units := make([][]float64, len(texts))
	for k, v := range texts {
		var reason string
		if units[k], reason = direction(v); reason != "" || len(v) != len(texts[0]) {
			return nil, fmt.Errorf("visage: text %d has no usable vector of %d numbers: it has %d", k+1, len(texts[0]), len(v))
		}
	}
	out := make([][]Scored, len(pictures))
	for i, v := range pictures {
		if v == nil {
			continue
		}
		if len(v) != len(texts[0]) {
			return nil, &EmbeddedError{i, "vector", fmt.Sprintf("its vector has %d numbers, the texts' have %d; pictures and texts must come from one model", len(v), len(texts[0]))}
		}
		if _, reason := direction(v); reason != "" {
			return nil, &EmbeddedError{i, "vector", reason}
		}
	}
	each(len(pictures), func(i int) {
		if pictures[i] != nil {
			out[i] = o.score(pictures[i], units)
		}
	})
	return out, nil
}

func (o ClipOptions) score(picture []float32, units [][]float64) []Scored {
	unit, _ := direction(picture)
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
		switch o.Rule {
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

// Found are the attributes found in one picture, however: what stands in place of its captions.
type Found struct {
	Identity, Picture string
	Attributes        []string // of the vocabulary, each once; none = nothing was found
}

// SalienceOfFound is [Salience] of attributes found in pictures by another way than captions: each picture counts as one caption that names what was found.
// Matching is not used. An attribute outside the vocabulary, or a picture named twice, is an error.
func SalienceOfFound(found []Found, v Vocabulary, o SalienceOptions) ([]CaptionScores, error) {
	names := slices.Compact(slices.Sorted(slices.Values(v.Attributes)))
	at := map[string]int{}
	for i, n := range names {
		at[n] = i
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Picture, b.Picture))
	})
	var all []*searched
	local := map[int]int{}
	for i, p := range found {
		if i == 0 || p.Identity != found[i-1].Identity {
			all = append(all, &searched{identity: p.Identity})
			clear(local)
		} else if p.Picture == found[i-1].Picture {
			return nil, fmt.Errorf("visage: picture %q of %s is given twice", p.Picture, p.Identity)
		}
		s := all[len(all)-1]
		c := captioned{captions: 1, words: len(p.Attributes)}
		for _, a := range slices.Sorted(slices.Values(p.Attributes)) {
			global, known := at[a]
			if !known {
				return nil, fmt.Errorf("visage: picture %q of %s shows %q, which is not in the vocabulary", p.Picture, p.Identity, a)
			}
			if _, seen := local[global]; !seen {
				local[global] = len(s.attributes)
				s.attributes = append(s.attributes, global)
			}
			if slices.ContainsFunc(c.hits, func(h hit) bool { return h.attribute == local[global] }) {
				return nil, fmt.Errorf("visage: picture %q of %s shows %q twice", p.Picture, p.Identity, a)
			}
			c.hits = append(c.hits, hit{local[global], 1, 1})
			c.any = 1
			if v.Stereotypes[[2]string{p.Identity, a}] {
				c.stereo = 1
			}
		}
		s.pictures = append(s.pictures, c)
	}
	return salienceOf(all, names, v, o)
}
