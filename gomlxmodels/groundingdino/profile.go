package groundingdino

import (
	"fmt"
	"strings"
)

// Profile is the implementation whose options are used.
type Profile string

// The profiles.
const (
	Transformers Profile = "transformers" // the default
	LangSAM2024  Profile = "langsam-2024" // LangSAM in spring 2024, with the authors' implementation
)

// settings are what profiles differ in, the preprocessing's own numbers excepted.
type settings struct {
	boxThreshold, textThreshold float64
	inverse                     Sigmoids
	caption                     func(string) string // nil = as it is
	pillow, originalSize        bool
	dropPeriods                 bool // in labels
}

// settings returns the options of a profile; "" is [Transformers].
func (p Profile) settings() (settings, error) {
	switch p {
	case "", Transformers:
		return settings{boxThreshold: 0.25, textThreshold: 0.25, inverse: Sigmoids{Epsilon: 1e-5}}, nil
	case LangSAM2024:
		return settings{boxThreshold: 0.30, textThreshold: 0.25, inverse: Sigmoids{Epsilon: 1e-3, Apart: true},
			caption: ended, pillow: true, originalSize: true, dropPeriods: true}, nil
	}
	return settings{}, fmt.Errorf("profile %q is not known (%s, %s)", p, Transformers, LangSAM2024)
}

// Thresholds returns the profile's thresholds of boxes and of labels; see [DetectOptions].
func (p Profile) Thresholds() (box, text float64) {
	s, _ := p.settings() // an unknown profile is an error of the detector
	return s.boxThreshold, s.textThreshold
}

// ended is LangSAM's form of a caption: lower case, without white space around it, with a period at the end.
func ended(text string) string {
	text = strings.TrimSpace(strings.ToLower(text))
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// Labels makes a caption of a list of labels, as transformers does: "A cat", "a dog" → "a cat. a dog.".
func Labels(labels ...string) string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = strings.ToLower(strings.TrimSpace(l))
	}
	return strings.Join(list, ". ") + "."
}
