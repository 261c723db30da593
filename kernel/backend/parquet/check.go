package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"antipode/datasets/table"
)

// The library allocates what lengths and counts in a file claim. check reads them first.
const (
	maxFooter   = 64 << 20
	maxElements = 1 << 20 // of all lists of the footer or of a page's header, such as columns × row groups
	maxDepth    = 64      // of nested columns, and of nested structs of Thrift
	valueBytes  = 24      // that a value takes while its row is read
)

var (
	errShort   = errors.New("the file ends too early")
	errDamaged = errors.New("a length in it is wrong")
)

// check reads the footer and the headers of all pages and refuses lengths beyond the file and more values than the
// budget has room for.
func check(f io.ReaderAt, size int64, budget *table.Budget) error {
	var tail [8]byte
	if size < 12 {
		return errShort
	}
	if _, err := f.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 || string(tail[4:]) != "PAR1" {
		return errors.New("its last bytes are not those of a Parquet file")
	}
	if n > maxFooter {
		return fmt.Errorf("its footer has %d MiB, more than %d", n>>20, maxFooter>>20)
	}
	footer := make([]byte, n)
	if _, err := f.ReadAt(footer, size-8-n); err != nil {
		return err
	}
	var meta format.FileMetaData
	if _, err := decode(footer, &meta); err != nil {
		return err
	}
	if err := checkSchema(meta.Schema); err != nil {
		return err
	}
	rows := int64(0)
	for _, g := range meta.RowGroups {
		if rows += g.NumRows; g.NumRows < 0 || g.NumRows > table.MaxRows {
			rows = max(rows, g.NumRows)
			break
		}
	}
	if err := table.CheckRows(max(rows, meta.NumRows), 0); err != nil {
		return err
	}
	for _, g := range meta.RowGroups {
		for i := range g.Columns {
			if err := checkPages(f, size-8-n, &g.Columns[i].MetaData, budget); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSchema bounds the number of columns, and how deep they are nested.
func checkSchema(schema []format.SchemaElement) error {
	open := make([]int64, 0, maxDepth) // per level: the children that are still to come
	for i, e := range schema {
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if i > 0 && len(open) == 0 {
			return errDamaged
		}
		if i > 0 {
			open[len(open)-1]--
		}
		if children := int64(e.NumChildren.V); children != 0 {
			if children < 0 || children > int64(len(schema)) || len(open) == maxDepth {
				return errDamaged
			}
			if i == 0 {
				if err := table.CheckRows(0, children); err != nil {
					return err
				}
			}
			open = append(open, children)
		}
	}
	return nil
}

// checkPages checks the pages of a column, which end before end.
func checkPages(f io.ReaderAt, end int64, m *format.ColumnMetaData, budget *table.Budget) error {
	at := m.DataPageOffset
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < at {
		at = m.DictionaryPageOffset
	}
	if at < 0 || m.TotalCompressedSize < 0 || m.TotalCompressedSize > end || at > end-m.TotalCompressedSize {
		return errDamaged
	}
	end = at + m.TotalCompressedSize
	for at < end {
		var h format.PageHeader
		n, err := header(f, at, end, &h)
		if err != nil {
			return err
		}
		at += n
		if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > end-at || h.UncompressedPageSize < 0 {
			return errDamaged
		}
		at += int64(h.CompressedPageSize)
		values := max(h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, h.DictionaryPageHeader.V.NumValues)
		if values < 0 {
			return errDamaged
		}
		if err := budget.Take(int64(h.UncompressedPageSize) + valueBytes*int64(values)); err != nil {
			return err
		}
	}
	return nil
}

// header decodes the header of the page at an offset and returns its length.
func header(f io.ReaderAt, at, end int64, h *format.PageHeader) (int64, error) {
	for window := int64(1 << 10); ; window *= 16 {
		b := make([]byte, min(window, end-at))
		if _, err := f.ReadAt(b, at); err != nil {
			return 0, err
		}
		n, err := decode(b, h)
		if !errors.Is(err, errShort) || int64(len(b)) == end-at || window > 16<<20 {
			return int64(n), err
		}
	}
}

// decode decodes the struct at the beginning of b and returns its length.
func decode(b []byte, to any) (int, error) {
	s := skipper{elements: maxElements}
	rest, err := s.structure(b, 0)
	if err != nil {
		return 0, err
	}
	n := len(b) - len(rest)
	return n, thrift.Unmarshal(&thrift.CompactProtocol{}, b[:n], to)
}

// skipper passes over values of Thrift's compact protocol.
type skipper struct {
	elements int // that lists may still have
}

func (s *skipper) structure(b []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errDamaged
	}
	for {
		if len(b) == 0 {
			return nil, errShort
		}
		kind := b[0]
		b = b[1:]
		if kind == 0 {
			return b, nil
		}
		var err error
		if kind>>4 == 0 { // the field's number follows
			if _, b, err = varint(b); err != nil {
				return nil, err
			}
		}
		if kind &= 0xf; kind != 1 && kind != 2 { // the type of a boolean field is its value
			if b, err = s.value(b, kind, depth); err != nil {
				return nil, err
			}
		}
	}
}

// value passes over a value of a kind.
func (s *skipper) value(b []byte, kind byte, depth int) ([]byte, error) {
	fixed := func(n uint64) ([]byte, error) {
		if n > uint64(len(b)) {
			return nil, errShort
		}
		return b[n:], nil
	}
	switch kind {
	case 1, 2, 3: // boolean or byte
		return fixed(1)
	case 4, 5, 6: // integer
		_, b, err := varint(b)
		return b, err
	case 7: // double
		return fixed(8)
	case 8: // bytes
		n, rest, err := varint(b)
		if b = rest; err != nil {
			return nil, err
		}
		return fixed(n)
	case 9, 10: // list, set
		if len(b) == 0 {
			return nil, errShort
		}
		n, element := uint64(b[0]>>4), b[0]&0xf
		b = b[1:]
		var err error
		if n == 15 {
			if n, b, err = varint(b); err != nil {
				return nil, err
			}
		}
		return s.values(b, n, depth, element)
	case 11: // map
		n, b, err := varint(b)
		if err != nil || n == 0 {
			return b, err
		}
		if len(b) == 0 {
			return nil, errShort
		}
		return s.values(b[1:], n, depth, b[0]>>4, b[0]&0xf)
	case 12:
		return s.structure(b, depth+1)
	}
	return nil, errDamaged
}

// values passes over n values, or pairs, of kinds.
func (s *skipper) values(b []byte, n uint64, depth int, kinds ...byte) ([]byte, error) {
	if n > uint64(s.elements) || depth > maxDepth {
		return nil, errDamaged
	}
	s.elements -= int(n)
	for range n {
		for _, kind := range kinds {
			var err error
			if b, err = s.value(b, kind, depth+1); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

func varint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n == 0 {
		return 0, nil, errShort
	}
	if n < 0 {
		return 0, nil, errDamaged
	}
	return v, b[n:], nil
}
