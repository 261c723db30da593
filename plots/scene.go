package plots

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"

	"antipode/datasets/client"
	"antipode/plots/internal/letters"
	"antipode/plots/internal/shape"
)

// scene is a drawing: shapes in paint order, in CSS pixels from the top left corner.
type scene struct {
	width, height float64
	title, about  string
	theme         Theme
	shapes        []any // path, disc, label, raster
	areas         []area
}

// area is where a click opens the images behind a row of the figure's table.
type area struct {
	x, y, w, h float64
	row        int
}

// behind adds the area of a row that the panel has.
func (sc *scene) behind(p *panel, k [2]string, x, y, w, h float64) {
	if row, known := p.rows[k]; known {
		sc.areas = append(sc.areas, area{x, y, w, h, row})
	}
}

// description is the scene in one line: its title and its caption.
func (sc *scene) description() string {
	title := letters.OneLine(sc.title)
	if title != "" && sc.about != "" && !strings.ContainsAny(title[len(title)-1:], ".!?:") {
		title += "."
	}
	return strings.TrimSpace(title + " " + letters.OneLine(sc.about))
}

type pt struct{ x, y float64 }

// path is a line or, where it has a fill, an area. An alpha of 0 means not stroked or not filled.
type path struct {
	points []pt
	closed bool
	stroke color.NRGBA
	width  float64
	dash   bool
	fill   color.NRGBA
}

// disc is a circle.
type disc struct {
	at     pt
	radius float64
	stroke color.NRGBA
	width  float64
	fill   color.NRGBA
}

type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// label is one line of text; at is on its baseline. turn is in degrees, clockwise.
type label struct {
	at     pt
	text   string
	size   float64
	bold   bool
	color  color.NRGBA
	anchor anchor
	turn   float64
}

// raster is an image in a box. data is its file (JPEG or PNG) and mime its type.
type raster struct {
	at            pt
	width, height float64
	data          []byte
	mime          string
	alt           string
}

// paint returns the scene as a file, which this process makes if it links package paint, and else the backend.
func (sc *scene) paint(ctx context.Context, r shape.Request) ([]byte, error) {
	th := sc.theme
	r.Scene = shape.Scene{Width: sc.width, Height: sc.height, Title: sc.title, Paper: th.Paper,
		Note: shape.Style{Size: th.Small, Color: th.Outline, Margin: margin}}
	for _, s := range sc.shapes {
		r.Scene.Shapes = append(r.Scene.Shapes, described(s))
	}
	var reply shape.Reply
	if shape.Painter != nil {
		reply = shape.Painter(ctx, r)
	} else if err := client.Ask(ctx, "/v1/paint", r, &reply); err != nil {
		return nil, fmt.Errorf("PNG and PDF are painted by the backend, or by a program itself that imports "+
			"antipode/plots/paint: %w", err)
	}
	if reply.Error != "" {
		return nil, errors.New(reply.Error)
	}
	return reply.Data, nil
}

// png paints the scene in the resolution of its theme.
func (sc *scene) png(ctx context.Context) ([]byte, error) {
	return sc.paint(ctx, shape.Request{Format: shape.PNG, DPI: sc.theme.DPI})
}

func (sc *scene) pdf(ctx context.Context) ([]byte, error) {
	return sc.paint(ctx, shape.Request{Format: shape.PDF})
}

// described returns a shape as package paint reads it.
func described(s any) shape.Shape {
	switch v := s.(type) {
	case path:
		points := make([]shape.Point, len(v.points))
		for i, p := range v.points {
			points[i] = shape.Point{p.x, p.y}
		}
		return shape.Shape{Path: &shape.Path{Points: points, Closed: v.closed, Stroke: v.stroke, Width: v.width,
			Dash: v.dash, Fill: v.fill}}
	case disc:
		return shape.Shape{Disc: &shape.Disc{At: shape.Point{v.at.x, v.at.y}, Radius: v.radius, Stroke: v.stroke,
			Width: v.width, Fill: v.fill}}
	case label:
		before := map[anchor]float64{start: 0, middle: 0.5, end: 1}[v.anchor]
		return shape.Shape{Label: &shape.Label{At: shape.Point{v.at.x, v.at.y}, Text: v.text, Size: v.size,
			Bold: v.bold, Color: v.color, Anchor: before, Turn: v.turn}}
	case raster:
		return shape.Shape{Raster: &shape.Raster{At: shape.Point{v.at.x, v.at.y}, Width: v.width, Height: v.height,
			Data: v.data}}
	}
	return shape.Shape{}
}

func (sc *scene) add(shapes ...any) { sc.shapes = append(sc.shapes, shapes...) }

func (sc *scene) line(c color.NRGBA, width float64, points ...pt) {
	sc.add(path{points: points, stroke: c, width: width})
}

func (sc *scene) box(x, y, w, h float64, fill color.NRGBA) {
	sc.add(path{points: []pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, closed: true, fill: fill})
}

// text adds a line of text; y is the middle of its x-height, so that text is level with a mark at y.
func (sc *scene) text(x, y float64, text string, size float64, c color.NRGBA, a anchor) {
	sc.add(label{at: pt{x, y + 0.36*size}, text: text, size: size, color: c, anchor: a})
}

// heading adds the title below the upper margin and returns the y below it.
func (sc *scene) heading() float64 {
	if sc.theme.Bare {
		return 6
	}
	return sc.paragraph(margin, 6, sc.width-2*margin, sc.title, sc.theme.Title, true, sc.theme.Ink)
}

// finish adds the caption below y and sets the height.
func (sc *scene) finish(y float64) *scene {
	if !sc.theme.Bare {
		y = sc.paragraph(margin, y, sc.width-2*margin, sc.about, sc.theme.Small, false, sc.theme.Muted)
	}
	sc.height = math.Ceil(y + 6)
	return sc
}

// paragraph adds wrapped text below y and returns the y below it.
func (sc *scene) paragraph(x, y, width float64, text string, size float64, bold bool, c color.NRGBA) float64 {
	for _, line := range letters.Wrap(text, size, bold, width) {
		sc.add(label{at: pt{x, y + size}, text: line, size: size, bold: bold, color: c, anchor: start})
		y += letters.Spacing * size
	}
	return y
}

// marks are the shapes of points, in series order: a series is known by its color and by its shape.
const markKinds = 6

func (sc *scene) mark(kind int, at pt, r float64, fill, stroke color.NRGBA) {
	poly := func(xy ...float64) {
		p := path{closed: true, fill: fill, stroke: stroke, width: 1.2}
		for i := 0; i < len(xy); i += 2 {
			p.points = append(p.points, pt{at.x + r*xy[i], at.y + r*xy[i+1]})
		}
		sc.add(p)
	}
	switch kind % markKinds {
	case 0:
		sc.add(disc{at: at, radius: r, fill: fill, stroke: stroke, width: 1.2})
	case 1:
		poly(-.9, -.9, .9, -.9, .9, .9, -.9, .9)
	case 2:
		poly(0, -1.2, 1.1, .8, -1.1, .8)
	case 3:
		poly(0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0)
	case 4:
		poly(0, 1.2, 1.1, -.8, -1.1, -.8)
	default:
		poly(-.4, -1.1, .4, -1.1, .4, -.4, 1.1, -.4, 1.1, .4, .4, .4, .4, 1.1, -.4, 1.1, -.4, .4, -1.1, .4, -1.1, -.4,
			-.4, -.4)
	}
}

// cross draws the mark of an exception.
func (sc *scene) cross(at pt, r float64, c color.NRGBA) {
	sc.line(c, 2, pt{at.x - r, at.y - r}, pt{at.x + r, at.y + r})
	sc.line(c, 2, pt{at.x - r, at.y + r}, pt{at.x + r, at.y - r})
}

// hatch fills a box with thin slanted lines, which mean "no data".
func (sc *scene) hatch(x, y, w, h float64) {
	c := mix(sc.theme.Rule, sc.theme.Muted, 0.3)
	sc.add(path{points: []pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, closed: true,
		fill: mix(sc.theme.Paper, sc.theme.Rule, .35), stroke: sc.theme.Rule, width: 0.6})
	for d := 5.0; d < w+h; d += 6 {
		a, b := pt{x + min(d, w), y + max(0, d-w)}, pt{x + max(0, d-h), y + min(d, h)}
		sc.line(c, 0.6, a, b)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
