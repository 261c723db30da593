// Package pdf writes a page of vector graphics, images and shaped text as a PDF file.
//
// Text is stored as the outlines that shaping returned, in subsets of their fonts in the Compact Font Format, with the
// characters that each outline stands for: a reader selects, copies and searches text of any script, and publishers
// accept the fonts (they reject Type 3). codeberg.org/go-pdf/fpdf and github.com/signintech/gopdf choose glyphs by
// character, without shaping; github.com/tdewolff/canvas shapes text again, in fonts of its own, and would add a
// second shaper to every notebook cell.
//
// Equal pages are equal bytes.
package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Page is a page: a canvas in the unit of a point (1/72 inch) from the lower left corner, with the methods of
// [vg.Canvas] but for its text. The zero value is an empty page.
type Page struct {
	content bytes.Buffer
	color   color.NRGBA
	fonts   []*subset
	images  []embedded
	alphas  []uint8
}

// embedded is an image of the page.
type embedded struct {
	about string
	data  []byte
	jpeg  bool
}

// write appends an operator (ISO 32000-1, annex A) and its operands to the content.
func (p *Page) write(operator string, operands ...float64) {
	for _, v := range operands {
		p.content.WriteString(number(v) + " ")
	}
	p.content.WriteString(operator + "\n")
}

func number(v float64) string {
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 4, 64), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

func round(v float64) int { return int(math.Round(v)) }

// Push saves the coordinates, the color and the style of lines.
func (p *Page) Push() { p.write("q") }

// Pop restores what [Page.Push] saved.
func (p *Page) Pop() { p.write("Q") }

// Translate moves the origin.
func (p *Page) Translate(to vg.Point) { p.write("cm", 1, 0, 0, 1, float64(to.X), float64(to.Y)) }

// Scale scales the coordinates.
func (p *Page) Scale(x, y float64) { p.write("cm", x, 0, 0, y, 0, 0) }

// Rotate rotates the coordinates counter-clockwise, in radians.
func (p *Page) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	p.write("cm", cos, sin, -sin, cos, 0, 0)
}

// SetLineWidth sets the width of lines.
func (p *Page) SetLineWidth(width vg.Length) { p.write("w", float64(width)) }

// SetLineDash sets the dashes of lines; nil = none.
func (p *Page) SetLineDash(dash []vg.Length, offset vg.Length) {
	p.content.WriteByte('[')
	for _, d := range dash {
		p.content.WriteString(number(float64(d)) + " ")
	}
	p.content.WriteByte(']')
	p.write(" d", float64(offset))
}

// SetColor sets the color of lines, areas and text; areas can be transparent.
func (p *Page) SetColor(c color.Color) {
	p.color = color.NRGBAModel.Convert(c).(color.NRGBA)
	r, g, b := float64(p.color.R)/255, float64(p.color.G)/255, float64(p.color.B)/255
	p.write("rg", r, g, b)
	p.write("RG", r, g, b)
}

// Fill fills a path by the non-zero rule.
func (p *Page) Fill(path vg.Path) {
	p.Push()
	if a := p.color.A; a < 255 {
		n := bytes.IndexByte(p.alphas, a)
		if n < 0 {
			n = len(p.alphas)
			p.alphas = append(p.alphas, a)
		}
		p.write(fmt.Sprintf("/A%d gs", n))
	}
	p.path(path)
	p.write("f")
	p.Pop()
}

// Stroke draws a line along a path.
func (p *Page) Stroke(path vg.Path) {
	p.path(path)
	p.write("S")
}

func (p *Page) path(path vg.Path) {
	var at vg.Point
	curve := func(points ...vg.Point) {
		var v []float64
		for _, q := range points {
			v = append(v, float64(q.X), float64(q.Y))
		}
		p.write("c", v...)
	}
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp:
			p.write("m", float64(part.Pos.X), float64(part.Pos.Y))
		case vg.LineComp:
			p.write("l", float64(part.Pos.X), float64(part.Pos.Y))
		case vg.CurveComp:
			curve(cubic(at, part)...)
		case vg.ArcComp: // a full circle, which starts at its right end
			c, r := part.Pos, part.Radius
			const k = 0.5522847498 // of Bézier curves for a quarter
			on := func(x, y float64) vg.Point { return c.Add(vg.Point{X: vg.Length(x) * r, Y: vg.Length(y) * r}) }
			p.write("m", float64(c.X+r), float64(c.Y))
			curve(on(1, k), on(k, 1), on(0, 1))
			curve(on(-k, 1), on(-1, k), on(-1, 0))
			curve(on(-1, -k), on(-k, -1), on(0, -1))
			curve(on(k, -1), on(1, -k), on(1, 0))
		case vg.CloseComp:
			p.write("h")
		}
		at = part.Pos
	}
}

// cubic returns the control points and the end of a curve of one or two control points from a point.
func cubic(from vg.Point, part vg.PathComp) []vg.Point {
	if len(part.Control) != 1 {
		return append(part.Control[:2:2], part.Pos)
	}
	near := func(end vg.Point) vg.Point { return end.Add(part.Control[0].Sub(end).Scale(2. / 3)) }
	return []vg.Point{near(from), near(part.Pos), part.Pos}
}

// DrawImage draws an opaque image into a rectangle.
func (p *Page) DrawImage(into vg.Rectangle, img image.Image) {
	b := img.Bounds()
	flat := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(flat, flat.Rect, img, b.Min, draw.Src)
	var data []byte
	for i := 0; i+3 < len(flat.Pix); i += 4 {
		data = append(data, flat.Pix[i:i+3]...)
	}
	p.image(into, data, b.Size(), false)
}

// DrawJPEG draws a JPEG file of three channels, of a size in pixels, into a rectangle: its data is stored as it is.
func (p *Page) DrawJPEG(into vg.Rectangle, data []byte, size image.Point) {
	p.image(into, data, size, true)
}

func (p *Page) image(into vg.Rectangle, data []byte, size image.Point, jpeg bool) {
	p.Push()
	p.write("cm", float64(into.Max.X-into.Min.X), 0, 0, float64(into.Max.Y-into.Min.Y), float64(into.Min.X),
		float64(into.Min.Y))
	p.write(fmt.Sprintf("/I%d Do", len(p.images)))
	p.Pop()
	about := fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8",
		size.X, size.Y)
	p.images = append(p.images, embedded{about, data, jpeg})
}

// File returns the page as a file, with its size in points and its title.
func (p *Page) File(width, height float64, title string) []byte {
	out := &file{}
	out.WriteString("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	out.object("<</Type/Catalog/Pages 2 0 R/ViewerPreferences<</DisplayDocTitle true>>>>")
	out.object("<</Type/Pages/Kids[3 0 R]/Count 1>>")
	page := out.reserve()
	var resources strings.Builder
	list := func(kind, letter string, n int, object func(i int) int) {
		resources.WriteString("/" + kind + "<<")
		for i := range n {
			fmt.Fprintf(&resources, "/%s%d %d 0 R", letter, i, object(i))
		}
		resources.WriteString(">>")
	}
	list("Font", "F", len(p.fonts), func(i int) int { return p.fonts[i].object(out) })
	list("ExtGState", "A", len(p.alphas), func(i int) int {
		return out.object("<</ca " + number(float64(p.alphas[i])/255) + ">>")
	})
	list("XObject", "I", len(p.images), func(i int) int {
		if img := p.images[i]; img.jpeg {
			return out.raw(img.about+"/Filter/DCTDecode", img.data)
		}
		return out.stream(p.images[i].about, p.images[i].data)
	})
	content := out.stream("", p.content.Bytes())
	out.fill(page, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %s %s]/Resources<<%s>>/Contents %d 0 R>>",
		number(width), number(height), resources.String(), content))
	info := out.object("<</Title<FEFF" + utf16Hex(title) + ">/Producer(Antipode)>>")
	start := out.Len()
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(out.at)+1)
	for _, at := range out.at {
		fmt.Fprintf(out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(out, "trailer\n<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(out.at)+1, info,
		start)
	return out.Bytes()
}

// file is a file in the making: at has the position of each object; the first is number 1.
type file struct {
	bytes.Buffer
	at []int
}

func (f *file) reserve() int {
	f.at = append(f.at, 0)
	return len(f.at)
}

func (f *file) fill(number int, body string) {
	f.at[number-1] = f.Len()
	fmt.Fprintf(f, "%d 0 obj\n%s\nendobj\n", number, body)
}

// object adds an object and returns its number.
func (f *file) object(body string) int {
	n := f.reserve()
	f.fill(n, body)
	return n
}

// stream adds data that it compresses; raw adds it as it is.
func (f *file) stream(about string, data []byte) int {
	var packed bytes.Buffer
	w, _ := zlib.NewWriterLevel(&packed, zlib.BestCompression) // a valid level, and a bytes.Buffer never fails
	w.Write(data)
	w.Close()
	return f.raw(about+"/Filter/FlateDecode", packed.Bytes())
}

func (f *file) raw(about string, data []byte) int {
	return f.object(fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", about, len(data), data))
}
