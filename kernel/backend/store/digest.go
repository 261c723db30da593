package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"antipode/datasets/table"
	"antipode/internal/fault"
)

// digestVersion starts the digests of frames.
const digestVersion = "2:"

// FrameDigest returns the digest of a frame's rows in their order. It depends on the content of images, not their
// paths.
func FrameDigest(f *table.Frame) (string, error) {
	h := NewFrameHash(f.Specs())
	if err := h.Add(f); err != nil {
		return "", err
	}
	return h.Sum(), nil
}

// FrameHash computes the [FrameDigest] of a frame that is added part by part. It is the SHA-256 of the columns' names
// and kinds, the number of rows, and the SHA-256 of each column's values.
type FrameHash struct {
	columns []table.ColumnSpec
	values  []hash.Hash
	rows    int
}

// NewFrameHash returns the hash of a frame with these columns.
func NewFrameHash(columns []table.ColumnSpec) *FrameHash {
	h := &FrameHash{columns: columns, values: make([]hash.Hash, len(columns))}
	for i := range h.values {
		h.values[i] = sha256.New()
	}
	return h
}

// Add adds the next rows.
func (h *FrameHash) Add(rows *table.Frame) error {
	if err := rows.Check(); err != nil {
		return err
	}
	if !slices.Equal(h.columns, rows.Specs()) {
		return fmt.Errorf("rows with the columns %s in a table with %s", table.NameList(rows.Specs()),
			table.NameList(h.columns))
	}
	var columns fault.Group
	for i := range rows.Columns {
		columns.Go(func() { hashValues(h.values[i], &rows.Columns[i]) })
	}
	columns.Wait()
	h.rows += rows.Len()
	return nil
}

// Sum returns the digest of the rows so far.
func (h *FrameHash) Sum() string {
	head, _ := json.Marshal(h.columns)
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\x00%s", h.rows, head)
	for _, values := range h.values {
		sum.Write(values.Sum(nil))
	}
	return digestVersion + hex.EncodeToString(sum.Sum(nil))
}

// hashValues writes the values of a column. Texts and vectors follow their lengths; no vector has the length noVector.
// A byte that is not UTF-8 counts as U+FFFD, which it is after a frame was encoded.
func hashValues(to io.Writer, c *table.Column) {
	var b []byte
	text := func(s string) {
		if !utf8.ValidString(s) {
			s = string([]rune(s))
		}
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	for row := range c.Len() {
		switch c.Kind {
		case table.KindText:
			text(c.Texts[row])
		case table.KindNumber:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Numbers[row]))
			if c.Texts != nil {
				text(c.Texts[row])
			}
		case table.KindImage:
			text(c.Images[row].SHA256)
		case table.KindMask:
			m := &c.Masks[row]
			b = binary.LittleEndian.AppendUint64(b, uint64(m.Size[0]))
			b = binary.LittleEndian.AppendUint64(b, uint64(m.Size[1]))
			text(m.Counts)
		default:
			v := c.Vectors[row]
			if v == nil {
				b = binary.LittleEndian.AppendUint64(b, noVector)
				continue
			}
			b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
		}
		if len(b) >= hashAtOnce {
			to.Write(b)
			b = b[:0]
		}
	}
	to.Write(b)
}

const (
	noVector   = math.MaxUint64
	hashAtOnce = 32 << 10
)
