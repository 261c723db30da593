package plots

import (
	"cmp"
	_ "embed"
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"antipode/datasets"
)

// Map draws a map of the world in which a country is colored by a number: pale at the smallest value, dark at the
// largest, or between Limits. Countries without a row are blank, those without a value gray; a country that is too
// small for the map is a disc. Where several rows name one country, as four identity groups do the United Kingdom, the
// largest value counts.
//
// Figures 2 and 8 of the ViSAGe paper: Value: "n_stereotypes" and Value: "normalized", with the countries of
// datasets/visage.Regions. The borders are Natural Earth's at 1:110 million (public domain), as it draws them. The
// map's edges are in the Bering Strait, so that no country is cut.
type Map struct {
	Table   datasets.Table
	Value   string // number column
	Country string // column with ISO 3166-1 alpha-3 codes (default: iso3)
	Title   string
	Limits  Range  // ends of the color scale
	Percent bool   // values are times 100; Limits are then in percent
	Note    string // first sentence of the caption
	Theme   Theme
}

//go:embed borders.txt
var bordersText string

// land is a country on the map: its outlines in degrees of longitude and latitude, or one point.
type land struct {
	code  string
	rings [][]pt
}

// borders reads the borders: a line for each country, its code, then its rings, separated by ";", in tenths of a
// degree, each point as its difference from the one before. "-" is land without a code. Rings are whole: those that
// the antimeridian divides, in Russia and Fiji, continue east of 180 degrees.
func borders() (out []land) {
	for line := range strings.Lines(bordersText) {
		code, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		l := land{code: code}
		for ring := range strings.SplitSeq(rest, ";") {
			var at pt
			var points []pt
			for step := range strings.SplitSeq(ring, " ") {
				x, y, _ := strings.Cut(step, ",")
				dx, _ := strconv.ParseFloat(x, 64) // a test reads the file
				dy, _ := strconv.ParseFloat(y, 64)
				at = pt{at[0] + dx/10, at[1] + dy/10}
				points = append(points, at)
			}
			l.rings = append(l.rings, points)
		}
		out = append(out, l)
	}
	return out
}

// The map shows these latitudes, without most of Antarctica.
const mapSouth, mapNorth = -57.0, 84.0

// The map's edges: between Alaska's mainland and St. Lawrence Island.
const mapWest, mapEast = -168.5, 191.5

func (f Map) figure() drawer {
	return figure{fmt.Sprintf("map of %q", f.Value), f.Table, [][2]string{{"Value", f.Value}}, options{
		title: f.Title, limits: f.Limits, percent: f.Percent, note: f.Note, theme: f.Theme,
	}, func(frame *datasets.Frame, s *options) (drawing, error) {
		return buildMap(frame, f.Value, cmp.Or(f.Country, "iso3"), s)
	}}
}

func buildMap(f *datasets.Frame, column, country string, s *options) (drawing, error) {
	var err error
	v := or(s.read(f, column))(&err)
	codes := or(names(f, country))(&err)
	panels := or(s.split(f, 1))(&err)
	if err != nil {
		return nil, err
	}
	lands, known := borders(), map[string]bool{}
	for _, l := range lands {
		known[l.code] = len(l.code) == 3 // two have no code
	}
	of := map[string]value{}
	var shown []value
	shared, elsewhere := 0, 0
	for i, code := range codes {
		if code == "" || !known[code] {
			elsewhere++
			continue
		}
		before, twice := of[code]
		if twice {
			shared++
		}
		if !twice || before.none() || v[i].v > before.v {
			of[code] = v[i]
		}
		if !v[i].none() {
			shown = append(shown, v[i])
		}
	}
	if shown == nil {
		return nil, fmt.Errorf("%w: no row with a value in %q has a country of the map in %q", ErrNoData, column,
			country)
	}
	scale := s.ramp(shown, 0.12) // the smallest value differs from a blank country
	scale.write = digits(v)
	c := s.chart(panels, column+" by country", column)
	c.ramp, c.rampName, c.columns = scale, s.axis("", column), 1
	c.height = (c.theme.Width - 2*margin - 10) * (mapNorth - mapSouth) / (mapEast - mapWest)
	c.panels = []*panel{{draw: func(sc *scene, p *panel) { sc.world(p, lands, of, scale) }}}
	c.count(f)
	c.say(shared, "%d rows share a country with another: the largest value counts.")
	c.say(elsewhere, "%d rows without a country of the map are not drawn.")
	c.caption = append(c.caption, "Blank: no row. Borders: Natural Earth.")
	return c, nil
}

// world draws the countries of a map.
func (sc *scene) world(p *panel, lands []land, of map[string]value, colors *ramp) {
	th := sc.theme
	place := func(at pt) pt {
		return pt{p.l + (at[0]-mapWest)/(mapEast-mapWest)*(p.r-p.l),
			p.b - (max(at[1], mapSouth)-mapSouth)/(mapNorth-mapSouth)*(p.b-p.t)}
	}
	line := mix(th.Paper, th.Muted, 0.5)
	sc.add(path{Points: []pt{{p.l, p.t}, {p.r, p.t}, {p.r, p.b}, {p.l, p.b}}, Closed: true, Stroke: th.Muted, Width: 1})
	for _, l := range lands {
		v, known := of[l.code]
		var fill color.NRGBA
		switch {
		case known && v.none():
			fill = mix(th.Paper, th.Rule, 0.6)
		case known:
			fill = colors.color(v.v)
		default:
			fill = th.Paper
		}
		for _, ring := range l.rings {
			if len(ring) == 1 {
				if known {
					sc.add(disc{At: place(ring[0]), Radius: 2.6, Fill: fill, Stroke: th.Muted, Width: 0.6})
				}
				continue
			}
			drawn := path{Closed: true, Fill: fill, Stroke: line, Width: 0.5}
			for _, at := range ring {
				drawn.Points = append(drawn.Points, place(at))
			}
			sc.add(drawn)
		}
	}
}
