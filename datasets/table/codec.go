package table

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// A frame travels as: "APF1", the header's length (uint32, little-endian like all that follows), a JSON header with
// the columns and the number of rows, then the columns one after another. Text, image and mask columns are a uint32
// length and a JSON array; numbers are float64; vectors are one uint32 length a row (nullVector = no value), then all
// float32 values.
const (
	frameMagic = "APF1"
	nullVector = math.MaxUint32
	maxHeader  = 1 << 24
	maxRows    = 1 << 31
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
		if c := &f.Columns[i]; c.Kind == KindNumber && c.Texts != nil {
			header.Cells = append(header.Cells, c.Name)
		}
	}
	if err := writeJSON(bw, header); err != nil {
		return err
	}
	var buf [8]byte
	for i := range f.Columns {
		c := &f.Columns[i]
		switch c.Kind {
		case KindText:
			if err := writeJSON(bw, c.Texts); err != nil {
				return err
			}
		case KindImage:
			if err := writeJSON(bw, c.Images); err != nil {
				return err
			}
		case KindMask:
			if err := writeJSON(bw, c.Masks); err != nil {
				return err
			}
		case KindNumber:
			for _, v := range c.Numbers {
				binary.LittleEndian.PutUint64(buf[:], math.Float64bits(v))
				bw.Write(buf[:8])
			}
			if c.Texts != nil {
				if err := writeJSON(bw, c.Texts); err != nil {
					return err
				}
			}
		case KindVector:
			for _, v := range c.Vectors {
				n := uint32(len(v))
				if v == nil {
					n = nullVector
				}
				binary.LittleEndian.PutUint32(buf[:], n)
				bw.Write(buf[:4])
			}
			for _, v := range c.Vectors {
				for _, x := range v {
					binary.LittleEndian.PutUint32(buf[:], math.Float32bits(x))
					bw.Write(buf[:4])
				}
			}
		default:
			return fmt.Errorf("column %q has the unknown kind %q", c.Name, c.Kind)
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
		var err error
		switch spec.Kind {
		case KindText:
			err = readJSON(br, &c.Texts, math.MaxUint32)
		case KindImage:
			err = readJSON(br, &c.Images, math.MaxUint32)
		case KindMask:
			err = readJSON(br, &c.Masks, math.MaxUint32)
		case KindNumber:
			if c.Numbers, err = readNumbers(br, h.Rows); err == nil && slices.Contains(h.Cells, spec.Name) {
				err = readJSON(br, &c.Texts, math.MaxUint32)
			}
		case KindVector:
			c.Vectors, err = readVectors(br, h.Rows)
		default:
			err = fmt.Errorf("unknown kind %q", spec.Kind)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", spec.Name, err)
		}
		if c.Len() != h.Rows || spec.Kind == KindNumber && c.Texts != nil && len(c.Texts) != h.Rows {
			return nil, fmt.Errorf("column %q: %d values in a table of %d rows", spec.Name, c.Len(), h.Rows)
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

func readNumbers(r io.Reader, rows int) ([]float64, error) {
	out := make([]float64, 0, min(rows, 1<<16))
	var buf [8]byte
	for range rows {
		if _, err := io.ReadFull(r, buf[:]); err != nil {
			return nil, err
		}
		out = append(out, math.Float64frombits(binary.LittleEndian.Uint64(buf[:])))
	}
	return out, nil
}

func readVectors(r io.Reader, rows int) ([][]float32, error) {
	lengths := make([]uint32, 0, min(rows, 1<<16))
	var buf [4]byte
	for range rows {
		if _, err := io.ReadFull(r, buf[:]); err != nil {
			return nil, err
		}
		lengths = append(lengths, binary.LittleEndian.Uint32(buf[:]))
	}
	out := make([][]float32, rows)
	var raw []byte
	for i, n := range lengths {
		if n == nullVector {
			continue
		}
		if n > maxHeader {
			return nil, fmt.Errorf("a damaged table: a vector of %d numbers", n)
		}
		if cap(raw) < int(n)*4 {
			raw = make([]byte, n*4)
		}
		if _, err := io.ReadFull(r, raw[:n*4]); err != nil {
			return nil, err
		}
		out[i] = make([]float32, n)
		for j := range out[i] {
			out[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[j*4:]))
		}
	}
	return out, nil
}
