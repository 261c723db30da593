package disparity

import "fmt"

// component is a component of an image, named as in the paper.
type component string

// The components: the patches of an image that its vector is computed from.
const (
	fullImage      component = "Full-image"
	objectOnly     component = "Obj-only"
	backgroundOnly component = "BG-only"
)

// Rule is the handling of an image without a usable component (no mask, or too few patches).
type Rule string

// The rules.
const (
	use        Rule = "use"         // use the component's vector
	drop       Rule = "drop"        // exclude the image, also from the count
	miss       Rule = "miss"        // count a generated image as outside all balls
	useFull    Rule = "full-image"  // use the vector of the whole image
	zeroVector Rule = "zero-vector" // use a vector of zeros
)

// setSide is one of the two sets.
type setSide string

// The two sides.
const (
	realSide      setSide = "real"
	generatedSide setSide = "generated"
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
		RealUnmasked: drop, RealSmall: drop, ObjectUnmasked: miss, BackgroundUnmasked: useFull, GeneratedSmall: miss,
		MinBackgroundPatches: 1,
	}
}

// PublicCode returns the parameters of the released code. Its 21 classes are not published in readable form.
func PublicCode() Profile {
	p := Paper()
	p.Name, p.Classes, p.ClassCount, p.N = "public-code", nil, 21, 172
	p.BackgroundUnmasked = miss
	p.MinBackgroundPatches = 25 // more than 25 tokens, including the CLS token
	p.DiscardDuplicates = true
	return p
}

// findProfile returns the profile of that name.
func findProfile(name string) (Profile, error) {
	for _, p := range []Profile{Paper(), PublicCode()} {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("disparity: unknown profile %q; profiles: paper, public-code", name)
}

// maskRules returns the rules of the profile for a component and side.
func (p Profile) Rules(component component, side setSide) maskRules {
	r := maskRules{Side: side}
	switch {
	case component == fullImage:
		r.Unmasked = use
	case side == realSide:
		r.Unmasked, r.Small = p.RealUnmasked, p.RealSmall
	case component == objectOnly:
		r.Unmasked, r.Small = p.ObjectUnmasked, p.GeneratedSmall
	default:
		r.Unmasked, r.Small = p.BackgroundUnmasked, p.GeneratedSmall
	}
	switch component {
	case objectOnly:
		r.MinPatches = 1
	case backgroundOnly:
		r.MinPatches = max(p.MinBackgroundPatches, 1)
	}
	return r
}

// maskRules are the rules for the images of one side and component.
type maskRules struct {
	Side       setSide
	Unmasked   Rule
	Small      Rule // masked, but with fewer than MinPatches patches in the component
	MinPatches int  // 0 = do not check
}

// ruledImage is the input of the rules.
type ruledImage struct {
	Vector   []float32 // of the component; nil if it is empty
	Full     []float32 // of the whole image
	Unmasked bool
	Patches  int // patches of the component
}

// preparedSet is a set to which the rules were applied.
type preparedSet struct {
	Rows    []int       // indices of the images that are not dropped, ascending
	Vectors [][]float32 // nil = a miss, which counts and is in no ball

	Asked, Unmasked, Small  int // all images, without a mask, masked with too few patches
	Dropped, Missed, Filled int // of the last two: excluded, counted as misses, compared by the full or the zero vector
}

// Prepare applies the rules. The vector of an empty component (only the CLS token remains) is an error.
func (r maskRules) Prepare(images []ruledImage) (preparedSet, error) {
	p := preparedSet{Asked: len(images)}
	for i, image := range images {
		rule := use
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
		case use:
		case drop:
			p.Dropped++
			continue
		case useFull:
			p.Filled++
			v = image.Full
		case zeroVector:
			p.Filled++
			v = make([]float32, len(image.Full))
		case miss:
			if r.Side == realSide {
				return preparedSet{}, fmt.Errorf("disparity: rule %q is for generated images; use drop or full-image "+
					"for real ones", miss)
			}
			p.Missed++
			p.Rows, p.Vectors = append(p.Rows, i), append(p.Vectors, nil)
			continue
		default:
			return preparedSet{},
				fmt.Errorf("disparity: unknown rule %q; rules: use, drop, miss, full-image, zero-vector",
					rule)
		}
		if len(v) == 0 {
			return preparedSet{}, fmt.Errorf("disparity: %s image %d has no vector for rule %q; embed it, or choose "+
				"drop or miss", r.Side, i+1, rule)
		}
		p.Rows, p.Vectors = append(p.Rows, i), append(p.Vectors, v)
	}
	return p, nil
}

// Count adds the counts of another set.
func (p *preparedSet) Count(o preparedSet) {
	p.Asked, p.Unmasked, p.Small = p.Asked+o.Asked, p.Unmasked+o.Unmasked, p.Small+o.Small
	p.Dropped, p.Missed, p.Filled = p.Dropped+o.Dropped, p.Missed+o.Missed, p.Filled+o.Filled
}

// handling describes the rules.
var handling = map[Rule]string{drop: "are left out", miss: "count as misses",
	useFull:    "are compared by their vector full",
	zeroVector: "are compared by a zero vector"}

// Warnings returns, one line each, how many images have no usable component and how they were handled. vector is the
// column of the component's vectors.
func (p preparedSet) Warnings(r maskRules, component component, vector string) []string {
	var w []string
	if text := handling[r.Unmasked]; p.Unmasked > 0 && text != "" {
		lack := "mask"
		if component == fullImage {
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
