package plots

import (
	"fmt"
	"image"
	"math"
	"strings"

	"antipode/plots/internal/letters"
)

const (
	cellGap  = 12.0 // between columns of cells
	thumbGap = 6.0  // between thumbnails
)

// scene draws the sheet as one image, for SVG and PNG.
func (s *sheet) scene() (*scene, error) {
	th := s.set.theme
	left, width := s.columns()
	sc := &scene{width: width, title: s.title, about: strings.Join(s.caption, " "), theme: th}
	wide := width - 2*margin
	y := sc.heading() + 6
	if s.heads != nil {
		lines := 1
		for i, h := range s.heads {
			for j, line := range letters.Wrap(h, th.Text, true, left[i+1]-left[i]-4) {
				sc.add(label{At: pt{left[i], y + th.Text*(1+1.2*float64(j))}, Text: line, Size: th.Text, Bold: true,
					Color: th.Ink, Anchor: start})
				lines = max(lines, j+1)
			}
		}
		y += th.Text*(1+1.2*float64(lines-1)) + 8
	}
	for _, b := range s.blocks {
		if b.title != "" {
			y = sc.paragraph(margin, y+4, wide, b.title, th.Text+1, true, th.Ink) + 4
		}
		for _, r := range b.rows {
			bottom := y
			for i, line := range letters.Wrap(r.name, th.Text, true, s.named-8) {
				sc.add(label{At: pt{margin, y + th.Text*(1+1.25*float64(i))}, Text: line, Size: th.Text, Bold: true,
					Color: th.Ink, Anchor: start})
				bottom = y + th.Text*(1.4+1.25*float64(i))
			}
			for _, line := range letters.Wrap(r.note, th.Small, false, s.named-8) {
				sc.add(label{At: pt{margin, bottom + th.Small}, Text: line, Size: th.Small, Color: th.Ink,
					Anchor: start})
				bottom += th.Small * 1.25
			}
			for i, c := range r.cells {
				bottom = max(bottom, s.drawCell(sc, c, left[i], y, s.across[i]))
			}
			y = bottom + 8
		}
	}
	return sc.finish(y + 2), nil
}

// columns returns the left ends of the columns of cells, with that of the next one, and the width of the sheet: the
// theme's, or more for many columns.
func (s *sheet) columns() (left []float64, width float64) {
	left = make([]float64, len(s.across)+1)
	left[0] = margin + s.named
	for i, n := range s.across {
		wide := float64(n)*(s.size+thumbGap) - thumbGap
		if s.heads != nil { // a word of a name is not broken
			for _, word := range strings.Fields(s.heads[i]) {
				wide = max(wide, min(letters.Measure(word, s.set.theme.Text, true), 120)-7)
			}
		}
		left[i+1] = left[i] + wide + cellGap
	}
	return left, max(s.set.theme.Width, math.Ceil(left[len(s.across)]-cellGap+margin))
}

// drawCell draws a cell at its top left corner and returns the y below it.
func (s *sheet) drawCell(sc *scene, c sheetCell, x, y float64, across int) float64 {
	th := s.set.theme
	if len(c.thumbs) == 0 {
		if c.empty == "" {
			return y
		}
		sc.add(path{Points: []pt{{x, y}, {x + s.size, y}, {x + s.size, y + s.size}, {x, y + s.size}}, Closed: true,
			Stroke: th.Muted, Width: 1, Dash: true})
		lines := letters.Wrap(c.empty, th.Small, false, s.size-8)
		for i, line := range lines {
			sc.text(x+s.size/2, y+s.size/2+th.Small*1.3*(float64(i)-float64(len(lines)-1)/2), line, th.Small, th.Muted,
				middle)
		}
		return y + s.size
	}
	bottom := y
	for i, t := range c.thumbs {
		if i%across == 0 {
			y = bottom
			if i > 0 {
				y += 6
			}
		}
		tx := x + float64(i%across)*(s.size+thumbGap)
		ty := y
		if t.data == nil {
			sc.hatch(tx, ty, s.size, s.size)
			for j, line := range letters.Wrap(t.reason, th.Small, false, s.size-8) {
				if j < 4 {
					sc.text(tx+s.size/2, ty+12+th.Small*(0.5+1.3*float64(j)), line, th.Small, th.Ink, middle)
				}
			}
			ty += s.size
		} else {
			w, h := s.box(t.small.Bounds())
			sc.add(raster{At: pt{tx, ty}, Width: w, Height: h, Data: t.data, MIME: jpegType,
				Alt: t.alt()})
			ty += h
		}
		for _, caption := range t.captions {
			for _, line := range s.clip(caption) {
				sc.add(label{At: pt{tx, ty + th.Small + 2}, Text: line, Size: th.Small, Color: th.Ink, Anchor: start})
				ty += th.Small * 1.25
			}
		}
		bottom = max(bottom, ty+4)
	}
	if c.more > 0 {
		sc.add(label{At: pt{x, bottom + th.Small}, Text: fmt.Sprintf("+ %d more", c.more), Size: th.Small,
			Color: th.Muted, Anchor: start})
		bottom += th.Small * 1.4
	}
	return bottom
}

// clip wraps a caption to the width of a thumbnail and shortens it to three lines.
func (s *sheet) clip(caption string) []string {
	size := s.set.theme.Small
	lines := letters.Wrap(caption, size, false, s.size)
	if len(lines) > 3 {
		last := []rune(lines[2] + "…")
		for len(last) > 2 && letters.Measure(string(last), size, false) > s.size {
			last = append(last[:len(last)-2], '…')
		}
		lines = append(lines[:2:2], string(last))
	}
	return lines
}

// box is the size at which a thumbnail is shown.
func (s *sheet) box(r image.Rectangle) (w, h float64) {
	scale := s.size / float64(max(r.Dx(), r.Dy()))
	return float64(r.Dx()) * scale, float64(r.Dy()) * scale
}

func (t *thumbnail) alt() string {
	return letters.OneLine(strings.Join(append([]string{t.id}, t.captions...), ", "))
}

// HTML has the text color of the page around it, light or dark; muted and rule are styles that suit both.
const (
	muted = "opacity:.7"
	rule  = "1px solid rgba(128,128,128,.4)"

	htmlPlain = `border:0;background:none;text-align:left;vertical-align:top`
	htmlRow   = `<tr style="background:none">`
)

// html writes the sheet as a table of images in a <figure>.
func (s *sheet) html() (string, error) {
	th := s.set.theme
	var b strings.Builder
	fmt.Fprintf(&b, `<figure style="margin:0;max-width:100%%;overflow-x:auto;font-family:%s;font-size:%spx">`+"\n",
		escape(th.Fonts), num(th.Text))
	if !th.Bare {
		fmt.Fprintf(&b, `<div style="font-size:%spx;font-weight:bold;margin-bottom:6px">%s</div>`+"\n", num(th.Title),
			text(s.title))
	}
	b.WriteString(`<table style="border-collapse:collapse;border:0;margin:0;font-size:inherit;color:inherit">` + "\n")
	columns := len(s.across)
	if s.named > 0 {
		columns++
	}
	if s.heads != nil {
		b.WriteString(htmlRow)
		if s.named > 0 {
			b.WriteString(`<th style="` + htmlPlain + `"></th>`)
		}
		for _, h := range s.heads {
			fmt.Fprintf(&b, `<th style="%s;padding:2px 12px 2px 0">%s</th>`, htmlPlain, text(h))
		}
		b.WriteString("</tr>\n")
	}
	for _, block := range s.blocks {
		if block.title != "" {
			fmt.Fprintf(&b, htmlRow+`<th colspan="%d" style="%s;padding:6px 0 2px 0">%s</th></tr>`+"\n", columns,
				htmlPlain, text(block.title))
		}
		for _, r := range block.rows {
			s.htmlRow(&b, r)
		}
	}
	b.WriteString("</table>\n")
	if !th.Bare {
		fmt.Fprintf(&b, `<figcaption style="max-width:%spx;font-size:%spx;%s;font-style:normal">%s</figcaption>`,
			num(th.Width), num(th.Small), muted, text(strings.Join(s.caption, " ")))
	}
	b.WriteString("</figure>")
	return b.String(), nil
}

func (s *sheet) htmlRow(b *strings.Builder, r sheetRow) {
	b.WriteString(htmlRow)
	if s.named > 0 {
		fmt.Fprintf(b, `<th style="%s;padding:0 8px 8px 0;min-width:%spx;overflow-wrap:anywhere">%s`, htmlPlain,
			num(s.named-8), text(r.name))
		if r.note != "" {
			fmt.Fprintf(b, `<div style="font-weight:normal;font-size:%spx">%s</div>`, num(s.set.theme.Small), text(r.note))
		}
		b.WriteString("</th>")
	}
	for i, c := range r.cells {
		fmt.Fprintf(b, `<td style="%s;padding:0 %spx 8px 0;min-width:%spx">`, htmlPlain, num(cellGap-thumbGap),
			num(float64(s.across[i])*(s.size+thumbGap)))
		s.htmlCell(b, c)
		b.WriteString("</td>")
	}
	b.WriteString("</tr>\n")
}

func (s *sheet) htmlCell(b *strings.Builder, c sheetCell) {
	th := s.set.theme
	note := func(words string) {
		fmt.Fprintf(b, `<div style="width:%[1]spx;height:%[1]spx;border:1px dashed;%[2]s;font-size:%[3]spx;box-sizing:border-box;padding:4px">%[4]s</div>`,
			num(s.size), muted, num(th.Small), text(words))
	}
	if len(c.thumbs) == 0 && c.empty != "" {
		note(c.empty)
	}
	for _, t := range c.thumbs {
		fmt.Fprintf(b, `<div style="display:inline-block;vertical-align:top;width:%spx;margin:0 %spx 4px 0">`,
			num(s.size), num(thumbGap))
		if t.data == nil {
			note(t.reason)
		} else {
			w, h := s.box(t.small.Bounds())
			fmt.Fprintf(b, `<img width="%s" height="%s" alt="%s" src="%s" style="display:block;margin:0">`, num(w),
				num(h), escape(t.alt()), dataURI(jpegType, t.data))
		}
		for _, caption := range t.captions {
			short := caption
			if lines := s.clip(caption); len(lines) > 0 && strings.HasSuffix(lines[len(lines)-1], "…") {
				short = strings.Join(lines, " ")
			}
			fmt.Fprintf(b, `<div title="%s" style="font-size:%spx;line-height:1.25;overflow-wrap:anywhere">%s</div>`,
				escape(letters.OneLine(caption)), num(th.Small), text(short))
		}
		b.WriteString("</div>")
	}
	if c.more > 0 {
		fmt.Fprintf(b, `<div style="font-size:%spx;%s">+ %d more</div>`, num(th.Small), muted, c.more)
	}
}

// text escapes data for an HTML element and isolates its writing direction.
func text(data string) string { return `<bdi>` + escape(letters.OneLine(data)) + `</bdi>` }
