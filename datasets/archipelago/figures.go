package archipelago

import (
	"image"
	"math"
	"slices"
)

// The two axes by which figures are grouped, and the groups of each. They are headwear and cloth, never a part of the
// body.
const (
	AxisCrest   = "crest"  // headwear: [Round] or [Pointed]
	AxisBanner  = "banner" // the banner next to the figure: [LightBanner] or [DarkBanner]
	Round       = "round"
	Pointed     = "pointed"
	LightBanner = "light"
	DarkBanner  = "dark"
)

// Figure is a figure: a peg with a robe, a paper head, headwear and a banner.
type Figure struct {
	People     string   // one of [PeopleNames]: the colors of robe and trim
	Crest      string   // [Round] or [Pointed]
	Banner     string   // [LightBanner] or [DarkBanner]
	Attributes []string // of [AttributeNames], in their order
	Occupation string   // one of [OccupationNames], "" = none: the tool in hand
	Ceremony   string   // one of [CeremonyNames], "" = none: the decoration above
}

// people is a people with the hues of its robe and trim in degrees.
type people struct {
	name       string
	robe, trim float64
}

var peoples = []people{
	{"Mirrowen", 8, 48}, {"Tulvane", 212, 30}, {"Brillomi", 150, 330}, {"Odrithan", 280, 60}, {"Pellunar", 36, 190},
	{"Vashomel", 330, 100},
}

// PeopleNames returns the peoples. They live on all islands and differ in the colors of their cloth.
func PeopleNames() []string { return names(peoples, func(p people) string { return p.name }) }

// attribute is a visible attribute of a figure.
type attribute struct {
	name   string
	phrase string // for captions, after "with"
	behind bool   // drawn before the body
	draw   func(*pen, *dress)
}

var attributes = []attribute{
	{"stripes", "stripes", false, drawStripes}, {"dots", "dots", false, drawDots},
	{"fringe", "a fringe", false, drawFringe},
	{"belt", "a belt", false, drawBelt}, {"star", "a star", false, drawStar}, {"beads", "beads", false, drawBeads},
	{"cape", "a cape", true, drawCape}, {"wings", "wings", true, drawWings},
	{"feather", "a feather", false, drawFeather},
	{"ribbon", "a ribbon", true, drawRibbon}, {"basket", "a basket", false, drawBasket},
	{"bell", "a bell", false, drawBell},
}

// AttributeNames returns the attributes of figures in the order of captions.
func AttributeNames() []string { return names(attributes, func(a attribute) string { return a.name }) }

type tool struct {
	name string
	draw func(*pen, *dress)
}

var occupations = []tool{{"weaver", drawLoom}, {"potter", drawPot}, {"beekeeper", drawHive}, {"lamplighter", drawLamp},
	{"ferrier", drawOar}, {"drummer", drawTabor}}

var ceremonies = []tool{{"lantern night", hangLanterns}, {"kite day", hangKites}, {"tide feast", hangWaves}}

// OccupationNames returns the occupations. A figure shows its occupation by a tool.
func OccupationNames() []string { return names(occupations, func(t tool) string { return t.name }) }

// CeremonyNames returns the ceremonies. A figure shows its ceremony by the decoration above it.
func CeremonyNames() []string { return names(ceremonies, func(t tool) string { return t.name }) }

func find[T any](list []T, name string, of func(T) string) *T {
	if i := slices.IndexFunc(list, func(x T) bool { return of(x) == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

func findTool(list []tool, name string) *tool {
	return find(list, name, func(t tool) string { return t.name })
}

func (f *Figure) known() bool {
	ok := slices.Contains(PeopleNames(), f.People) && slices.Contains([]string{Round, Pointed}, f.Crest) &&
		slices.Contains([]string{LightBanner, DarkBanner}, f.Banner)
	for _, a := range f.Attributes {
		ok = ok && slices.Contains(AttributeNames(), a)
	}
	return ok && (f.Occupation == "" || findTool(occupations, f.Occupation) != nil) &&
		(f.Ceremony == "" || findTool(ceremonies, f.Ceremony) != nil)
}

// standing returns the place of a figure.
func standing(seed uint64) place {
	r := stream(seed, streamPlace)
	between := func(a, b float64) float64 { return a + (b-a)*r.Float64() }
	at := place{size: between(0.66, 0.80)}
	at.x, at.y = between(0.42, 0.58), between(0.88, 0.96)-at.size/2
	return at
}

// figure draws a figure and the decoration above it on a transparent layer.
func (w *World) figure(f *Figure, seed uint64) *image.RGBA {
	im := image.NewRGBA(image.Rect(0, 0, w.opts.Size, w.opts.Size))
	p := newPen(im, stream(seed, streamFigure))
	d := newDress(p, f)
	if t := findTool(ceremonies, f.Ceremony); t != nil {
		t.draw(p, d)
	}
	at := standing(seed)
	defer p.place(at.x, at.y, at.size, 0, false)()
	for _, behind := range []bool{true, false} {
		for _, a := range attributes {
			if a.behind == behind && slices.Contains(f.Attributes, a.name) {
				a.draw(p, d)
			}
		}
		if behind {
			d.drawBanner(p)
			d.drawBody(p)
		}
	}
	if t := findTool(occupations, f.Occupation); t != nil {
		t.draw(p, d)
	}
	return im
}

// The robe extends from shoulder to hem; halfWidth returns half its width at y.
const (
	shoulder, hem = -0.06, 0.49
	headY, headR  = -0.17, 0.125
)

func halfWidth(y float64) float64 {
	t := clamp((y - shoulder) / (hem - shoulder))
	return 0.10 + 0.17*math.Pow(t, 0.8)
}

func (d *dress) drawBody(p *pen) {
	p.blob(d.robeDark, -0.10, shoulder, 0, shoulder-0.05, 0.10, shoulder, 0.30, hem+0.04, 0.10, hem+0.01, -0.10,
		hem+0.01, -0.30, hem+0.04)
	p.blob(d.robe, -0.10, shoulder, -0.02, shoulder-0.05, 0.07, shoulder, 0.21, hem+0.04, 0.05, hem, -0.10, hem, -0.29,
		hem+0.03)
	p.line(d.trim, 0.03, -0.25, hem-0.015, -0.1, hem+0.002, 0.1, hem+0.002, 0.25, hem-0.015)
	for _, side := range []float64{-1, 1} { // sleeves
		p.blob(d.robeDark, side*0.07, shoulder, side*0.14, shoulder-0.01, side*0.25, 0.14, side*0.20, 0.20, side*0.15,
			0.18, side*0.10, 0.10)
		p.oval(d.paper, side*0.205, 0.18, 0.034, 0.034)
	}
	p.oval(d.paper, 0, headY, headR, headR*1.05)
	p.oval(d.paperPale, -0.03, headY-0.02, headR*0.66, headR*0.72)
	for _, side := range []float64{-1, 1} {
		p.oval(d.ink, side*0.042, headY+0.012, 0.014, 0.02)
	}
	p.MoveTo(-0.03, headY+0.055)
	p.QuadraticTo(0, headY+0.082, 0.03, headY+0.055)
	p.stroke(d.ink, 0.012)
	d.drawCrest(p)
}

func (d *dress) drawCrest(p *pen) {
	top := headY - 0.055
	if d.figure.Crest == Round {
		p.oval(d.trim, 0, top-0.05, 0.150, 0.10)
		p.oval(d.trimPale, -0.04, top-0.08, 0.06, 0.035)
		p.oval(d.robe, 0, top-0.155, 0.035, 0.035)
	} else {
		p.poly(d.trim, -0.145, top+0.01, 0, top-0.27, 0.145, top+0.01)
		p.poly(d.trimDark, 0.02, top+0.01, 0, top-0.27, 0.145, top+0.01)
	}
	p.pill(d.robeDark, -0.165, top-0.012, 0.33, 0.045, 0.02)
}

func (d *dress) drawBanner(p *pen) {
	x := -0.37
	p.line(d.wood, 0.026, x, 0.49, x, -0.47)
	p.oval(d.trim, x, -0.475, 0.026, 0.026)
	p.poly(d.cloth, x, -0.44, x+0.22, -0.42, x+0.17, -0.30, x+0.22, -0.17, x, -0.14)
	p.line(d.clothEdge, 0.014, x+0.03, -0.40, x+0.15, -0.39)
	p.line(d.clothEdge, 0.014, x+0.03, -0.19, x+0.15, -0.20)
	p.star(d.clothEdge, 4, x+0.085, -0.295, 0.055, 0.022)
}
