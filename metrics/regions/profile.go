package regions

import "fmt"

// Component is a component of an image, named as in the paper.
type Component string

// The components: the patches of an image that its vector is computed from.
const (
	FullImage      Component = "Full-image"
	ObjectOnly     Component = "Obj-only"
	BackgroundOnly Component = "BG-only"
)

// Rule is the handling of an image without a usable component (no mask, or too few patches).
type Rule string

// The rules.
const (
	Use        Rule = "use"         // use the component's vector
	Drop       Rule = "drop"        // exclude the image, also from the count
	Miss       Rule = "miss"        // count a generated image as outside all balls
	UseFull    Rule = "full-image"  // use the vector of the whole image
	ZeroVector Rule = "zero-vector" // use a vector of zeros
)

// Side is one of the two sets.
type Side string

// The two sides.
const (
	Real      Side = "real"
	Generated Side = "generated"
)

// Profile is the parameters of a run of Decomposed-DIG that change numbers (section 4.7 of the specification).
type Profile struct {
	Name       string
	Classes    []string // the objects, in the paper's order; nil = not published
	ClassCount int
	Regions    []string
	N          int    // images of every object and region
	K          int    // nearest neighbor whose distance is the radius
	Closed     bool   // the boundary belongs to the ball
	Seed       uint64 // of the balanced sample

	Failures          FailureLimit
	DiscardDuplicates bool // exclude all real images with equal vectors

	// Rules for images without a mask, and for masked ones with too few patches (table 4.6). In Full-image
	// all are used.
	RealUnmasked         Rule // real, Obj-only and BG-only
	RealSmall            Rule // real, too few patches
	ObjectUnmasked       Rule // generated, Obj-only
	BackgroundUnmasked   Rule // generated, BG-only
	GeneratedSmall       Rule // generated, too few patches
	MinBackgroundPatches int
}

// Paper returns the parameters in the paper; for those it does not state (seed), the value of the public code.
func Paper() Profile {
	return Profile{
		Name: "paper",
		Classes: []string{"tree", "hat", "cooking pot", "jug", "toothbrush", "bag", "waste container", "bicycle",
			"chair", "stove", "dog", "car",
			"plate of food", "spices", "medicine", "hairbrush comb", "toy", "light switch", "front door", "storefront",
			"lighter", "dustbin",
			"toothpaste toothpowder", "candle"},
		ClassCount: 24,
		Regions:    []string{"Africa", "Americas", "EastAsia", "Europe", "SouthEastAsia", "WestAsia"},
		N:          170, K: 3, Seed: 42,
		Failures:     PaperLimit,
		RealUnmasked: Drop, RealSmall: Drop, ObjectUnmasked: Miss, BackgroundUnmasked: UseFull, GeneratedSmall: Miss,
		MinBackgroundPatches: 1,
	}
}

// PublicCode returns the parameters of the released code. Its 21 classes are not published in readable form.
func PublicCode() Profile {
	p := Paper()
	p.Name, p.Classes, p.ClassCount, p.N = "public-code", nil, 21, 172
	p.BackgroundUnmasked = Miss
	p.MinBackgroundPatches = 25 // more than 25 tokens, including the CLS token
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
	return Profile{}, fmt.Errorf("regions: unknown profile %q; profiles: paper, public-code", name)
}

// Rules returns the rules of the profile for a component and side.
func (p Profile) Rules(component Component, side Side) Rules {
	r := Rules{Side: side}
	switch {
	case component == FullImage:
		r.Unmasked = Use
	case side == Real:
		r.Unmasked, r.Small = p.RealUnmasked, p.RealSmall
	case component == ObjectOnly:
		r.Unmasked, r.Small = p.ObjectUnmasked, p.GeneratedSmall
	default:
		r.Unmasked, r.Small = p.BackgroundUnmasked, p.GeneratedSmall
	}
	switch component {
	case ObjectOnly:
		r.MinPatches = 1
	case BackgroundOnly:
		r.MinPatches = max(p.MinBackgroundPatches, 1)
	}
	return r
}

// Rules are the rules for the images of one side and component.
type Rules struct {
	Side       Side
	Unmasked   Rule
	Small      Rule // masked, but with fewer than MinPatches patches in the component
	MinPatches int  // 0 = do not check
}

// Image is the input of the rules.
type Image struct {
	Vector   []float32 // of the component; nil if it is empty
	Full     []float32 // of the whole image
	Unmasked bool
	Patches  int // patches of the component
}

// Prepared is a set to which the rules were applied.
type Prepared struct {
	Rows    []int       // indices of the images that are not dropped, ascending
	Vectors [][]float32 // nil = a miss, which counts and is in no ball

	Asked, Unmasked, Small  int // all images, without a mask, masked with too few patches
	Dropped, Missed, Filled int // of the last two: excluded, counted as misses, compared by the full or the zero vector
}

// Prepare applies the rules. The vector of an empty component (only the CLS token remains) is an error.
func (r Rules) Prepare(images []Image) (Prepared, error) {
	p := Prepared{Asked: len(images)}
	for i, image := range images {
		rule := Use
		switch {
		case image.Unmasked:
			p.Unmasked++
			rule = r.Unmasked
		case image.Patches < r.MinPatches:
			p.Small++
			rule = r.Small
		}
		v := image.Vector
		switch rule {
		case Use:
		case Drop:
			p.Dropped++
			continue
		case UseFull:
			p.Filled++
			v = image.Full
		case ZeroVector:
			p.Filled++
			v = make([]float32, len(image.Full))
		case Miss:
			if r.Side == Real {
				return Prepared{}, fmt.Errorf("regions: rule %q is for generated images; use drop or full-image "+
					"for real ones", Miss)
			}
			p.Missed++
			p.Rows, p.Vectors = append(p.Rows, i), append(p.Vectors, nil)
			continue
		default:
			return Prepared{}, fmt.Errorf("regions: unknown rule %q; rules: use, drop, miss, full-image, zero-vector",
				rule)
		}
		if len(v) == 0 {
			return Prepared{}, fmt.Errorf("regions: %s image %d has no vector for rule %q; embed it, or choose "+
				"drop or miss", r.Side, i+1, rule)
		}
		p.Rows, p.Vectors = append(p.Rows, i), append(p.Vectors, v)
	}
	return p, nil
}

// Count adds the counts of another set.
func (p *Prepared) Count(o Prepared) {
	p.Asked, p.Unmasked, p.Small = p.Asked+o.Asked, p.Unmasked+o.Unmasked, p.Small+o.Small
	p.Dropped, p.Missed, p.Filled = p.Dropped+o.Dropped, p.Missed+o.Missed, p.Filled+o.Filled
}

// handling describes the rules.
var handling = map[Rule]string{Drop: "are left out", Miss: "count as misses",
	UseFull:    "are compared by their vector full",
	ZeroVector: "are compared by a zero vector"}

// Warnings returns, one line each, how many images have no usable component and how they were handled. vector is the
// column of the component's vectors.
func (p Prepared) Warnings(r Rules, component Component, vector string) []string {
	var w []string
	if text := handling[r.Unmasked]; p.Unmasked > 0 && text != "" {
		lack := "mask"
		if component == FullImage {
			lack = "vector"
		}
		w = append(w, fmt.Sprintf("%s: %d of %d %s images have no %s and %s", vector, p.Unmasked, p.Asked, r.Side, lack,
			text))
	}
	if text := handling[r.Small]; p.Small > 0 && text != "" {
		w = append(w, fmt.Sprintf("%s: %d of %d %s images have an empty or too small component and %s", vector, p.Small,
			p.Asked, r.Side, text))
	}
	return w
}
