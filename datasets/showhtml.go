package datasets

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"

	"antipode/datasets/cell"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/thumb"
)

// Sizes of thumbnails and texts in a shown table.
const (
	thumbSide    = 64     // CSS pixels of the longer side
	thumbDots    = 96     // pixels of the longer side, for dense screens
	thumbBytes   = 80_000 // of all thumbnails, as base64 characters; further images are shown as text
	longText     = 200    // characters of a text cell; its tooltip has longTitle
	longTitle    = 1000
	thumbQuality = 75
)

// Styles for light and dark pages: text has the color of the page.
const (
	faint    = "opacity:.6"
	hairline = "1px solid rgba(128,128,128,.4)"
)

// tableHTML returns a frame's first rows as an HTML table with thumbnails and without scripts; data is escaped.
func tableHTML(f *Frame, limit int) string {
	n := min(f.Len(), limit)
	room := thumbBytes
	var b strings.Builder
	const style = "border-collapse:collapse;margin-left:0;font-size:12px;font-variant-numeric:tabular-nums"
	b.WriteString(`<table style="` + style + `">` + "\n" + `<thead><tr style="border-bottom:1px solid">`)
	align := func(c *Column) string {
		if c.Kind == table.KindNumber {
			return "right"
		}
		return "left"
	}
	for i := range f.Columns {
		c := &f.Columns[i]
		fmt.Fprintf(&b, `<th style="text-align:%s;padding:3px 10px">%s</th>`, align(c), escaped(c.Name))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for r := range n {
		b.WriteString(`<tr style="border-bottom:` + hairline + `">`)
		for i := range f.Columns {
			c := &f.Columns[i]
			fmt.Fprintf(&b, `<td style="text-align:%s;padding:3px 10px%s">%s</td>`, align(c), width(c, r),
				cellHTML(c, r, &room))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	foot := size(f)
	if rest := more(f, n); rest != "" {
		foot = rest + " · " + foot
	}
	b.WriteString(`<div style="font-size:12px;` + faint + `">` + foot + "</div>")
	return b.String()
}

// width returns the style that keeps a column of images or sentences from being narrowed in wide tables.
func width(c *Column, row int) string {
	switch {
	case c.Kind == table.KindImage || c.Kind == table.KindMask:
		return fmt.Sprintf(";min-width:%dpx", thumbSide)
	case c.Kind == table.KindText && len(c.Texts[row]) > 24:
		return ";min-width:14em"
	}
	return ""
}

// cellHTML formats a value. room is the number of characters left for thumbnails.
func cellHTML(c *Column, row int, room *int) string {
	text := cellText(c, row)
	if text == "" {
		if c.Kind == table.KindText {
			return ""
		}
		return `<span style="` + faint + `">none</span>`
	}
	switch c.Kind {
	case table.KindImage:
		if img, err := thumb.Load(c.Images[row].Path); err == nil {
			var small bytes.Buffer
			if jpeg.Encode(&small, thumb.Within(img, thumbDots), &jpeg.Options{Quality: thumbQuality}) == nil {
				return thumbnail("image/jpeg", small.Bytes(), img.Rect.Size(), text, room)
			}
		}
	case table.KindMask:
		if data := maskPNG(c.Masks[row]); data != nil {
			at := image.Pt(c.Masks[row].Size[1], c.Masks[row].Size[0])
			_, share, _ := strings.Cut(text, ", ")
			return thumbnail("image/png", data, at, text, room) + `<div style="white-space:nowrap">` + share + "</div>"
		}
	case table.KindText:
		return longHTML(c.Texts[row])
	}
	return escaped(text)
}

// longHTML formats a text cell, shortened with the whole text as its tooltip.
func longHTML(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	short := cut(text, longText)
	if short == text {
		return escaped(text)
	}
	return `<span title="` + html.EscapeString(cut(text, longTitle)) + `">` + escaped(short) + "</span>"
}

// thumbnail returns an image in a table cell, or its description if no room is left.
func thumbnail(mime string, data []byte, size image.Point, text string, room *int) string {
	if *room -= len(data) * 4 / 3; *room < 0 {
		return escaped(text)
	}
	zoom := min(1, thumbSide/float64(max(size.X, size.Y, 1)))
	side := func(n int) int { return max(1, int(zoom*float64(n)+0.5)) }
	shape := fmt.Sprintf(`<img width="%d" height="%d" style="display:block;margin:0" `, side(size.X), side(size.Y))
	return strings.Replace(cell.Image(mime, data, text), "<img ", shape, 1)
}

// maskPNG draws a small mask, white on gray; nil if the mask cannot be decoded.
func maskPNG(m table.Mask) []byte {
	bits, err := mask.Decode(m)
	if err != nil || bits.Width == 0 || bits.Height == 0 {
		return nil
	}
	w, h := bits.Width, bits.Height
	if most := max(w, h); most > thumbDots {
		w, h = max(1, w*thumbDots/most), max(1, h*thumbDots/most)
	}
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Gray{0x60}, color.White})
	for y := range h {
		for x := range w {
			if bits.At((2*x+1)*bits.Width/(2*w), (2*y+1)*bits.Height/(2*h)) {
				img.Pix[y*img.Stride+x] = 1
			}
		}
	}
	var b bytes.Buffer
	if png.Encode(&b, img) != nil {
		return nil
	}
	return b.Bytes()
}

// escaped escapes text for an HTML element and isolates its writing direction.
func escaped(text string) string { return "<bdi>" + html.EscapeString(text) + "</bdi>" }
