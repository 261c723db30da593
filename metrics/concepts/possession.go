package concepts

import (
	"fmt"
	"math"
)

// Rule defines when a concept is not possessed (section 5.6).
type Rule struct {
	When   string  // "both" scores are low (the paper's "and"), or "either"
	Xc, Wc float64 // a score below its threshold is low; 0.5 and 25 in the paper
}

// PaperRule is the rule of the paper: not possessed if Xc < 0.5 and Wc < 25.
var PaperRule = Rule{When: "both", Xc: 0.5, Wc: 25}

// Results of [Rule.Possessed].
const (
	Yes     = "yes"
	No      = "no"
	Unknown = "" // a score that decides is missing
)

// Possessed applies the rule. A missing score (NaN) gives [Unknown] unless the other one decides.
func (r Rule) Possessed(xc, wc float64) (string, error) {
	low, high := 0, 0
	for _, s := range [][2]float64{{xc, r.Xc}, {wc, r.Wc}} {
		switch {
		case math.IsNaN(s[0]):
		case s[0] < s[1]:
			low++
		default:
			high++
		}
	}
	switch {
	case r.When != "both" && r.When != "either":
		return "", fmt.Errorf("possession rule is %q; it must be one of both, either", r.When)
	case r.When == "both" && low == 2, r.When == "either" && low > 0:
		return No, nil
	case r.When == "both" && high > 0, r.When == "either" && high == 2:
		return Yes, nil
	}
	return Unknown, nil
}

// Kinds of failure (section 5.2).
const (
	NonSpecific       = "non-specific"       // images of unrelated kinds: Xc and Sc are low
	SpecificCollision = "specific collision" // a consistent but wrong concept: Xc is low, Sc is high, Dt is not high
	GenericCollision  = "generic collision"  // the same scene for every concept: Xc is low, Dt is high
)

// Kinds are the kinds of failure, and "" for unlabeled.
var Kinds = []string{NonSpecific, SpecificCollision, GenericCollision, ""}

// KindOf returns the kind of failure of a concept that is not possessed, from its Sc and Dt; "" if one is NaN. The
// paper labels images by eye: this rule and its thresholds are additions of this package.
func KindOf(sc, dt, highSc, highDt float64) string {
	switch {
	case math.IsNaN(sc) || math.IsNaN(dt):
		return ""
	case dt >= highDt:
		return GenericCollision
	case sc >= highSc:
		return SpecificCollision
	}
	return NonSpecific
}
