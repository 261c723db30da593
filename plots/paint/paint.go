// Package paint makes images and PDF files of the figures that package plots lays out. It is apart from it because a
// notebook cell asks the backend to paint: the cell's program contains no fonts and no rasterizer. A program that
// imports it paints by itself.
package paint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // images of figures
	"image/png"
	"math"
	"net/http"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"antipode/plots/internal/letters"
	"antipode/plots/internal/pdf"
	"antipode/plots/internal/shape"
	"antipode/plots/internal/typeset"
)

func init() { shape.Painter = Do }

// Do paints a scene as a file. Where it fails, the reply has the reason.
func Do(r shape.Request) (reply shape.Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = shape.Reply{Error: fmt.Sprintf("the figure cannot be painted: %v", p)}
		}
	}()
	var data []byte
	set, err := typesetScene(r.Scene, typeset.In(r.Fonts))
	if err == nil {
		switch r.Format {
		case shape.PDF:
			data = set.pdf()
		case shape.Preview:
			data, err = set.preview(r.Limit)
		default:
			data, err = set.png(r.DPI)
		}
	}
	if err != nil {
		return shape.Reply{Error: err.Error()}
	}
	return shape.Reply{Data: data}
}

// Serve answers the request of another process for a file of a scene.
func Serve(w http.ResponseWriter, r *http.Request) {
	var of shape.Request
	reply := shape.Reply{}
	if err := json.NewDecoder(r.Body).Decode(&of); err != nil {
		reply.Error = "cannot read the figure: " + err.Error()
	} else {
		reply = Do(of)
	}
	json.NewEncoder(w).Encode(reply)
}

// png paints the scene as a PNG file that names its resolution.
func (t *typed) png(dpi int) ([]byte, error) {
	img, err := t.paint(dpi)
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
func (t *typed) pdf() []byte {
	var page pdf.Page
	const point = 72. / 96
	page.Scale(point, point)
	page.SetColor(t.Paper)
	page.Fill(vg.Rectangle{Max: vg.Point{X: vg.Length(t.Width), Y: vg.Length(t.Height)}}.Path())
	t.draw(&page)
	return page.File(t.Width*point, t.Height*point, letters.OneLine(t.Title))
}

// typed is a scene whose text is shaped and whose images are decoded.
type typed struct {
	shape.Scene
	lines  map[*shape.Label]typeset.Line
	images map[*shape.Raster]decoded
}

// decoded is a decoded image.
type decoded struct {
	image.Image
	jpeg bool
}

// typesetScene shapes the text in the available fonts. Characters that no font has are left out and counted in a line
// at the bottom.
func typesetScene(sc shape.Scene, fonts *typeset.Library) (*typed, error) {
	t := &typed{sc, map[*shape.Label]typeset.Line{}, map[*shape.Raster]decoded{}}
	missing := typeset.Missing{}
	for _, s := range sc.Shapes {
		if v := s.Label; v != nil {
			line := fonts.Set(letters.OneLine(v.Text), v.Size, v.Bold)
			t.lines[v] = line
			missing.Add(line.Missing)
		}
		if v := s.Raster; v != nil {
			img, format, err := image.Decode(bytes.NewReader(v.Data))
			if err != nil {
				return nil, fmt.Errorf("an image of the figure cannot be decoded: %w", err)
			}
			t.images[v] = decoded{img, format == "jpeg"}
		}
	}
	if note := missing.String(); note != "" {
		at, y := sc.Note, t.Height
		t.Shapes = slices.Clone(sc.Shapes)
		for _, text := range letters.Wrap(note, at.Size, false, sc.Width-2*at.Margin) {
			v := &shape.Label{At: shape.Point{at.Margin, y + at.Size}, Text: text, Size: at.Size, Color: at.Color}
			t.lines[v] = fonts.Set(text, at.Size, false)
			t.Shapes = append(t.Shapes, shape.Shape{Label: v})
			y += letters.Spacing * at.Size
		}
		t.Height += math.Ceil(y + 0.5*at.Size - t.Height)
	}
	return t, nil
}

func (t *typed) paint(dpi int) (image.Image, error) {
	// One unit of the canvas is one CSS pixel: 1/72 of its "inch", which has dpi·72/96 dots. Where that is no whole
	// number, the canvas has real inches.
	pixel, dots := 1.0, dpi*72/96
	if dots*96 != dpi*72 {
		pixel, dots = 72.0/96, dpi
	}
	const largest = 20000
	if w, h := t.Width*float64(dpi)/96, t.Height*float64(dpi)/96; w > largest || h > largest {
		return nil, fmt.Errorf("the image would be %.0f × %.0f dots; reduce Theme.DPI", w, h)
	}
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(t.Width*pixel), vg.Length(t.Height*pixel)), vgimg.UseDPI(dots),
		vgimg.UseBackgroundColor(t.Paper))
	c.Scale(pixel, pixel)
	t.draw(c)
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
	for _, s := range t.Shapes {
		switch {
		case s.Path != nil:
			v := s.Path
			var p vg.Path
			for i, q := range v.Points {
				if i == 0 {
					p.Move(t.at(q))
				} else {
					p.Line(t.at(q))
				}
			}
			if v.Closed {
				p.Close()
			}
			fillAndStroke(p, v.Fill, v.Stroke, v.Width, v.Dash)
		case s.Disc != nil:
			v := s.Disc
			var p vg.Path
			p.Move(t.at(shape.Point{v.At[0] + v.Radius, v.At[1]}))
			p.Arc(t.at(v.At), vg.Length(v.Radius), 0, 2*math.Pi)
			p.Close()
			fillAndStroke(p, v.Fill, v.Stroke, v.Width, false)
		case s.Label != nil && s.Label.Text != "":
			t.label(c, s.Label)
		case s.Raster != nil:
			v, img := s.Raster, t.images[s.Raster]
			corner := t.at(shape.Point{v.At[0], v.At[1] + v.Height})
			box := vg.Rectangle{Min: corner, Max: corner.Add(vg.Point{X: vg.Length(v.Width), Y: vg.Length(v.Height)})}
			if page, ok := c.(*pdf.Page); ok && img.jpeg {
				page.DrawJPEG(box, v.Data, img.Bounds().Size())
			} else {
				c.DrawImage(box, opaque(img))
			}
		}
	}
}

// at is a point on the canvas, whose origin is the lower left corner.
func (t *typed) at(p shape.Point) vg.Point {
	return vg.Point{X: vg.Length(p[0]), Y: vg.Length(t.Height - p[1])}
}

// label draws a label. The layout reserves the width that letters.Measure returns, which is the same on every machine;
// a line that is wider in this machine's fonts is condensed.
func (t *typed) label(c canvas, v *shape.Label) {
	narrow, line := 1.0, t.lines[v]
	if space := letters.Measure(letters.OneLine(v.Text), v.Size, v.Bold); line.Width > space {
		narrow = space / line.Width
	}
	c.Push()
	defer c.Pop()
	c.SetColor(v.Color)
	c.SetLineDash(nil, 0)
	c.Translate(t.at(v.At))
	if v.Turn != 0 {
		c.Rotate(-v.Turn * math.Pi / 180)
	}
	c.Scale(narrow, 1)
	before := map[shape.Anchor]float64{shape.Start: 0, shape.Middle: 0.5, shape.End: 1}[v.Anchor]
	c.Translate(vg.Point{X: vg.Length(-before * line.Width)})
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
