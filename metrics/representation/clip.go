package representation

import (
	"cmp"

	"antipode/metrics/internal/tabular"
	"fmt"
	"math"
)

// Labels of the texts that an image is compared with.
const (
	TextA         = "group_a"   // T_man in the paper's Table 4
	TextB         = "group_b"   // T_woman
	TextUncertain = "uncertain" // T_uncertain
	TextPerson    = "person"    // of the filter
	TextObject    = "object"
)

// TextLabels lists them.
var TextLabels = []string{TextA, TextB, TextUncertain, TextPerson, TextObject}

// ClipVariant selects what the paper leaves open about labels by CLIP.
type ClipVariant struct {
	Scale float64 // CLIP's logit scale before the softmax; 0 = 100. It changes probabilities but no label
	Tie   string  // of person and object: "stay" (default), the paper's inequality, or "drop", as the released script
}

// Reasons why an image has no group.
const (
	NoVector      = "no vector"      // refused, or never embedded
	NoPerson      = "no person"      // nearer to the text of an object
	UncertainText = "uncertain text" // the third text is nearest
	Tied          = "tie"            // no text is nearest alone
)

// ClipLabel is the label of an image by CLIP.
type ClipLabel struct {
	Group           PerceivedGroup
	Why             string  // "" if it has a group
	Person          bool    // passes the filter
	A, B, Uncertain float64 // softmax of Scale·similarity over the three texts, [0, 1]; sum 1
	PersonRather    float64 // softmax over person and object, of person
}

// ComputeClipLabels labels images by CLIP as the paper does (Table 4), from vectors that need not be normalized; a nil
// vector is no image. texts are by label.
//
//  1. An image is dropped if sim(image, person) < sim(image, object); sim is the cosine, in float64.
//  2. Its label is that of the nearest of the texts group_a, group_b, uncertain; a tie, and uncertain, count in
//     neither group.
//
// Errors: a text missing, a vector that is zero, not finite, or of another length.
func ComputeClipLabels(images [][]float32, texts map[string][]float32, o ClipVariant) ([]ClipLabel, error) {
	o.Scale = cmp.Or(o.Scale, 100)
	if !(o.Scale > 0) || math.IsInf(o.Scale, 0) {
		return nil, fmt.Errorf("representation: the logit scale %g is not above 0", o.Scale)
	}
	if o.Tie != "" && o.Tie != "stay" && o.Tie != "drop" {
		return nil, fmt.Errorf("representation: ties of person and object %q; use stay or drop", o.Tie)
	}
	var unit [5][]float64
	width := 0
	for k, label := range TextLabels {
		v, given := texts[label]
		if !given || v == nil {
			return nil, fmt.Errorf("representation: no vector of the text %q; give all of %v", label, TextLabels)
		}
		if width == 0 {
			width = len(v)
		}
		var reason string
		if unit[k], reason = direction(v, width); reason != "" {
			return nil, fmt.Errorf("representation: text %q: %s", label, reason)
		}
	}
	out := make([]ClipLabel, len(images))
	for i, v := range images {
		if v == nil {
			nan := math.NaN()
			out[i] = ClipLabel{Why: NoVector, A: nan, B: nan, Uncertain: nan, PersonRather: nan}
			continue
		}
		p, reason := direction(v, width)
		if reason != "" {
			return nil, &ImageError{i, reason}
		}
		var sim [5]float64
		for k := range sim {
			for d, x := range p {
				sim[k] += x * unit[k][d]
			}
		}
		out[i] = clipLabel(sim, o)
	}
	return out, nil
}

// ImageError reports an image whose vector cannot be used.
type ImageError struct {
	Row    int // from 0
	Reason string
}

func (e *ImageError) Error() string {
	return fmt.Sprintf("representation: image %d: %s", e.Row+1, e.Reason)
}

// direction returns a vector of that width scaled to length 1, or the reason why that is not possible.
func direction(v []float32, width int) (unit []float64, reason string) {
	if len(v) != width {
		return nil, fmt.Sprintf("its vector has %d numbers, the first text's %d; use one model for images and texts",
			len(v), width)
	}
	return tabular.Unit(v)
}

// clipLabel returns the label from the similarities with the five texts.
func clipLabel(sim [5]float64, o ClipVariant) ClipLabel {
	l := ClipLabel{Person: sim[3] > sim[4] || sim[3] == sim[4] && o.Tie != "drop"}
	p := softmax(o.Scale, sim[0], sim[1], sim[2])
	l.A, l.B, l.Uncertain, l.PersonRather = p[0], p[1], p[2], softmax(o.Scale, sim[3], sim[4])[0]
	best, ties := 0, 1
	for k := 1; k < 3; k++ {
		switch {
		case sim[k] > sim[best]:
			best, ties = k, 1
		case sim[k] == sim[best]:
			ties++
		}
	}
	switch {
	case !l.Person:
		l.Why = NoPerson
	case ties > 1:
		l.Why = Tied
	case best == 2:
		l.Why = UncertainText
	default:
		l.Group = []PerceivedGroup{First, Second}[best]
	}
	return l
}

// softmax of scale·x.
func softmax(scale float64, x ...float64) []float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	sum := 0.0
	for i, v := range x {
		x[i] = math.Exp(scale * (v - top))
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
	return x
}
