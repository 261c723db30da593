package browse

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/thumb"
)

// Gallery is a table of images that a page shows.
type Gallery struct {
	Title  string
	Rows   *table.Frame
	Images []string // image columns: one, or two that are shown next to each other
	Figure *Figure  // shown above them; nil = none
}

// Figure is an image, or a table of texts, whose marks select rows.
type Figure struct {
	Text  string     `json:"text"`
	Image string     `json:"image,omitempty"` // data URI
	Head  []string   `json:"head,omitempty"`  // of a table
	Cells [][]string `json:"cells,omitempty"` // of a table, whose rows are the marks
	Marks []Mark     `json:"marks"`
}

// Mark selects the rows whose text columns have these values. Its box is in shares of the figure's width and height.
type Mark struct {
	X, Y, W, H float64
	Lists      map[string][]string
}

// Select limits the mark to rows in which a column has one of these values.
func (m *Mark) Select(column string, values []string) {
	if m.Lists == nil {
		m.Lists = map[string][]string{}
	}
	m.Lists[column] = values
}

// shownColumn is a column as the page gets it: texts by their position in Values, or numbers, null where there is none.
type shownColumn struct {
	Name    string     `json:"name"`
	Values  []string   `json:"values,omitempty"`
	Codes   []int      `json:"codes,omitempty"`
	Numbers []*float64 `json:"numbers,omitempty"`
}

// Page is what a page gets next to its images.
type Page struct {
	Title   string        `json:"title"`
	Rows    int           `json:"rows"`
	Columns []shownColumn `json:"columns"`
	Images  []string      `json:"images"`  // names of the image columns
	Missing []string      `json:"missing"` // by row: why there is no image; "" where there is one
	Vectors []string      `json:"vectors,omitempty"`
	Masks   bool          `json:"masks,omitempty"`
	Tags    []string      `json:"tags,omitempty"`   // that the keys 1 to 9 set
	Tagged  any           `json:"tagged,omitempty"` // set before: objects with id and tag
	Rater   string        `json:"rater,omitempty"`
	Figure  *Figure       `json:"figure,omitempty"`

	Reference string     `json:"reference,omitempty"` // the vector by which the server finds reference images
	Thumbs    [][]string `json:"thumbs,omitempty"`    // of a page without a server: data URIs by image column and row
	Links     []string   `json:"links,omitempty"`     // and the paths of the originals, relative to the page; "" = none
}

// New returns the gallery of the first image column of a table. A column X_shown is shown in place of X.
func New(title string, rows *table.Frame) (*Gallery, error) {
	rows = rows.Shown()
	for _, c := range rows.Columns {
		if c.Kind == table.KindImage {
			return &Gallery{title, rows, []string{c.Name}, nil}, nil
		}
	}
	return nil, errors.New("the table has no column of images")
}

// Len is the number of rows.
func (g *Gallery) Len() int { return g.Rows.Len() }

// Page returns what the page gets.
func (g *Gallery) Page() *Page {
	p := &Page{Title: g.Title, Rows: g.Len(), Images: g.Images, Figure: g.Figure,
		Missing: make([]string, g.Len())}
	outcome, reason := g.Rows.Texts("outcome"), g.Rows.Texts("reason")
	for i, img := range g.Rows.Images(g.Images[0]) {
		switch {
		case img.Path != "" || len(g.Images) > 1 && g.Rows.Images(g.Images[1])[i].Path != "":
		case outcome != nil && outcome[i] != "":
			p.Missing[i] = outcome[i]
			if reason != nil && reason[i] != "" {
				p.Missing[i] += ": " + reason[i]
			}
		default:
			p.Missing[i] = "no image"
		}
	}
	for i := range g.Rows.Columns {
		c := &g.Rows.Columns[i]
		switch c.Kind {
		case table.KindText:
			p.Columns = append(p.Columns, coded(c))
		case table.KindNumber:
			shown := shownColumn{Name: c.Name, Numbers: make([]*float64, c.Len())}
			for i, x := range c.Numbers {
				if !math.IsNaN(x) && !math.IsInf(x, 0) {
					shown.Numbers[i] = &x
				}
			}
			p.Columns = append(p.Columns, shown)
		case table.KindVector:
			p.Vectors = append(p.Vectors, c.Name)
		case table.KindMask:
			p.Masks = p.Masks || c.Name == "mask"
		}
	}
	return p
}

func coded(c *table.Column) shownColumn {
	out, at := shownColumn{Name: c.Name, Codes: make([]int, c.Len())}, map[string]int{}
	for i, text := range c.Texts {
		k, known := at[text]
		if !known {
			k = len(out.Values)
			at[text] = k
			out.Values = append(out.Values, text)
		}
		out.Codes[i] = k
	}
	return out
}

// Thumbnail encodes an image of a row anew, at most side pixels wide and high, without its metadata, and returns its
// media type. part is whole (also ""), or with a mask outline, box, object or background.
func (g *Gallery) Thumbnail(row int, column, part string, side int) ([]byte, string, error) {
	img, err := thumb.Load(g.Rows.Images(column)[row].Path)
	if err != nil {
		return nil, "", err
	}
	full := img.Rect
	img = thumb.Within(img, float64(side))
	if masks := g.Rows.Masks("mask"); masks != nil && part != "" && part != "whole" && column == g.Images[0] {
		if masks[row].Counts == "" {
			return nil, "", errors.New("no mask")
		}
		bits, err := mask.Decode(masks[row])
		if err != nil {
			return nil, "", err
		}
		if bits.Width != full.Dx() || bits.Height != full.Dy() {
			return nil, "", fmt.Errorf("the mask is %d×%d, the image %d×%d", bits.Width, bits.Height,
				full.Dx(), full.Dy())
		}
		overlay(img, bits, part)
	}
	var b bytes.Buffer
	if max(img.Rect.Dx(), img.Rect.Dy()) <= 128 { // sharp where it is small
		err = png.Encode(&b, img)
		return b.Bytes(), "image/png", err
	}
	err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 85})
	return b.Bytes(), "image/jpeg", err
}

// overlay shows a part of an image: the rest becomes white, or the object, or its box, gets a line of red with a white
// border.
func overlay(img *image.RGBA, bits mask.Bitmap, part string) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	in := func(x, y int) bool {
		x, y = min(max(x, 0), w-1), min(max(y, 0), h-1)
		return bits.At((2*x+1)*bits.Width/(2*w), (2*y+1)*bits.Height/(2*h))
	}
	if part == "box" {
		var box image.Rectangle
		for y := range h {
			for x := range w {
				if in(x, y) {
					box = box.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		in = func(x, y int) bool { return image.Pt(x, y).In(box) }
	}
	white, red := color.RGBA{255, 255, 255, 255}, color.RGBA{213, 0, 0, 255}
	for y := range h {
		for x := range w {
			object := in(x, y)
			switch part {
			case "object", "background":
				if object == (part == "background") {
					img.SetRGBA(x, y, white)
				}
				continue
			}
			edge := func(d int) bool {
				return in(x-d, y) != object || in(x+d, y) != object || in(x, y-d) != object || in(x, y+d) != object
			}
			switch {
			case object && edge(1), object && edge(2) && max(w, h) > 200:
				img.SetRGBA(x, y, red)
			case !object && edge(1):
				img.SetRGBA(x, y, white)
			}
		}
	}
}

// IDs are the names of the rows: the column id, else their numbers.
func (g *Gallery) IDs() []string {
	if ids := g.Rows.Texts("id"); ids != nil {
		return ids
	}
	out := make([]string, g.Len())
	for i := range out {
		out[i] = fmt.Sprint(i + 1)
	}
	return out
}
