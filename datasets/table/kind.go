package table

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// Kind is the type of a column.
type Kind string

// The kinds of columns.
const (
	KindText   Kind = "text"   // UTF-8 text; the empty string is a value
	KindNumber Kind = "number" // float64; NaN means "no value" (null)
	KindImage  Kind = "image"  // an image: content hash and the path of a readable file
	KindMask   Kind = "mask"   // a binary mask as COCO compressed run lengths
	KindVector Kind = "vector" // []float32; nil means "no value" (null), never zeros
)

// kind describes the columns of a kind, whose values have the Go type T. A new kind is one more such variable in kinds,
// with a field of [Column] and of [Value], which [Same] compares, and its Parquet type in package
// kernel/backend/parquet.
type kind[T any] struct {
	column  func(c *Column) *[]T // the field that holds the values
	value   func(v *Value) *T
	none    T // what a row without a value gets
	missing func(x T) bool
	cell    func(x T) string // for messages; of a value that is not missing, as csv
	csv     func(x T) string // nil = as JSON
	parse   func(column string, cells []string) ([]T, error)

	// The encoding of a value: its length in bytes (uint32, little-endian like all numbers) and these bytes.
	encode func(b []byte, x T) []byte
	decode func(data []byte) (x T, ok bool) // without the length
	digest func(b []byte, x T) []byte       // appends what the digest of a frame depends on
}

var kinds = []struct {
	name Kind
	values
}{{KindText, texts}, {KindNumber, numbers}, {KindImage, images}, {KindMask, masks}, {KindVector, vectors}}

var texts = &kind[string]{
	column:  func(c *Column) *[]string { return &c.Texts },
	value:   func(v *Value) *string { return &v.Text },
	missing: func(x string) bool { return x == "" },
	cell:    func(x string) string { return x },
	encode:  func(b []byte, x string) []byte { return append(sized(b, len(x)), x...) },
	decode:  func(data []byte) (string, bool) { return string(data), true },
	digest:  digestText,
}

// digestText appends a text after its length. A byte that is not UTF-8 counts as U+FFFD, which it is after a frame was
// encoded.
func digestText(b []byte, x string) []byte {
	if !utf8.ValidString(x) {
		x = string([]rune(x))
	}
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(x))), x...)
}

var numbers = &kind[float64]{
	column:  func(c *Column) *[]float64 { return &c.Numbers },
	value:   func(v *Value) *float64 { return &v.Number },
	none:    math.NaN(),
	missing: math.IsNaN,
	cell:    func(x float64) string { return fmt.Sprintf("%.6g", x) },
	csv:     NumberText,
	encode:  func(b []byte, x float64) []byte { return digestNumber(sized(b, 8), x) },
	decode: func(data []byte) (x float64, ok bool) {
		if len(data) != 8 {
			return 0, false
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(data)), true
	},
	digest: digestNumber,
	parse: func(column string, cells []string) ([]float64, error) {
		out, err := NumberFormat{}.ParseNumbers(cells)
		if err != nil {
			err = fmt.Errorf("column %q holds text, not numbers: %w; Cast(%q, \"number\") (--cast %s=number) makes "+
				"such values missing", column, err, column, column)
		}
		return out, err
	},
}

func digestNumber(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// images have as their encoding the digest in 64 characters and the path, or nothing.
var images = &kind[Image]{
	column:  func(c *Column) *[]Image { return &c.Images },
	value:   func(v *Value) *Image { return &v.Image },
	missing: func(x Image) bool { return x.Path == "" },
	cell:    func(x Image) string { return x.Path },
	csv:     func(x Image) string { return x.Path },
	encode: func(b []byte, x Image) []byte {
		if x == (Image{}) {
			return sized(b, 0)
		}
		digest := x.SHA256 + noDigest[min(digestSize, len(x.SHA256)):]
		return append(append(sized(b, len(digest)+len(x.Path)), digest...), x.Path...)
	},
	decode: func(data []byte) (x Image, ok bool) {
		if len(data) < digestSize {
			return x, len(data) == 0
		}
		return Image{SHA256: strings.TrimSpace(string(data[:digestSize])), Path: string(data[digestSize:])}, true
	},
	digest: func(b []byte, x Image) []byte { return digestText(b, x.SHA256) },
}

const (
	noDigest   = "                                                                " // of an image without one
	digestSize = len(noDigest)
)

// masks have as their encoding height and width (uint32) and the counts.
var masks = &kind[Mask]{
	column:  func(c *Column) *[]Mask { return &c.Masks },
	value:   func(v *Value) *Mask { return &v.Mask },
	missing: func(x Mask) bool { return x.Counts == "" },
	cell:    func(x Mask) string { return fmt.Sprintf("mask %d×%d", x.Size[1], x.Size[0]) },
	encode: func(b []byte, x Mask) []byte {
		return append(sized(sized(sized(b, 8+len(x.Counts)), x.Size[0]), x.Size[1]), x.Counts...)
	},
	decode: func(data []byte) (x Mask, ok bool) {
		var size [2]uint32
		n, err := binary.Decode(data, binary.LittleEndian, &size)
		return Mask{Size: [2]int{int(size[0]), int(size[1])}, Counts: string(data[n:])}, err == nil
	},
	digest: func(b []byte, x Mask) []byte {
		b = binary.LittleEndian.AppendUint64(b, uint64(x.Size[0]))
		return digestText(binary.LittleEndian.AppendUint64(b, uint64(x.Size[1])), x.Counts)
	},
}

// vectors have the length noVector for nil.
var vectors = &kind[[]float32]{
	column:  func(c *Column) *[][]float32 { return &c.Vectors },
	value:   func(v *Value) *[]float32 { return &v.Vector },
	missing: func(x []float32) bool { return x == nil },
	cell:    func(x []float32) string { return fmt.Sprintf("[%d numbers]", len(x)) },
	encode: func(b []byte, x []float32) []byte {
		if x == nil {
			return sized(b, noVector)
		}
		return appendFloats(sized(b, 4*len(x)), x)
	},
	decode: func(data []byte) ([]float32, bool) {
		x := make([]float32, len(data)/4)
		_, err := binary.Decode(data, binary.LittleEndian, x)
		return x, err == nil && len(data)%4 == 0
	},
	digest: func(b []byte, x []float32) []byte {
		if x == nil {
			return binary.LittleEndian.AppendUint64(b, math.MaxUint64)
		}
		return appendFloats(binary.LittleEndian.AppendUint64(b, uint64(len(x))), x)
	},
	parse: func(column string, cells []string) ([][]float32, error) {
		out := make([][]float32, len(cells))
		for row, cell := range cells {
			if cell != "" && (json.Unmarshal([]byte(cell), &out[row]) != nil || out[row] == nil) {
				return nil, fmt.Errorf("column %q holds text, not vectors: row %d holds %.40q, which is not a list of "+
					"numbers such as [0.1, 0.2]", column, row+1, cell)
			}
		}
		return out, nil
	},
}

const noVector = math.MaxUint32

func appendFloats(b []byte, x []float32) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// sized appends a size in bytes or pixels.
func sized(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }

// values is what a kind does with the values of its columns.
type values interface {
	len(c *Column) int
	pick(to, c *Column, rows []int)
	span(to, c *Column, from, until int)
	extend(c, more *Column)
	get(c *Column, row int) Value
	add(c *Column, v Value)
	any(c *Column, row int) any
	holds(x any) bool
	addAny(c *Column, x any)
	isMissing(c *Column, row int) bool
	text(c *Column, row int, csv bool) string
	encoded(b []byte, c *Column, row int) []byte
	addEncoded(c *Column, data []byte) bool
	hash(c *Column, to io.Writer)
	addParsed(c *Column, cells []string) error
}

// of returns what a kind does; a column of an unknown kind has no values.
func (k Kind) of() (_ values, known bool) {
	for i := range kinds {
		if kinds[i].name == k {
			return kinds[i].values, true
		}
	}
	return vectors, false
}

// Known reports whether there is such a kind.
func (k Kind) Known() bool {
	_, known := k.of()
	return known
}

func (c *Column) of() values {
	k, _ := c.Kind.of()
	return k
}

func (k *kind[T]) at(c *Column, row int) T        { return (*k.column(c))[row] }
func (k *kind[T]) len(c *Column) int              { return len(*k.column(c)) }
func (k *kind[T]) pick(to, c *Column, rows []int) { *k.column(to) = pick(*k.column(c), rows, k.none) }
func (k *kind[T]) span(to, c *Column, from, until int) {
	*k.column(to) = span(*k.column(c), from, until)
}
func (k *kind[T]) extend(c, more *Column)            { *k.column(c) = append(*k.column(c), *k.column(more)...) }
func (k *kind[T]) add(c *Column, v Value)            { k.push(c, *k.value(&v)) }
func (k *kind[T]) any(c *Column, row int) any        { return k.at(c, row) }
func (k *kind[T]) isMissing(c *Column, row int) bool { return k.missing(k.at(c, row)) }

func (k *kind[T]) encoded(b []byte, c *Column, row int) []byte { return k.encode(b, k.at(c, row)) }

func (k *kind[T]) push(c *Column, x T) {
	at := k.column(c)
	*at = append(*at, x)
}

func (k *kind[T]) get(c *Column, row int) (v Value) {
	*k.value(&v) = k.at(c, row)
	return v
}

func (k *kind[T]) hash(c *Column, to io.Writer) {
	var b []byte
	cells := c.hasCells()
	for row, x := range *k.column(c) {
		if b = k.digest(b, x); cells {
			b = digestText(b, c.Texts[row])
		}
		if len(b) >= hashAtOnce {
			to.Write(b)
			b = b[:0]
		}
	}
	to.Write(b)
}

const hashAtOnce = 32 << 10

func (k *kind[T]) holds(x any) bool {
	_, is := x.(T)
	return is
}

func (k *kind[T]) addAny(c *Column, x any) {
	v, is := x.(T)
	if !is {
		v = k.none
	}
	k.push(c, v)
}

func (k *kind[T]) text(c *Column, row int, csv bool) string {
	x := k.at(c, row)
	switch {
	case k.missing(x):
		return ""
	case !csv:
		return k.cell(x)
	case k.csv != nil:
		return k.csv(x)
	}
	data, _ := json.Marshal(x)
	return string(data)
}

func (k *kind[T]) addEncoded(c *Column, data []byte) bool {
	x, ok := k.decode(data)
	k.push(c, x)
	return ok
}

func (k *kind[T]) addParsed(c *Column, cells []string) (err error) {
	if k.parse == nil {
		return fmt.Errorf("column %q holds %s values, not %s", c.Name, KindText, c.Kind)
	}
	*k.column(c), err = k.parse(c.Name, cells)
	return err
}
