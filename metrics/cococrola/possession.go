package cococrola

import (
	"fmt"
	"math"
)

// Rule says when a concept is not possessed (section 5.6).
type Rule struct {
	When   string  // "both": both scores must be low (the paper's "and" as this package reads it); "either": one is enough
	Xc, Wc float64 // below it a score is low; 0.5 and 25 (×100) in the paper
}

// PaperRule is the paper's: not possessed where Xc < 0.5 and Wc < 25.
var PaperRule = Rule{When: "both", Xc: 0.5, Wc: 25}

// Answers of [Rule.Possessed].
const (
	Yes     = "yes"
	No      = "no"
	Unknown = "" // a score that decides is blank
)

// Possessed applies the rule. A blank score (NaN) leaves the answer open unless the other decides alone.
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
		return "", fmt.Errorf("possession rule %q: it is both or either", r.When)
	case r.When == "both" && low == 2, r.When == "either" && low > 0:
		return No, nil
	case r.When == "both" && high > 0, r.When == "either" && high == 2:
		return Yes, nil
	}
	return Unknown, nil
}

// Kinds of failure (section 5.2).
const (
	NonSpecific       = "non-specific"       // pictures of many unrelated kinds: Xc and Sc low
	SpecificCollision = "specific collision" // a constant but wrong concept: Xc low, Sc high, Dt not high
	GenericCollision  = "generic collision"  // the same scene whatever the concept: Xc low, Dt high
)

// KindOf labels a concept that is not possessed from its Sc and Dt. The paper labels by eye and gives no rule: the signatures of the first two kinds and both
// thresholds are additions of this project. Blank (NaN) scores give "".
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
