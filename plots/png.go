package plots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"antipode/plots/internal/pdf"
	"antipode/plots/internal/typeset"
)

// png paints the scene as a PNG file that names its resolution.
func (sc *scene) png(dpi int) ([]byte, error) {
	img, err := sc.paint(dpi)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, err
	}
	const header = 8 + 25 // the signature and the chunk IHDR, which pHYs follows
	perMeter := uint32(math.Round(float64(dpi) / 0.0254))
	chunk := binary.BigEndian.AppendUint32([]byte("pHYs"), perMeter)
	chunk = append(binary.BigEndian.AppendUint32(chunk, perMeter), 1)
	sized := append(binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4)), chunk...)
	sized = binary.BigEndian.AppendUint32(sized, crc32.ChecksumIEEE(chunk))
	return slices.Insert(out.Bytes(), header, sized...), nil
}

// pdf writes the scene as a PDF file of its size.
func (sc *scene) pdf() []byte {
	set := sc.typeset()
	var page pdf.Page
	const point = 72. / 96
	page.Scale(point, point)
	page.SetColor(sc.theme.Paper)
	page.Fill(vg.Rectangle{Max: vg.Point{X: vg.Length(sc.width), Y: vg.Length(set.height)}}.Path())
	set.draw(&page)
	return page.File(sc.width*point, set.height*point, oneLine(sc.title))
}

// typed is a scene whose text is shaped.
type typed struct {
	shapes []any
	lines  map[label]typeset.Line
	height float64
}

// typeset shapes the text in the available fonts. Characters that no font has are left out and counted in a line at
// the bottom.
func (sc *scene) typeset() *typed {
	t := &typed{sc.shapes, map[label]typeset.Line{}, sc.height}
	missing := typeset.Missing{}
	for _, shape := range sc.shapes {
		if v, ok := shape.(label); ok {
			line := typeset.Set(oneLine(v.text), v.size, v.bold)
			t.lines[v] = line
			missing.Add(line.Missing)
		}
	}
	if note := missing.String(); note != "" {
		foot := scene{theme: sc.theme}
		t.height += math.Ceil(foot.paragraph(margin, t.height, sc.width-2*margin, note, sc.theme.Small, false,
			sc.theme.Outline) + 0.5*sc.theme.Small - t.height)
		t.shapes = append(slices.Clone(sc.shapes), foot.shapes...)
	}
	return t
}

// paint draws the scene as an image.
func (sc *scene) paint(dpi int) (image.Image, error) {
	set := sc.typeset()
	// One unit of the canvas is one CSS pixel: 1/72 of its "inch", which has dpi·72/96 dots.
	const largest = 20000
	if w, h := sc.width*float64(dpi)/96, set.height*float64(dpi)/96; w > largest || h > largest {
		return nil, fmt.Errorf("the image would be %.0f × %.0f dots; reduce Theme.DPI", w, h)
	}
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(sc.width), vg.Length(set.height)), vgimg.UseDPI(dpi*72/96),
		vgimg.UseBackgroundColor(sc.theme.Paper))
	set.draw(c)
	return c.Image(), nil
}

// canvas is what a scene is drawn on: an image or the page of a PDF file.
type canvas interface {
	SetLineWidth(vg.Length)
	SetLineDash(pattern []vg.Length, offset vg.Length)
	SetColor(color.Color)
	Rotate(radians float64)
	Translate(vg.Point)
	Scale(x, y float64)
	Push()
	Pop()
	Stroke(vg.Path)
	Fill(vg.Path)
	DrawImage(vg.Rectangle, image.Image)
}

// draw draws the shapes; one unit of the canvas is one CSS pixel.
func (t *typed) draw(c canvas) {
	at := func(p pt) vg.Point { return vg.Point{X: vg.Length(p.x), Y: vg.Length(t.height - p.y)} }
	fillAndStroke := func(p vg.Path, fill, stroke color.NRGBA, width float64, dash bool) {
		if fill.A > 0 {
			c.SetColor(fill)
			c.Fill(p)
		}
		if stroke.A > 0 && width > 0 {
			c.SetColor(stroke)
			c.SetLineWidth(vg.Length(width))
			c.SetLineDash(nil, 0)
			if dash {
				c.SetLineDash([]vg.Length{5, 4}, 0)
			}
			c.Stroke(p)
		}
	}
	for _, shape := range t.shapes {
		switch v := shape.(type) {
		case path:
			var p vg.Path
			for i, q := range v.points {
				if i == 0 {
					p.Move(at(q))
				} else {
					p.Line(at(q))
				}
			}
			if v.closed {
				p.Close()
			}
			fillAndStroke(p, v.fill, v.stroke, v.width, v.dash)
		case disc:
			var p vg.Path
			p.Move(at(pt{v.at.x + v.radius, v.at.y}))
			p.Arc(at(v.at), vg.Length(v.radius), 0, 2*math.Pi)
			p.Close()
			fillAndStroke(p, v.fill, v.stroke, v.width, false)
		case label:
			if v.text == "" {
				continue
			}
			line, set := t.lines[v]
			if !set { // the note at the bottom
				line = typeset.Set(v.text, v.size, v.bold)
			}
			v.draw(c, at, line)
		case raster:
			corner := at(pt{v.at.x, v.at.y + v.height})
			box := vg.Rectangle{Min: corner, Max: corner.Add(vg.Point{X: vg.Length(v.width), Y: vg.Length(v.height)})}
			if page, ok := c.(*pdf.Page); ok && v.mime == jpegType {
				page.DrawJPEG(box, v.data, v.image.Bounds().Size())
			} else {
				c.DrawImage(box, opaque(v.image))
			}
		}
	}
}

// draw draws a shaped label. The layout reserves the width that measure returns, which is the same on every machine; a
// line that is wider in this machine's fonts is condensed.
func (v label) draw(c canvas, at func(pt) vg.Point, line typeset.Line) {
	narrow := 1.0
	if space := measure(oneLine(v.text), v.size, v.bold); line.Width > space {
		narrow = space / line.Width
	}
	c.Push()
	defer c.Pop()
	c.SetColor(v.color)
	c.SetLineDash(nil, 0)
	c.Translate(at(v.at))
	if v.turn != 0 {
		c.Rotate(-v.turn * math.Pi / 180)
	}
	c.Scale(narrow, 1)
	c.Translate(vg.Point{X: vg.Length(map[anchor]float64{start: 0, middle: -0.5, end: -1}[v.anchor] * line.Width)})
	if page, ok := c.(*pdf.Page); ok {
		page.DrawText(line.Pieces())
		return
	}
	line.Draw(func(outline vg.Path, embolden float64) {
		c.Fill(outline)
		if embolden > 0 {
			c.SetLineWidth(vg.Length(embolden))
			c.Stroke(outline)
		}
	})
}

// opaque draws an image on white, as the canvas requires.
func opaque(img image.Image) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Over)
	return out
}
