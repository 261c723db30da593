package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// A frame travels as: "APF2", the header's length (uint32, little-endian), a JSON header with the columns and the
// number of rows, then the columns one after another, each as its values ([AppendValue]).
const (
	frameMagic = "APF2"
	maxHeader  = 1 << 24
	maxRows    = 1 << 31
	maxVector  = 1 << 26 // bytes
)

type frameHeader struct {
	Columns []ColumnSpec `json:"columns"`
	Rows    int          `json:"rows"`
	Cells   []string     `json:"cells,omitempty"` // number columns that have Texts, which follow the numbers
}

// Encode writes the frame in the form Decode reads.
func (f *Frame) Encode(w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	bw.WriteString(frameMagic)
	header := frameHeader{Columns: f.Specs(), Rows: f.Len()}
	for i := range f.Columns {
		if c := &f.Columns[i]; c.hasCells() {
			header.Cells = append(header.Cells, c.Name)
		}
	}
	if err := writeJSON(bw, header); err != nil {
		return err
	}
	var buf []byte
	for i := range f.Columns {
		c := &f.Columns[i]
		k, known := c.Kind.of()
		if !known {
			return fmt.Errorf("column %q: the unknown kind %q", c.Name, c.Kind)
		}
		for row := range c.Len() {
			buf = k.encoded(buf[:0], c, row)
			bw.Write(buf)
		}
		if c.hasCells() {
			for _, cell := range c.Texts {
				buf = texts.encode(buf[:0], cell)
				bw.Write(buf)
			}
		}
	}
	return bw.Flush()
}

func writeJSON(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var n [4]byte
	binary.LittleEndian.PutUint32(n[:], uint32(len(data)))
	if _, err := w.Write(n[:]); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Decode reads a frame that Encode wrote. It checks what it reads: a damaged stream is an error.
func Decode(r io.Reader) (*Frame, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	magic := make([]byte, 4)
	if _, err := io.ReadFull(br, magic); err != nil || string(magic) != frameMagic {
		return nil, fmt.Errorf("not a table in Antipode's own format")
	}
	var h frameHeader
	if err := readJSON(br, &h, maxHeader); err != nil {
		return nil, err
	}
	if h.Rows < 0 || h.Rows > maxRows {
		return nil, fmt.Errorf("a damaged table: %d rows", h.Rows)
	}
	f := &Frame{Columns: make([]Column, len(h.Columns))}
	for i, spec := range h.Columns {
		c := &f.Columns[i]
		c.ColumnSpec = spec
		err := readValues(br, c, h.Rows)
		if err == nil && spec.Kind == KindNumber && slices.Contains(h.Cells, spec.Name) {
			texts := TextColumn(spec.Name, nil)
			err = readValues(br, &texts, h.Rows)
			c.Texts = texts.Texts
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", spec.Name, err)
		}
	}
	return f, nil
}

func readJSON(r io.Reader, v any, limit uint32) error {
	var n [4]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(n[:])
	if size > limit {
		return fmt.Errorf("a damaged table: a block of %d bytes", size)
	}
	lr := &io.LimitedReader{R: r, N: int64(size)}
	data, err := io.ReadAll(lr)
	if err != nil {
		return err
	}
	if lr.N != 0 {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(data, v)
}

func readValues(r *bufio.Reader, c *Column, rows int) error {
	k, known := c.Kind.of()
	if !known {
		return fmt.Errorf("unknown kind %q", c.Kind)
	}
	var length [4]byte
	var data bytes.Buffer
	for range rows {
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(length[:])
		if n == noVector {
			k.add(c, Value{})
			continue
		}
		if c.Kind == KindVector && n > maxVector {
			return fmt.Errorf("a damaged table: a vector of %d bytes", n)
		}
		data.Reset()
		if _, err := io.CopyN(&data, r, int64(n)); err != nil {
			return io.ErrUnexpectedEOF
		}
		if !k.addEncoded(c, data.Bytes()) {
			return ErrDamaged
		}
	}
	return nil
}
