package client

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Kind is the type of a column.
type Kind string

// The kinds a column can have.
const (
	Text    Kind = "text"   // UTF-8 text; the empty string is a value
	Number  Kind = "number" // float64; NaN means "no value" (null)
	Picture Kind = "image"  // a picture: content hash and the path of a readable file
	Masked  Kind = "mask"   // a binary mask as COCO compressed run lengths
	Vector  Kind = "vector" // []float32; nil means "no value" (null), never zeros
)

// ColumnSpec names a column and its kind.
type ColumnSpec struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Image points at a picture: SHA256 is the lower-case hex digest of the file's bytes, Path an absolute path of a
// file that may be read but not changed. The zero Image means "no value".
type Image struct {
	SHA256 string `json:"sha256"`
	Path   string `json:"path"`
}

// Mask is a binary mask in pycocotools' compressed run-length form, non-zero = object. Size is height, width. The zero Mask means "no value".
type Mask struct {
	Size   [2]int `json:"size"`
	Counts string `json:"counts"`
}

// Column is one column of a Frame. Exactly the slice of its Kind is used; its length is the number of rows.
type Column struct {
	ColumnSpec
	Texts   []string    `json:"texts,omitempty"`
	Numbers []float64   `json:"-"`
	Images  []Image     `json:"images,omitempty"`
	Masks   []Mask      `json:"masks,omitempty"`
	Vectors [][]float32 `json:"-"`
}

// Frame is a table whose rows are in memory: what a plan gives when it has run. Treat a Frame as read-only; its columns may be shared with other frames.
type Frame struct {
	Columns []Column
}

// ErrNoColumn is wrapped by errors about a column a table lacks.
var ErrNoColumn = errors.New("no such column")

// Len is the number of rows.
func (f *Frame) Len() int {
	if f == nil || len(f.Columns) == 0 {
		return 0
	}
	return f.Columns[0].Len()
}

// Len is the number of rows of the column.
func (c *Column) Len() int {
	switch c.Kind {
	case Text:
		return len(c.Texts)
	case Number:
		return len(c.Numbers)
	case Picture:
		return len(c.Images)
	case Masked:
		return len(c.Masks)
	default:
		return len(c.Vectors)
	}
}

// Specs lists the columns, in order.
func (f *Frame) Specs() []ColumnSpec {
	specs := make([]ColumnSpec, len(f.Columns))
	for i := range f.Columns {
		specs[i] = f.Columns[i].ColumnSpec
	}
	return specs
}

// Column returns the named column, or nil where there is none.
func (f *Frame) Column(name string) *Column {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i]
		}
	}
	return nil
}

// Has says whether the frame has a column of that name.
func (f *Frame) Has(name string) bool { return f.Column(name) != nil }

// Need returns the named column, or an error that names it and lists the columns there are.
func (f *Frame) Need(name string, kind Kind) (*Column, error) {
	c := f.Column(name)
	if c == nil {
		return nil, NoColumn(name, f.Specs())
	}
	if c.Kind != kind {
		return nil, fmt.Errorf("column %q holds %s values, not %s", name, c.Kind, kind)
	}
	return c, nil
}

// Texts returns the values of a text column; nil where there is none of that name and kind.
func (f *Frame) Texts(name string) []string {
	if c := f.Column(name); c != nil && c.Kind == Text {
		return c.Texts
	}
	return nil
}

// Numbers returns the values of a number column; nil where there is none of that name and kind.
func (f *Frame) Numbers(name string) []float64 {
	if c := f.Column(name); c != nil && c.Kind == Number {
		return c.Numbers
	}
	return nil
}

// Vectors returns the values of a vector column; nil where there is none of that name and kind.
func (f *Frame) Vectors(name string) [][]float32 {
	if c := f.Column(name); c != nil && c.Kind == Vector {
		return c.Vectors
	}
	return nil
}

// Images returns the values of an image column; nil where there is none of that name and kind.
func (f *Frame) Images(name string) []Image {
	if c := f.Column(name); c != nil && c.Kind == Picture {
		return c.Images
	}
	return nil
}

// Masks returns the values of a mask column; nil where there is none of that name and kind.
func (f *Frame) Masks(name string) []Mask {
	if c := f.Column(name); c != nil && c.Kind == Masked {
		return c.Masks
	}
	return nil
}

// Cell returns the value at a row as text, for messages and terminal tables: "" for no value, numbers in the shortest form.
func (c *Column) Cell(row int) string {
	switch c.Kind {
	case Text:
		return c.Texts[row]
	case Number:
		if math.IsNaN(c.Numbers[row]) {
			return ""
		}
		return fmt.Sprintf("%.6g", c.Numbers[row])
	case Picture:
		return c.Images[row].Path
	case Masked:
		if c.Masks[row].Counts == "" {
			return ""
		}
		return fmt.Sprintf("mask %d×%d", c.Masks[row].Size[1], c.Masks[row].Size[0])
	default:
		if c.Vectors[row] == nil {
			return ""
		}
		return fmt.Sprintf("[%d numbers]", len(c.Vectors[row]))
	}
}

// Pick returns the column's rows at the given positions; a negative position gives "no value".
func (c *Column) Pick(rows []int) Column {
	out := Column{ColumnSpec: c.ColumnSpec}
	switch c.Kind {
	case Text:
		out.Texts = pick(c.Texts, rows, "")
	case Number:
		out.Numbers = pick(c.Numbers, rows, math.NaN())
	case Picture:
		out.Images = pick(c.Images, rows, Image{})
	case Masked:
		out.Masks = pick(c.Masks, rows, Mask{})
	default:
		out.Vectors = pick(c.Vectors, rows, nil)
	}
	return out
}

func pick[T any](values []T, rows []int, none T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		if r < 0 {
			out[i] = none
		} else {
			out[i] = values[r]
		}
	}
	return out
}

// NewFrame is a frame of these columns without rows.
func NewFrame(specs []ColumnSpec) *Frame {
	f := &Frame{Columns: make([]Column, len(specs))}
	for i, s := range specs {
		f.Columns[i].ColumnSpec = s
	}
	return f
}

// Add puts a row at the end of a frame of texts and numbers: each goes to the columns of its kind, in order.
func (f *Frame) Add(texts []string, numbers ...float64) {
	for i := range f.Columns {
		if c := &f.Columns[i]; c.Kind == Text {
			c.Texts, texts = append(c.Texts, texts[0]), texts[1:]
		} else {
			c.Numbers, numbers = append(c.Numbers, numbers[0]), numbers[1:]
		}
	}
}

// Pick returns the rows at the given positions, in that order.
func (f *Frame) Pick(rows []int) *Frame {
	out := &Frame{Columns: make([]Column, len(f.Columns))}
	for i := range f.Columns {
		out.Columns[i] = f.Columns[i].Pick(rows)
	}
	return out
}

// With returns the frame with columns added at the end; one of the same name is replaced in place.
func (f *Frame) With(columns ...Column) *Frame {
	out := &Frame{Columns: slices.Clone(f.Columns)}
	for _, c := range columns {
		if at := slices.IndexFunc(out.Columns, func(o Column) bool { return o.Name == c.Name }); at >= 0 {
			out.Columns[at] = c
		} else {
			out.Columns = append(out.Columns, c)
		}
	}
	return out
}

// Check says whether the frame is well formed: every column as long as the first, no name twice.
func (f *Frame) Check() error {
	seen := map[string]bool{}
	for i := range f.Columns {
		c := &f.Columns[i]
		if seen[c.Name] {
			return fmt.Errorf("column %q occurs twice", c.Name)
		}
		seen[c.Name] = true
		if c.Len() != f.Len() {
			return fmt.Errorf("column %q has %d rows, column %q has %d", c.Name, c.Len(), f.Columns[0].Name, f.Len())
		}
	}
	return nil
}

// TextColumn makes a text column.
func TextColumn(name string, values []string) Column {
	return Column{ColumnSpec: ColumnSpec{name, Text}, Texts: values}
}

// NumberColumn makes a number column; NaN is "no value".
func NumberColumn(name string, values []float64) Column {
	return Column{ColumnSpec: ColumnSpec{name, Number}, Numbers: values}
}

// VectorColumn makes a vector column; nil is "no value".
func VectorColumn(name string, values [][]float32) Column {
	return Column{ColumnSpec: ColumnSpec{name, Vector}, Vectors: values}
}

// ImageColumn makes an image column.
func ImageColumn(name string, values []Image) Column {
	return Column{ColumnSpec: ColumnSpec{name, Picture}, Images: values}
}

// MaskColumn makes a mask column.
func MaskColumn(name string, values []Mask) Column {
	return Column{ColumnSpec: ColumnSpec{name, Masked}, Masks: values}
}

// NoColumn returns the error about a column that a table of these columns lacks; it names the most similar one.
func NoColumn(name string, specs []ColumnSpec) error {
	return fmt.Errorf("%w: %q (there are: %s)%s", ErrNoColumn, name, NameList(specs), ColumnHint(name, specs))
}

// ColumnHint returns the end of a message about a missing column: the most similar name of the columns, or "".
func ColumnHint(name string, specs []ColumnSpec) string {
	names := make([]string, len(specs))
	for i, c := range specs {
		names[i] = c.Name
	}
	return Hint(name, names)
}

// NameList joins the names of columns for a message.
func NameList(specs []ColumnSpec) string {
	s := ""
	for i, c := range specs {
		if i > 0 {
			s += ", "
		}
		s += c.Name
	}
	return s
}
