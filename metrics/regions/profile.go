package regions

import "fmt"

// Setup is a set-up of the paper, as it is named in all output.
type Setup string

// The three set-ups: which patches of a picture its vector may come from.
const (
	FullImage      Setup = "Full-image"
	ObjectOnly     Setup = "Obj-only"
	BackgroundOnly Setup = "BG-only"
)

// Rule says what becomes of a picture without a usable component (no mask, or too few patches).
type Rule string

// The rules.
const (
	Use        Rule = "use"         // take the set-up's vector all the same
	Drop       Rule = "drop"        // leave the picture out, also of the count
	Miss       Rule = "miss"        // count a generated picture, in no ball: the score pays for it
	UseFull    Rule = "full-image"  // take the vector of the whole picture
	ZeroVector Rule = "zero-vector" // take a vector of zeros
)

// Side is one of the two sets.
type Side string

// The two sides.
const (
	Real      Side = "real"
	Generated Side = "generated"
)

// Profile is a named run of Decomposed-DIG: the settings of section 4.7 of the specification that change numbers.
type Profile struct {
	Name       string
	Classes    []string // the objects, in the paper's order; nil where the list is not known
	ClassCount int
	Regions    []string
	N          int    // pictures of every object and region
	K          int    // nearest neighbour of the radius
	Closed     bool   // the boundary belongs to the ball
	Seed       uint64 // of the balancing draw

	Failures          FailureLimit
	DiscardDuplicates bool // real pictures with equal vectors all go

	// What becomes of pictures without a mask, and of masked ones with too few patches (table 4.6). In Full-image they are all used.
	RealUnmasked         Rule // real, Obj-only and BG-only
	RealSmall            Rule // real, too few patches
	ObjectUnmasked       Rule // generated, Obj-only
	BackgroundUnmasked   Rule // generated, BG-only
	GeneratedSmall       Rule // generated, too few patches
	MinBackgroundPatches int
}

// Paper is the run that the paper describes; where it is silent (seed), the public code's value.
func Paper() Profile {
	return Profile{
		Name: "paper",
		Classes: []string{"tree", "hat", "cooking pot", "jug", "toothbrush", "bag", "waste container", "bicycle", "chair", "stove", "dog", "car",
			"plate of food", "spices", "medicine", "hairbrush comb", "toy", "light switch", "front door", "storefront", "lighter", "dustbin",
			"toothpaste toothpowder", "candle"},
		ClassCount: 24,
		Regions:    []string{"Africa", "Americas", "EastAsia", "Europe", "SouthEastAsia", "WestAsia"},
		N:          170, K: 3, Seed: 42,
		Failures:     PaperLimit,
		RealUnmasked: Drop, RealSmall: Drop, ObjectUnmasked: Miss, BackgroundUnmasked: UseFull, GeneratedSmall: Miss,
		MinBackgroundPatches: 1,
	}
}

// PublicCode is what the released code does. Its 21 classes are not published in readable form.
func PublicCode() Profile {
	p := Paper()
	p.Name, p.Classes, p.ClassCount, p.N = "public-code", nil, 21, 172
	p.BackgroundUnmasked = Miss
	p.MinBackgroundPatches = 25 // more than 25 tokens are kept, the CLS token among them
	p.DiscardDuplicates = true
	return p
}

// FindProfile returns the profile of that name.
func FindProfile(name string) (Profile, error) {
	for _, p := range []Profile{Paper(), PublicCode()} {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("regions: profile %q is not known: paper or public-code", name)
}

// Rules are the rules of the profile for one set-up and side.
func (p Profile) Rules(setup Setup, side Side) Rules {
	r := Rules{Side: side}
	switch {
	case setup == FullImage:
		r.Unmasked = Use
	case side == Real:
		r.Unmasked, r.Small = p.RealUnmasked, p.RealSmall
	case setup == ObjectOnly:
		r.Unmasked, r.Small = p.ObjectUnmasked, p.GeneratedSmall
	default:
		r.Unmasked, r.Small = p.BackgroundUnmasked, p.GeneratedSmall
	}
	switch setup {
	case ObjectOnly:
		r.MinPatches = 1
	case BackgroundOnly:
		r.MinPatches = max(p.MinBackgroundPatches, 1)
	}
	return r
}

// Rules say what becomes of the pictures of one side in one set-up.
type Rules struct {
	Side       Side
	Unmasked   Rule
	Small      Rule // masked, but fewer than MinPatches patches in the set-up's component
	MinPatches int  // 0 = do not look
}

// Picture is a picture as the rules see it.
type Picture struct {
	Vector   []float32 // of the set-up; nil where its component is empty
	Full     []float32 // of the whole picture
	Unmasked bool
	Patches  int // patches of the set-up's component
}

// Prepared is a set that is ready to be compared.
type Prepared struct {
	Rows    []int       // the pictures' positions, ascending; dropped ones are not there
	Vectors [][]float32 // a nil row is a miss: it counts and lies in no ball

	Asked, Unmasked, Small  int // pictures in all, without a mask, masked with too few patches
	Dropped, Missed, Filled int // of the last two: left out, counted as misses, given the full or the zero vector
}

// Prepare applies the rules. A vector of an empty component (only the CLS token was left) never passes.
func (r Rules) Prepare(pictures []Picture) (Prepared, error) {
	p := Prepared{Asked: len(pictures)}
	for i, pic := range pictures {
		rule := Use
		switch {
		case pic.Unmasked:
			p.Unmasked++
			rule = r.Unmasked
		case pic.Patches < r.MinPatches:
			p.Small++
			rule = r.Small
		}
		v := pic.Vector
		switch rule {
		case Use:
		case Drop:
			p.Dropped++
			continue
		case UseFull:
			p.Filled++
			v = pic.Full
		case ZeroVector:
			p.Filled++
			v = make([]float32, len(pic.Full))
		case Miss:
			if r.Side == Real {
				return Prepared{}, fmt.Errorf("regions: rule %q is for generated pictures; a real one is dropped or used whole", Miss)
			}
			p.Missed++
			p.Rows, p.Vectors = append(p.Rows, i), append(p.Vectors, nil)
			continue
		default:
			return Prepared{}, fmt.Errorf("regions: rule %q is not known: use, drop, miss, full-image or zero-vector", rule)
		}
		if len(v) == 0 {
			return Prepared{}, fmt.Errorf("regions: %s picture %d has no vector for rule %q; embed it, or choose drop or miss", r.Side, i+1, rule)
		}
		p.Rows, p.Vectors = append(p.Rows, i), append(p.Vectors, v)
	}
	return p, nil
}

// Count adds the counts of another set, which the same rules prepared.
func (p *Prepared) Count(o Prepared) {
	p.Asked, p.Unmasked, p.Small = p.Asked+o.Asked, p.Unmasked+o.Unmasked, p.Small+o.Small
	p.Dropped, p.Missed, p.Filled = p.Dropped+o.Dropped, p.Missed+o.Missed, p.Filled+o.Filled
}

// fates says what becomes of an image, by rule.
var fates = map[Rule]string{Drop: "are left out", Miss: "count as misses", UseFull: "are compared by their vector full", ZeroVector: "are compared by a zero vector"}

// Warnings says in one line each which images have no usable component, and what became of them. vector is the column of the
// set-up's vectors.
func (p Prepared) Warnings(r Rules, setup Setup, vector string) []string {
	var w []string
	if fate := fates[r.Unmasked]; p.Unmasked > 0 && fate != "" {
		lack := "mask"
		if setup == FullImage {
			lack = "vector"
		}
		w = append(w, fmt.Sprintf("%s: %d of %d %s images have no %s and %s", vector, p.Unmasked, p.Asked, r.Side, lack, fate))
	}
	if fate := fates[r.Small]; p.Small > 0 && fate != "" {
		w = append(w, fmt.Sprintf("%s: %d of %d %s images have an empty or too small component and %s", vector, p.Small, p.Asked, r.Side, fate))
	}
	return w
}
