package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
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
func (c *Column) Value(row int) (v Value) {
	switch c.Kind {
	case KindText:
		v.Text = c.Texts[row]
	case KindNumber:
		v.Number = c.Numbers[row]
	case KindImage:
		v.Image = c.Images[row]
	case KindMask:
		v.Mask = c.Masks[row]
	default:
		v.Vector = c.Vectors[row]
	}
	return v
}

// Add appends the value of one more row.
func (c *Column) Add(v Value) {
	switch c.Kind {
	case KindText:
		c.Texts = append(c.Texts, v.Text)
	case KindNumber:
		c.Numbers = append(c.Numbers, v.Number)
	case KindImage:
		c.Images = append(c.Images, v.Image)
	case KindMask:
		c.Masks = append(c.Masks, v.Mask)
	default:
		c.Vectors = append(c.Vectors, v.Vector)
	}
}

// A value is encoded as its length in bytes (uint32, little-endian like all numbers; noVector = a nil vector) and, for
// text, its bytes; for a number, a float64; for an image, its digest in 64 characters and its path, or nothing; for
// a mask, height and width (uint32) and its counts; for a vector, float32 values. Items of the store, frames and the
// messages between processes hold values in this form.
const (
	noVector   = math.MaxUint32
	noDigest   = "                                                                " // of an image without one
	maxVector  = 1 << 26                                                            // bytes
	digestSize = len(noDigest)
)

// ErrDamaged is wrapped by the errors of values that cannot be decoded.
var ErrDamaged = errors.New("a damaged value")

// AppendValue appends a value of a column of some kind in the form that [CutValue] reads.
func AppendValue(b []byte, kind Kind, v Value) ([]byte, error) {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	switch kind {
	case KindText:
		b = append(b, v.Text...)
	case KindNumber:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Number))
	case KindImage:
		if v.Image != (Image{}) {
			b = append(append(b, v.Image.SHA256...), noDigest[min(digestSize, len(v.Image.SHA256)):]...)
			b = append(b, v.Image.Path...)
		}
	case KindMask:
		b = binary.LittleEndian.AppendUint32(b, uint32(v.Mask.Size[0]))
		b = binary.LittleEndian.AppendUint32(b, uint32(v.Mask.Size[1]))
		b = append(b, v.Mask.Counts...)
	case KindVector:
		if v.Vector == nil {
			binary.LittleEndian.PutUint32(b[at:], noVector)
			return b, nil
		}
		for _, x := range v.Vector {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	default:
		return nil, fmt.Errorf("the unknown kind %q", kind)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b, nil
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
	if uint64(n) > uint64(len(b)) {
		return v, nil, ErrDamaged
	}
	v, err = decodeValue(b[:n], kind)
	return v, b[n:], err
}

func decodeValue(data []byte, kind Kind) (v Value, err error) {
	n := len(data)
	switch {
	case kind == KindText:
		v.Text = string(data)
	case kind == KindNumber && n == 8:
		v.Number = math.Float64frombits(binary.LittleEndian.Uint64(data))
	case kind == KindImage && n >= digestSize:
		v.Image = Image{SHA256: strings.TrimSpace(string(data[:digestSize])), Path: string(data[digestSize:])}
	case kind == KindMask && n >= 8:
		v.Mask = Mask{Size: [2]int{int(binary.LittleEndian.Uint32(data)), int(binary.LittleEndian.Uint32(data[4:]))},
			Counts: string(data[8:])}
	case kind == KindVector && n%4 == 0:
		v.Vector = make([]float32, n/4)
		for i := range v.Vector {
			v.Vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case kind != KindImage || n > 0:
		return v, ErrDamaged
	}
	return v, nil
}
