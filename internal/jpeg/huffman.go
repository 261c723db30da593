package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// lookahead is the number of bits that index the fast table of a Huffman code.
const lookahead = 10

type huffman struct {
	// fast is indexed by the next bits of the data. An entry holds the bits to skip, 8 bits; the symbol, which is the
	// size in bits of the value that follows, 4, and a run of zeros, 4; and the value itself, 16 bits signed, where
	// code and value fit into the index: then they are skipped together and the value is not 0. An entry of 0 is a
	// code that is longer.
	fast    [1 << lookahead]uint32
	limit   [18]uint32 // by length: the first code that is longer, as the top of 16 bits
	offset  [17]int32  // by length: index in symbols of the code 0
	symbols []uint8
}

var errHuffman = errors.New("damaged image data: an invalid Huffman code")

// newHuffman reads a code: the number of symbols of each length, and the symbols. It returns the bytes read.
func newHuffman(b []byte, dc bool) (*huffman, int, error) {
	h, total, code := &huffman{}, 0, uint32(0)
	for length := 1; length <= 16; length++ {
		n := int(b[length-1])
		h.offset[length] = int32(total) - int32(code)
		code += uint32(n)
		if total += n; code > 1<<length || total > 256 {
			return nil, 0, errors.New("a damaged Huffman table")
		}
		h.limit[length] = code << (16 - length)
		code <<= 1
	}
	h.limit[17] = 1 << 16
	if len(b) < 16+total {
		return nil, 0, errors.New("a damaged Huffman table")
	}
	h.symbols = b[16 : 16+total]
	index, symbols := uint32(0), h.symbols
	for length := 1; length <= lookahead; length++ {
		for range int(b[length-1]) {
			h.put(index, symbols[0], length)
			index += 1 << (lookahead - length)
			symbols = symbols[1:]
		}
	}
	for _, symbol := range h.symbols {
		if dc && symbol > 15 {
			return nil, 0, errors.New("a damaged Huffman table")
		}
	}
	return h, 16 + total, nil
}

// put sets the entries of the fast table, from index on, that start with the code of a symbol.
func (h *huffman) put(index uint32, symbol uint8, length int) {
	e, size, rest := uint32(symbol)<<8|uint32(length), int(symbol&15), lookahead-length
	if size == 0 || size > rest {
		for i := range h.fast[index : index+1<<rest] {
			h.fast[index+uint32(i)] = e
		}
		return
	}
	rest -= size
	for v := range uint32(1) << size {
		with := e + uint32(uint16(extend(v, uint32(size))))<<16 + uint32(size)
		for range 1 << rest {
			h.fast[index] = with
			index++
		}
	}
}

// extend returns the value that size bits stand for: the lower half of the codes are the negative values.
func extend(bits, size uint32) int32 {
	v := int32(bits)
	if v < 1<<(size-1) {
		v += 1 - 1<<size
	}
	return v
}

// bitReader reads bits of the data between two markers.
type bitReader struct {
	acc uint64 // the next bits, the first one at the top
	n   uint   // valid bits of acc
	pos int    // of the next byte of buf to read
	end int    // of the data in buf, which is followed by padding zeros
	buf []byte
}

const padding = 16

// fill makes at least 56 bits of acc valid; after the end they are zeros.
func (r *bitReader) fill() {
	if r.pos+8 <= len(r.buf) {
		r.acc |= binary.BigEndian.Uint64(r.buf[r.pos:]) >> r.n
		r.pos += int(63-r.n) >> 3
	}
	r.n |= 56
}

// take returns the next bits, at most 16.
func (r *bitReader) take(bits uint) uint32 {
	if r.n < bits {
		r.fill()
	}
	v := uint32(r.acc >> 1 >> (63 - bits))
	r.acc <<= bits
	r.n -= bits
	return v
}

// find is the entry of the code at the top of acc, or 0.
func (h *huffman) find(acc uint64) uint32 {
	if e := h.fast[acc>>(64-lookahead)]; e != 0 {
		return e
	}
	return h.long(acc)
}

// long is find for a code that the fast table does not hold.
func (h *huffman) long(acc uint64) uint32 {
	code, length := uint32(acc>>48), lookahead+1
	for code >= h.limit[length] {
		length++
	}
	if length > 16 {
		return 0
	}
	return uint32(h.symbols[int32(code>>(16-length))+h.offset[length]])<<8 | uint32(length)
}

// over reports whether more bits were read than there are.
func (r *bitReader) over() bool { return 8*r.pos-int(r.n) > 8*r.end }

// segment copies the data up to the next marker, without the zeros that follow a byte 0xff, and returns the data
// after it.
func (r *bitReader) segment(data []byte) []byte {
	buf := r.buf[:0]
	if buf == nil { // the first of the file is often the only one
		buf = make([]byte, 0, len(data)+padding)
	}
	for {
		i := bytes.IndexByte(data, 0xff)
		if i < 0 {
			buf, data = append(buf, data...), nil
			break
		}
		buf = append(buf, data[:i]...)
		data = data[i:]
		for len(data) > 1 && data[1] == 0xff {
			data = data[1:]
		}
		if len(data) < 2 || data[1] != 0 {
			break
		}
		buf, data = append(buf, 0xff), data[2:]
	}
	end := len(buf)
	*r = bitReader{end: end, buf: append(buf, make([]byte, padding)...)}
	return data
}
