package plots

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"antipode/plots/internal/letters"
)

// svg writes the scene as a complete document: text remains text, so that a browser shapes it in a font that has the
// script; images are data URIs; it has no script and no remote source.
func (sc *scene) svg() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" fill="none" font-family="%s">`+"\n",
		num(sc.width), num(sc.height), escape(sc.theme.Fonts))
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", escape(sc.title), escape(sc.about))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", hex(sc.theme.Paper))
	for _, s := range sc.shapes {
		switch {
		case s.Path != nil:
			v := s.Path
			b.WriteString(`<path d="`)
			for i, p := range v.Points {
				b.WriteString(map[bool]string{true: "M", false: "L"}[i == 0])
				b.WriteString(num(p[0]) + " " + num(p[1]))
			}
			if v.Closed {
				b.WriteString("Z")
			}
			b.WriteString(`"` + paint(v.Fill, v.Stroke, v.Width, v.Dash) + "/>\n")
		case s.Disc != nil:
			v := s.Disc
			fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", num(v.At[0]), num(v.At[1]), num(v.Radius),
				paint(v.Fill, v.Stroke, v.Width, false))
		case s.Label != nil && s.Label.Text != "":
			v := s.Label
			fmt.Fprintf(&b, `<text x="%s" y="%s" font-size="%s" fill="%s"`, num(v.At[0]), num(v.At[1]), num(v.Size),
				hex(v.Color))
			if v.Bold {
				b.WriteString(` font-weight="bold"`)
			}
			from := v.Anchor
			right := letters.RightToLeft(v.Text)
			if right { // such a line starts at its right end
				from = map[anchor]anchor{start: end, middle: middle, end: start}[from]
			}
			if from != start {
				fmt.Fprintf(&b, ` text-anchor="%s"`, from)
			}
			if v.Turn != 0 {
				fmt.Fprintf(&b, ` transform="rotate(%s %s %s)"`, num(v.Turn), num(v.At[0]), num(v.At[1]))
			}
			if right {
				b.WriteString(` direction="rtl"`)
			}
			if families := letters.CSS(v.Text); families != "" {
				fmt.Fprintf(&b, ` font-family="%s"`, escape(withFamilies(sc.theme.Fonts, families)))
			}
			fmt.Fprintf(&b, ">%s</text>\n", escape(letters.OneLine(v.Text)))
		case s.Raster != nil:
			v := s.Raster
			fmt.Fprintf(&b, `<image x="%s" y="%s" width="%s" height="%s" href="%s"><title>%s</title></image>`+"\n",
				num(v.At[0]), num(v.At[1]), num(v.Width), num(v.Height), dataURI(v.MIME, v.Data),
				escape(letters.OneLine(v.Alt)))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// withFamilies inserts font families before the theme's generic family.
func withFamilies(fonts, families string) string {
	return strings.TrimSuffix(fonts, ",sans-serif") + "," + families + ",sans-serif"
}

func paint(fill, stroke color.NRGBA, width float64, dash bool) string {
	out := ""
	if fill.A > 0 {
		out = ` fill="` + hex(fill) + `"`
		if fill.A < 255 {
			out += ` fill-opacity="` + num(float64(fill.A)/255) + `"`
		}
	}
	if stroke.A > 0 && width > 0 {
		out += ` stroke="` + hex(stroke) + `" stroke-width="` + num(width) + `"`
		if dash {
			out += ` stroke-dasharray="5 4"`
		}
	}
	return out
}

// num writes a coordinate with at most two decimals.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// escape makes text safe inside an XML or HTML element or a quoted attribute. Characters that XML forbids become
// U+FFFD.
func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a strings.Builder never fails
	return b.String()
}

func dataURI(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}
