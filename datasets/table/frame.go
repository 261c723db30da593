package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ColumnSpec names a column and its kind.
type ColumnSpec struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Image is a reference to an image: SHA256 is the lower-case hex digest of the file's bytes, Path an absolute path of a
// file that may be read but not changed. The zero Image means "no value".
type Image struct {
	SHA256 string `json:"sha256"`
	Path   string `json:"path"`
	Unread Unread `json:"-"`
}

// Mask is a binary mask in pycocotools' compressed run-length form, non-zero = object. Size is height, width. The
// zero Mask means "no value".
type Mask struct {
	Size   [2]int `json:"size"`
	Counts string `json:"counts"`
	Unread Unread `json:"-"`
}

// Unread is the place of an image or mask that an evaluation has not read yet, because nothing has needed it: its Path
// or Counts is what the table says. The zero value says that it is read, or has no value.
type Unread struct {
	Source      int32 // of those of the evaluation, from 1
	Column, Row int32 // of the source's table, from 0
}

// Column is one column of a Frame. The slice of its Kind is used; its length is the number of rows. A number column may
// also have Texts, its cells in the file that it was read from; see [CellColumn].
type Column struct {
	ColumnSpec
	Texts   []string    `json:"texts,omitempty"`
	Numbers []float64   `json:"-"`
	Images  []Image     `json:"images,omitempty"`
	Masks   []Mask      `json:"masks,omitempty"`
	Vectors [][]float32 `json:"-"`
}

// Frame is a table in memory, the result of a plan. Treat a Frame as read-only; its columns may be shared with other
// frames.
type Frame struct {
	Columns    []Column
	RowNumbers []int // in the table that the rows come from, from 1, for messages; nil = the rows are its first ones
}

// RowNumber returns the number of a row, from 1, in its source.
func (f *Frame) RowNumber(row int) int {
	if f.RowNumbers != nil {
		return f.RowNumbers[row]
	}
	return row + 1
}

// SameRows returns a frame of other columns for the rows of this one.
func (f *Frame) SameRows(columns []Column) *Frame {
	return &Frame{Columns: columns, RowNumbers: f.RowNumbers}
}

// ErrNoColumn is wrapped by errors about a missing column.
var ErrNoColumn = errors.New("no such column")

// Len returns the number of rows.
func (f *Frame) Len() int {
	if f == nil || len(f.Columns) == 0 {
		return 0
	}
	return f.Columns[0].Len()
}

// Len returns the number of rows of the column.
func (c *Column) Len() int { return c.of().len(c) }

// Specs returns the names and kinds of the columns, in order.
func (f *Frame) Specs() []ColumnSpec {
	specs := make([]ColumnSpec, len(f.Columns))
	for i := range f.Columns {
		specs[i] = f.Columns[i].ColumnSpec
	}
	return specs
}

// Column returns the named column, or nil if there is none.
func (f *Frame) Column(name string) *Column {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i]
		}
	}
	return nil
}

// Has reports whether the frame has a column of that name.
func (f *Frame) Has(name string) bool { return f.Column(name) != nil }

// Need returns the named column, as one of the kind ([Column.As]); "" = as it is. The error for a missing column lists
// the columns.
func (f *Frame) Need(name string, kind Kind) (*Column, error) {
	c := f.Column(name)
	if c == nil {
		return nil, NoColumn(name, f.Specs())
	}
	return c.As(kind)
}

// Texts returns the values of a text column, or of one that reads as it ([Column.As]); nil if there is none.
func (f *Frame) Texts(name string) []string { return f.ofKind(name, KindText).Texts }

// Numbers returns the values of a number column, or of one that reads as it ([Column.As]); nil if there is none.
func (f *Frame) Numbers(name string) []float64 { return f.ofKind(name, KindNumber).Numbers }

// Vectors returns the values of a vector column, or of one that reads as it ([Column.As]); nil if there is none.
func (f *Frame) Vectors(name string) [][]float32 { return f.ofKind(name, KindVector).Vectors }

// Images returns the values of an image column, or of one that reads as it ([Column.As]); nil if there is none.
func (f *Frame) Images(name string) []Image { return f.ofKind(name, KindImage).Images }

// Masks returns the values of a mask column, or of one that reads as it ([Column.As]); nil if there is none.
func (f *Frame) Masks(name string) []Mask { return f.ofKind(name, KindMask).Masks }

// ofKind returns the column of that name as one of the kind, or an empty column.
func (f *Frame) ofKind(name string, kind Kind) *Column {
	if c := f.Column(name); c != nil && Fits(c.Kind, kind) {
		if as, err := c.As(kind); err == nil {
			return as
		}
	}
	return &Column{}
}

// Exact returns the value at a row as text that only equal values have, numbers with all their digits: for keys.
func (c *Column) Exact(row int) string {
	if c.Kind == KindNumber {
		return NumberText(c.Numbers[row] + 0) // 0 for -0
	}
	return c.Cell(row)
}

// Cell returns the value at a row as text, for messages and terminal tables: "" for no value, numbers with six digits.
func (c *Column) Cell(row int) string { return c.of().text(c, row, false) }

// Pick returns the column's rows at the given positions; a negative position gives "no value".
func (c *Column) Pick(rows []int) Column {
	out := Column{ColumnSpec: c.ColumnSpec}
	c.of().pick(&out, c, rows)
	if c.hasCells() {
		out.Texts = pick(c.Texts, rows, "")
	}
	return out
}

// hasCells reports whether the column has its cells in a file apart from its values.
func (c *Column) hasCells() bool { return c.Kind == KindNumber && c.Texts != nil }

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

// NewFrame returns a frame of these columns without rows.
func NewFrame(specs []ColumnSpec) *Frame {
	f := &Frame{Columns: make([]Column, len(specs))}
	for i, s := range specs {
		f.Columns[i].ColumnSpec = s
	}
	return f
}

// Add appends a row to a frame of text and number columns: each value goes to the next column of its kind.
func (f *Frame) Add(texts []string, numbers ...float64) {
	for i := range f.Columns {
		if c := &f.Columns[i]; c.Kind == KindText {
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
	if f.RowNumbers != nil {
		out.RowNumbers = pick(f.RowNumbers, rows, 0)
	}
	return out
}

// Slice returns the rows from one position to before another. It shares the values of the frame.
func (f *Frame) Slice(from, to int) *Frame {
	out := &Frame{Columns: make([]Column, len(f.Columns)), RowNumbers: span(f.RowNumbers, from, to)}
	for i := range f.Columns {
		c := &f.Columns[i]
		out.Columns[i] = Column{ColumnSpec: c.ColumnSpec, Texts: span(c.Texts, from, to)}
		c.of().span(&out.Columns[i], c, from, to)
	}
	return out
}

// span returns the values from one position to before another; nil, which holds no values of its kind, stays nil.
func span[T any](values []T, from, to int) []T {
	if values == nil {
		return nil
	}
	return values[from:to:to]
}

// Append adds the rows of a frame with the same columns.
func (f *Frame) Append(rows *Frame) {
	f.RowNumbers = append(f.RowNumbers, rows.RowNumbers...)
	for i := range f.Columns {
		f.Columns[i].Append(&rows.Columns[i])
	}
}

// Append adds the values of a column of the same kind.
func (c *Column) Append(more *Column) {
	if c.hasCells() || more.hasCells() {
		mine, _ := c.As(KindText)
		theirs, _ := more.As(KindText)
		c.Texts = append(mine.Texts, theirs.Texts...)
	}
	c.of().extend(c, more)
}

// With returns the frame with columns added at the end; one of the same name is replaced in place.
func (f *Frame) With(columns ...Column) *Frame {
	out := f.SameRows(slices.Clone(f.Columns))
	for _, c := range columns {
		if at := slices.IndexFunc(out.Columns, func(o Column) bool { return o.Name == c.Name }); at >= 0 {
			out.Columns[at] = c
		} else {
			out.Columns = append(out.Columns, c)
		}
	}
	return out
}

// ShownSuffix ends the name of a text column that is displayed in place of another one; see [Frame.Shown].
const ShownSuffix = "_shown"

// Shown returns the frame as tables and figures display it: where the text column X_shown has a value, it replaces that
// of the text column X. An example is prompt_shown, the masked form of a prompt that names an offensive stereotype; the
// generator reads prompt. The columns X_shown are not part of the result.
func (f *Frame) Shown() *Frame {
	if f == nil {
		return nil
	}
	out := &Frame{}
	for _, c := range f.Columns {
		of, shown := strings.CutSuffix(c.Name, ShownSuffix)
		if shown && c.Kind == KindText && f.Texts(of) != nil {
			continue
		}
		if masked := f.Texts(c.Name + ShownSuffix); c.Kind == KindText && masked != nil {
			c.Texts = slices.Clone(c.Texts)
			for i, text := range masked {
				if text != "" {
					c.Texts[i] = text
				}
			}
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

// WithShown returns the names followed by those of the columns that are displayed in their place, where has reports
// that there is one: a table without X_shown would display X.
func WithShown(names []string, has func(name string) bool) []string {
	out := slices.Clone(names)
	for _, name := range names {
		if shown := name + ShownSuffix; has(shown) && !slices.Contains(out, shown) {
			out = append(out, shown)
		}
	}
	return out
}

// Check returns an error if the columns have different lengths or two of them have the same name.
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

// TextColumn returns a text column.
func TextColumn(name string, values []string) Column {
	return Column{ColumnSpec: ColumnSpec{name, KindText}, Texts: values}
}

// NumberColumn returns a number column; NaN is "no value".
func NumberColumn(name string, values []float64) Column {
	return Column{ColumnSpec: ColumnSpec{name, KindNumber}, Numbers: values}
}

// VectorColumn returns a vector column; nil is "no value".
func VectorColumn(name string, values [][]float32) Column {
	return Column{ColumnSpec: ColumnSpec{name, KindVector}, Vectors: values}
}

// ImageColumn returns an image column.
func ImageColumn(name string, values []Image) Column {
	return Column{ColumnSpec: ColumnSpec{name, KindImage}, Images: values}
}

// MaskColumn returns a mask column.
func MaskColumn(name string, values []Mask) Column {
	return Column{ColumnSpec: ColumnSpec{name, KindMask}, Masks: values}
}

// NoColumn returns the error for a missing column; it lists the columns and names the most similar one.
func NoColumn(name string, specs []ColumnSpec) error {
	return fmt.Errorf("%w: %q (there are: %s)%s", ErrNoColumn, name, NameList(specs), ColumnHint(name, specs))
}

// added names the stage that adds a column.
var added = map[string]string{"image": "generate", "mask": "segment", "caption": "caption", "full": "embed",
	"object_only": "embed", "background_only": "embed", "clip_image": "embed", "clip_text": "embed",
	"clip_image_pooled": "embed",
	"blip2_image":       "embed", "blip2_text": "embed"}

// ColumnHint returns the end of a message about a missing column: the stage that adds it, the most similar name of the
// columns, or "".
func ColumnHint(name string, specs []ColumnSpec) string {
	if hint := Hint(name, names(specs)); hint != "" || added[name] == "" {
		return hint
	}
	return fmt.Sprintf("; the stage %s adds it", added[name])
}

// NameList joins the names of columns for a message.
func NameList(specs []ColumnSpec) string { return strings.Join(names(specs), ", ") }

func names(specs []ColumnSpec) []string {
	out := make([]string, len(specs))
	for i, c := range specs {
		out[i] = c.Name
	}
	return out
}

// Position returns the index of the column of that name, or -1.
func Position(specs []ColumnSpec, name string) int {
	return slices.IndexFunc(specs, func(c ColumnSpec) bool { return c.Name == name })
}
