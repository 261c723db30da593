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
