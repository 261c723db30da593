package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Value is the value of one row in a column: the field of the column's kind is used. A nil Vector is "no value".
type Value struct {
	Text   string
	Number float64
	Image  Image
	Mask   Mask
	Vector []float32
}

// Value returns the value of a row.
func (c *Column) Value(row int) Value { return c.of().get(c, row) }

// Add appends the value of one more row.
func (c *Column) Add(v Value) { c.of().add(c, v) }

// Any returns the value of a row as it is in the column's slice.
func (c *Column) Any(row int) any { return c.of().any(c, row) }

// AddAny appends a value of the type of the column's slice; one of another type, such as nil, is "no value".
func (c *Column) AddAny(x any) { c.of().addAny(c, x) }

// KindOf returns the kind of the columns that hold a Go value; "" = none does.
func KindOf(x any) Kind {
	for _, k := range kinds {
		if k.holds(x) {
			return k.name
		}
	}
	return ""
}

// Missing reports whether a row has no value.
func (c *Column) Missing(row int) bool { return c.of().isMissing(c, row) }

// Hash writes what the digest of a frame depends on in the column: the content of images, not their paths.
func (c *Column) Hash(to io.Writer) { c.of().hash(c, to) }

// ErrDamaged is wrapped by the errors of values that cannot be decoded.
var ErrDamaged = errors.New("a damaged value")

// AppendValue appends a value of a column of some kind in the form that [CutValue] reads. Items of the store, frames
// and the messages between processes hold values in this form.
func AppendValue(b []byte, kind Kind, v Value) ([]byte, error) {
	c := Column{ColumnSpec: ColumnSpec{Kind: kind}}
	k, known := kind.of()
	if !known {
		return nil, fmt.Errorf("the unknown kind %q", kind)
	}
	k.add(&c, v)
	return k.encoded(b, &c, 0), nil
}

// CutValue returns the value at the beginning of b, and what follows it. Errors wrap [ErrDamaged].
func CutValue(b []byte, kind Kind) (v Value, rest []byte, err error) {
	if len(b) < 4 {
		return v, nil, ErrDamaged
	}
	n := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if n == noVector {
		return v, b, nil
	}
	c := Column{ColumnSpec: ColumnSpec{Kind: kind}}
	if uint64(n) > uint64(len(b)) || !c.of().addEncoded(&c, b[:n]) {
		return v, nil, ErrDamaged
	}
	return c.Value(0), b[n:], nil
}
