package plots

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"

	"antipode/datasets/client"
	"antipode/datasets/manifest"
	"antipode/plots/internal/letters"
	"antipode/plots/internal/shape"
)

// scene is a drawing: shapes in paint order, in CSS pixels from the top left corner.
type scene struct {
	width, height float64
	title, about  string
	theme         Theme
	shapes        []shape.Shape
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

// What a scene consists of.
type (
	pt     = shape.Point
	path   = shape.Path
	disc   = shape.Disc
	label  = shape.Label
	raster = shape.Raster
	anchor = shape.Anchor
)

const (
	start  = shape.Start
	middle = shape.Middle
	end    = shape.End
)

// unpaintable is the error of a scene that cannot have a format, as one that is too large for a PNG.
type unpaintable struct{ error }

// paint returns the scene as a file, which this process makes if it links package paint, and else the backend.
func (sc *scene) paint(ctx context.Context, r shape.Request) ([]byte, error) {
	th := sc.theme
	r.Scene = shape.Scene{Width: sc.width, Height: sc.height, Title: sc.title, Paper: th.Paper,
		Note: shape.Style{Size: th.Small, Color: th.Outline, Margin: margin}, Shapes: sc.shapes}
	r.Fonts = manifest.Here(manifest.Fonts, "")
	var reply shape.Reply
	if shape.Painter != nil {
		reply = shape.Painter(r)
	} else if err := client.Ask(ctx, "/v1/paint", r, &reply); err != nil {
		return nil, fmt.Errorf("PNG and PDF are painted by the backend, or by a program itself that imports "+
			"antipode/plots/paint: %w", err)
	}
	if reply.Error != "" {
		return nil, unpaintable{errors.New(reply.Error)}
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

// add adds shapes: path, disc, label, raster.
func (sc *scene) add(shapes ...any) {
	for _, s := range shapes {
		var one shape.Shape
		switch v := s.(type) {
		case path:
			one.Path = &v
		case disc:
			one.Disc = &v
		case label:
			one.Label = &v
		case raster:
			one.Raster = &v
		}
		sc.shapes = append(sc.shapes, one)
	}
}

func (sc *scene) line(c color.NRGBA, width float64, points ...pt) {
	sc.add(path{Points: points, Stroke: c, Width: width})
}

func (sc *scene) box(x, y, w, h float64, fill color.NRGBA) {
	sc.add(path{Points: []pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, Closed: true, Fill: fill})
}

// text adds a line of text; y is the middle of its x-height, so that text is level with a mark at y.
func (sc *scene) text(x, y float64, text string, size float64, c color.NRGBA, a anchor) {
	sc.add(label{At: pt{x, y + 0.36*size}, Text: text, Size: size, Color: c, Anchor: a})
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
		sc.add(label{At: pt{x, y + size}, Text: line, Size: size, Bold: bold, Color: c, Anchor: start})
		y += letters.Spacing * size
	}
	return y
}

// marks are the shapes of points, in series order: a series is known by its color and by its shape.
const markKinds = 6

func (sc *scene) mark(kind int, at pt, r float64, fill, stroke color.NRGBA) {
	poly := func(xy ...float64) {
		p := path{Closed: true, Fill: fill, Stroke: stroke, Width: 1.2}
		for i := 0; i < len(xy); i += 2 {
			p.Points = append(p.Points, pt{at[0] + r*xy[i], at[1] + r*xy[i+1]})
		}
		sc.add(p)
	}
	switch kind % markKinds {
	case 0:
		sc.add(disc{At: at, Radius: r, Fill: fill, Stroke: stroke, Width: 1.2})
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
	sc.line(c, 2, pt{at[0] - r, at[1] - r}, pt{at[0] + r, at[1] + r})
	sc.line(c, 2, pt{at[0] - r, at[1] + r}, pt{at[0] + r, at[1] - r})
}

// hatch fills a box with thin slanted lines, which mean "no data".
func (sc *scene) hatch(x, y, w, h float64) {
	c := mix(sc.theme.Rule, sc.theme.Muted, 0.3)
	sc.add(path{Points: []pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, Closed: true,
		Fill: mix(sc.theme.Paper, sc.theme.Rule, .35), Stroke: sc.theme.Rule, Width: 0.6})
	for d := 5.0; d < w+h; d += 6 {
		a, b := pt{x + min(d, w), y + max(0, d-w)}, pt{x + max(0, d-h), y + min(d, h)}
		sc.line(c, 0.6, a, b)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
