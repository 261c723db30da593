package representation

import "fmt"

// PerceivedGroup is a rater's answer on one axis, or the label of an image.
type PerceivedGroup int

// The groups. Uncertain means "can't judge" and, as a label, an image without a group.
const (
	Uncertain PerceivedGroup = iota
	First                    // of the axis: man, light-skinned, Western, or the first group of an added axis
	Second                   // woman, dark-skinned, Non-Western, or the second group of an added axis
)

// Vote is one rater's answers about one image on one axis.
type Vote struct {
	Person    bool // shows a person; true if not part of the questions
	Described bool // shows what the prompt describes
	Group     PerceivedGroup
}

// Rules that turn the votes about an image into its label. Majority means more than half of the raters. Strict has
// two gates: the majority confirms that the image shows a person, and that it shows what the prompt describes. The
// other rules have no gates unless [Gated] adds them.
const (
	Strict        = "strict"         // gates, and all raters picked a group: the label is the majority's
	StrictUngated = "strict-ungated" // the same without gates
	PlainMajority = "plain-majority" // the group that the majority of all raters picked
	DropUnsure    = "drop-unsure"    // "can't judge" left out, then the larger group; a tie is uncertain
	Unanimous     = "unanimous"      // the group that all raters picked
)

// Rules lists the rules, gated forms included.
var Rules = []string{Strict, PlainMajority, DropUnsure, Unanimous, Gated(PlainMajority), Gated(DropUnsure),
	Gated(Unanimous), StrictUngated}

// Gated returns the rule with the two gates of [Strict].
func Gated(rule string) string { return rule + "-gated" }

// Described reports whether an image is of good quality as the paper defines it: the majority confirms that it shows a
// person and what the prompt describes.
func Described(votes []Vote) bool {
	person, described := 0, 0
	for _, v := range votes {
		if v.Person {
			person++
		}
		if v.Described {
			described++
		}
	}
	return 2*person > len(votes) && 2*described > len(votes)
}

// Label returns the image's group by the rule; [Uncertain] without votes.
func Label(votes []Vote, rule string) (PerceivedGroup, error) {
	var n [3]int
	for _, v := range votes {
		if v.Group < Uncertain || v.Group > Second {
			return Uncertain, fmt.Errorf("representation: no group %d", v.Group)
		}
		n[v.Group]++
	}
	larger := Uncertain
	switch {
	case n[First] > n[Second]:
		larger = First
	case n[Second] > n[First]:
		larger = Second
	}
	gates := Described(votes)
	pass := false
	switch rule {
	case Strict:
		pass = gates && n[Uncertain] == 0
	case StrictUngated:
		pass = n[Uncertain] == 0
	case PlainMajority, Gated(PlainMajority):
		pass = 2*n[larger] > len(votes)
	case DropUnsure, Gated(DropUnsure):
		pass = true
	case Unanimous, Gated(Unanimous):
		pass = n[larger] == len(votes)
	default:
		return Uncertain, fmt.Errorf("representation: no rule %q; known: %v", rule, Rules)
	}
	if rule == Gated(PlainMajority) || rule == Gated(DropUnsure) || rule == Gated(Unanimous) {
		pass = pass && gates
	}
	if !pass || len(votes) == 0 {
		return Uncertain, nil
	}
	return larger, nil
}
