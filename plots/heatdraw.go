package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"antipode/plots/internal/letters"
)

// ramp maps values to colors.
type ramp struct {
	low, high float64
	ref       *Mark
	theme     Theme
	write     func(float64) string
}

// ramp returns the color scale of values, or between Limits; with a reference it includes that. The color of the
// smallest value is a share of that of the largest one.
func (s *options) ramp(values []value, least float64) *ramp {
	r := &ramp{low: math.Inf(1), high: math.Inf(-1), theme: s.theme, write: digits(values)}
	if least > 0 {
		r.theme.Paper = mix(s.theme.Paper, s.theme.High, least)
	}
	for _, v := range values {
		if !v.none() {
			r.low, r.high = min(r.low, v.v), max(r.high, v.v)
		}
	}
	if s.limits.set() {
		r.low, r.high = s.limits.Low, s.limits.High
	}
	if len(s.refs) > 0 {
		r.ref = &s.refs[0]
		r.low, r.high = min(r.low, r.ref.At), max(r.high, r.ref.At)
	}
	if r.low >= r.high {
		r.low, r.high = r.low-0.5, r.high+0.5
	}
	return r
}

func (r ramp) color(v float64) color.NRGBA {
	if r.ref == nil {
		return mix(r.theme.Paper, r.theme.High, min(max((v-r.low)/(r.high-r.low), 0), 1))
	}
	reach := max(r.high-r.ref.At, r.ref.At-r.low)
	t := min(max((v-r.ref.At)/reach, -1), 1)
	if t < 0 {
		return mix(r.theme.Paper, r.theme.Low, -t)
	}
	return mix(r.theme.Paper, r.theme.High, t)
}

// heat draws the cells of one panel, the lines between groups and the totals.
func (sc *scene) heat(p *panel, rows []string, h *heatTable, hp heatPanel) {
	th := sc.theme
	columns, colors := h.columns, h.colors
	w, tall := (p.r-p.l)/p.x.high, (p.b-p.t)/p.y.high
	size := min(th.Small, tall-3)
	for _, v := range hp.at {
		if !v.none() {
			size = min(size, th.Small*(w-3)/(letters.Measure(colors.write(v.v), th.Small, false)))
		}
	}
	gap := min(0.5, w/24)
	if h.dense {
		sc.mosaic(p, rows, h, hp, w*float64(len(columns)), tall*float64(len(rows)))
	}
	for i, r := range rows {
		for j, c := range columns {
			x, y := p.l+float64(j)*w, p.t+float64(i)*tall
			k := [2]string{r, c}
			sc.behind(p, k, x, y, w, tall)
			v, known := hp.at[k]
			if !known || v.none() {
				sc.hatch(x+gap, y+gap, w-2*gap, tall-2*gap)
				continue
			}
			fill := colors.color(v.v)
			if !h.dense {
				sc.box(x+gap, y+gap, w-2*gap, tall-2*gap, fill)
			}
			ink := th.Ink
			if th.dark(fill) {
				ink = th.Paper
			}
			if hp.hatched[k] {
				line := ink
				if size >= 7 {
					line = mix(fill, ink, 0.4) // below a number
				}
				sc.strike(x+gap, y+gap, w-2*gap, tall-2*gap, line)
			}
			sc.inCell(p, i, j, colors.write(v.v), size, ink)
		}
	}
	for _, n := range h.rowEnds {
		y := p.t + float64(n)*tall
		sc.line(th.Ink, 1, pt{p.l, y}, pt{p.r, y})
	}
	for _, n := range h.columnEnds {
		x := p.l + float64(n)*w
		sc.line(th.Ink, 1, pt{x, p.t}, pt{x, p.b})
	}
	if h.sums != nil {
		sc.totals(p, rows, columns, h, hp)
	}
}

// inCell writes into a cell, if the text is large enough to be read.
func (sc *scene) inCell(p *panel, i, j int, text string, size float64, ink color.NRGBA) {
	if size >= 7 {
		w, tall := (p.r-p.l)/p.x.high, (p.b-p.t)/p.y.high
		sc.text(p.l+(float64(j)+0.5)*w, p.t+(float64(i)+0.5)*tall, text, size, ink, middle)
	}
}

// totals writes the sums of rows and columns.
func (sc *scene) totals(p *panel, rows, columns []string, h *heatTable, hp heatPanel) {
	th, w, tall := sc.theme, (p.r-p.l)/p.x.high, (p.b-p.t)/p.y.high
	write := func(i, j int, v value) {
		if !v.none() {
			text := h.sums(v.v)
			size := min(th.Small, tall-3, th.Small*(w-3)/letters.Measure(text, th.Small, false))
			sc.inCell(p, i, j, text, size, th.Ink)
		}
	}
	for i, r := range rows {
		write(i, len(columns), hp.total([]string{r}, columns))
	}
	for j, c := range columns {
		write(len(rows), j, hp.total(rows, []string{c}))
	}
	write(len(rows), len(columns), hp.total(rows, columns))
	x, y := p.l+float64(len(columns))*w, p.t+float64(len(rows))*tall
	sc.line(th.Ink, 1, pt{x, p.t}, pt{x, p.b})
	sc.line(th.Ink, 1, pt{p.l, y}, pt{p.r, y})
}

// mosaic draws the colored cells of a panel as one image at twice the resolution: thousands of boxes would make a large
// file.
func (sc *scene) mosaic(p *panel, rows []string, h *heatTable, hp heatPanel, wide, high float64) {
	const zoom, seam = 2, 1
	picked := image.NewRGBA(image.Rect(0, 0, int(zoom*wide+0.5), int(zoom*high+0.5)))
	draw.Draw(picked, picked.Rect, image.NewUniform(sc.theme.Paper), image.Point{}, draw.Src)
	side := picked.Rect.Size()
	for i, r := range rows {
		for j, c := range h.columns {
			if v, known := hp.at[[2]string{r, c}]; known && !v.none() {
				cell := image.Rect(j*side.X/len(h.columns), i*side.Y/len(rows), (j+1)*side.X/len(h.columns)-seam,
					(i+1)*side.Y/len(rows)-seam)
				draw.Draw(picked, cell, image.NewUniform(h.colors.color(v.v)), image.Point{}, draw.Src)
			}
		}
	}
	var data bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	encoder.Encode(&data, picked) // a bytes.Buffer never fails
	sc.add(raster{At: pt{p.l, p.t}, Width: wide, Height: high, Data: data.Bytes(), MIME: "image/png",
		Alt: fmt.Sprintf("%s: %d × %d cells", cmp.Or(p.title, "cells"), len(rows), len(h.columns))})
}

// strike draws a thin line from corner to corner of a box.
func (sc *scene) strike(x, y, w, h float64, c color.NRGBA) {
	sc.line(c, 0.8, pt{x, y + h}, pt{x + w, y})
}

// draw draws the color scale in the legend and returns the x to the right of it.
func (r ramp) draw(s *scene, x, mid float64) float64 {
	th := s.theme
	low, high := r.write(r.low), r.write(r.high)
	s.text(x, mid, low, th.Text, th.Ink, start)
	x += letters.Measure(low, th.Text, false) + 6
	const steps, wide = 24, 120.0
	for i := range steps {
		v := r.low + (r.high-r.low)*(float64(i)+0.5)/steps
		s.box(x+float64(i)*wide/steps, mid-6, wide/steps+0.3, 12, r.color(v))
	}
	s.add(path{Points: []pt{{x, mid - 6}, {x + wide, mid - 6}, {x + wide, mid + 6}, {x, mid + 6}}, Closed: true,
		Stroke: th.Rule, Width: 1})
	s.text(x+wide+6, mid, high, th.Text, th.Ink, start)
	end := x + wide + 6 + letters.Measure(high, th.Text, false) + 16
	if r.ref != nil {
		at := x + wide*(r.ref.At-r.low)/(r.high-r.low)
		s.line(th.Ink, 1.2, pt{at, mid - 8}, pt{at, mid + 8})
		name := fmt.Sprintf("| %s (%s)", r.ref.Name, short(r.ref.At))
		s.text(end, mid, name, th.Text, th.Ink, start)
		end += letters.Measure(name, th.Text, false) + 16
	}
	return end
}
