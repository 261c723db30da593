package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// opcodes is what each opcode does; those with a name only are refused.
var opcodes = [256]struct {
	name string
	do   func(*Reader) error
}{
	0x80: {"PROTO", proto}, 0x95: {"FRAME", frame}, '.': {"STOP", func(*Reader) error { return errStop }},
	'(': {"MARK", mark}, '0': {"POP", drop}, '1': {"POP_MARK", dropMark}, '2': {"DUP", dup},
	'N':  {"NONE", constant(None{})},
	0x88: {"NEWTRUE", constant(Bool(true))}, 0x89: {"NEWFALSE", constant(Bool(false))},
	'J': {"BININT", integer(4)}, 'K': {"BININT1", integer(1)}, 'M': {"BININT2", integer(2)},
	0x8a: {"LONG1", long(1)}, 0x8b: {"LONG4", long(4)}, 'G': {"BINFLOAT", float},
	'T': {"BINSTRING", text(4)}, 'U': {"SHORT_BINSTRING", text(1)}, 'X': {"BINUNICODE", text(4)},
	0x8c: {"SHORT_BINUNICODE", text(1)}, 0x8d: {"BINUNICODE8", text(8)},
	'B': {"BINBYTES", raw(4)}, 'C': {"SHORT_BINBYTES", raw(1)}, 0x8e: {"BINBYTES8", raw(8)},
	0x96: {"BYTEARRAY8", raw(8)},
	')':  {"EMPTY_TUPLE", constant(Tuple{})}, 't': {"TUPLE", tuple},
	0x85: {"TUPLE1", tupleOf(1)}, 0x86: {"TUPLE2", tupleOf(2)}, 0x87: {"TUPLE3", tupleOf(3)},
	']': {"EMPTY_LIST", emptyList}, 'a': {"APPEND", appendOne}, 'e': {"APPENDS", appendAll},
	'}': {"EMPTY_DICT", emptyDict}, 's': {"SETITEM", setOne}, 'u': {"SETITEMS", setAll},
	0x8f: {"EMPTY_SET", emptySet}, 0x90: {"ADDITEMS", addItems}, 0x91: {"FROZENSET", frozenSet},
	'q': {"BINPUT", put(1)}, 'r': {"LONG_BINPUT", put(4)}, 0x94: {"MEMOIZE", memoize},
	'h': {"BINGET", get(1)}, 'j': {"LONG_BINGET", get(4)},
	'c': {"GLOBAL", global}, 0x93: {"STACK_GLOBAL", stackGlobal},
	'R': {"REDUCE", reduce}, 'b': {"BUILD", build}, 0x81: {"NEWOBJ", newObject}, 0x92: {"NEWOBJ_EX", newObjectEx},
	'Q': {"BINPERSID", persistent},

	'P': {name: "PERSID"}, 'F': {name: "FLOAT"}, 'I': {name: "INT"}, 'L': {name: "LONG"}, 'S': {name: "STRING"},
	'V': {name: "UNICODE"}, 'g': {name: "GET"}, 'p': {name: "PUT"}, 'l': {name: "LIST"}, 'd': {name: "DICT"},
	'i': {name: "INST"}, 'o': {name: "OBJ"}, 0x82: {name: "EXT1"}, 0x83: {name: "EXT2"}, 0x84: {name: "EXT4"},
	0x97: {name: "NEXT_BUFFER"}, 0x98: {name: "READONLY_BUFFER"},
}

func proto(r *Reader) error {
	n, err := r.number(1)
	if err == nil && n > 5 {
		err = fmt.Errorf("protocol %d, of which 5 is the last known", n)
	}
	return err
}

func frame(r *Reader) error {
	n, err := r.number(8)
	if err == nil && n > uint64(len(r.data)-r.at) {
		err = fmt.Errorf("%d bytes, of which %d remain", n, len(r.data)-r.at)
	}
	return err
}

func mark(r *Reader) error {
	if len(r.marks) >= r.limits.Marks {
		return fmt.Errorf("more than %d marks", r.limits.Marks)
	}
	r.marks = append(r.marks, r.stack.n)
	return nil
}

func drop(r *Reader) error {
	if len(r.marks) > 0 && r.stack.n == r.bottom() {
		return dropMark(r)
	}
	_, err := r.pop()
	return err
}

func dropMark(r *Reader) error {
	height, err := r.unmark()
	if err == nil {
		r.stack.cut(height)
	}
	return err
}

func dup(r *Reader) error {
	v, err := r.top()
	if err != nil {
		return err
	}
	return r.push(v)
}

// add counts a value of that many bytes and pushes it.
func (r *Reader) add(v Value, bytes int) error {
	if err := r.admit(bytes); err != nil {
		return err
	}
	return r.push(v)
}

func constant(v Value) func(*Reader) error {
	return func(r *Reader) error { return r.add(v, 0) }
}

func integer(size int) func(*Reader) error {
	return func(r *Reader) error {
		n, err := r.number(size)
		if err != nil {
			return err
		}
		if size == 4 {
			n = uint64(int32(n))
		}
		return r.add(Int(n), 8)
	}
}

// long reads an integer in two's complement. One of more than 64 bits has no Value but an Opaque.
func long(size int) func(*Reader) error {
	return func(r *Reader) error {
		b, err := r.sized(size)
		switch {
		case err != nil:
			return err
		case len(b) > 16:
			return fmt.Errorf("an integer of %d bytes", len(b))
		case len(b) > 8:
			return r.add(&Opaque{Global: "builtins.int"}, 64)
		}
		var wide [8]byte
		if len(b) > 0 && b[len(b)-1] >= 0x80 {
			wide = [8]byte(bytes.Repeat([]byte{0xff}, 8))
		}
		copy(wide[:], b)
		return r.add(Int(binary.LittleEndian.Uint64(wide[:])), 8)
	}
}

func float(r *Reader) error {
	b, err := r.take(8)
	if err != nil {
		return err
	}
	return r.add(Float(math.Float64frombits(binary.BigEndian.Uint64(b))), 8)
}

func text(size int) func(*Reader) error {
	return func(r *Reader) error {
		b, err := r.sized(size)
		if err == nil {
			err = r.admit(32 + len(b))
		}
		if err != nil {
			return err
		}
		return r.push(String(b))
	}
}

func raw(size int) func(*Reader) error {
	return func(r *Reader) error {
		b, err := r.sized(size)
		if err == nil {
			err = r.admit(32 + len(b))
		}
		if err != nil {
			return err
		}
		return r.push(Bytes(bytes.Clone(b)))
	}
}

func put(size int) func(*Reader) error {
	return func(r *Reader) error {
		n, err := r.number(size)
		if err != nil {
			return err
		}
		return r.remember(uint32(n))
	}
}

func memoize(r *Reader) error { return r.remember(uint32(len(r.memo) + len(r.sparse))) }

// maxSparse bounds the entries of the memo whose keys do not count up from 0.
const maxSparse = 1 << 16

// remember stores the top value. In what torch writes keys count up from 0; the others go to a map, because a list
// would be as long as the largest key.
func (r *Reader) remember(key uint32) error {
	v, err := r.top()
	if err != nil {
		return err
	}
	if int64(key) < int64(len(r.memo)) {
		r.memo[key] = v
		return nil
	}
	again := false
	if len(r.sparse) > 0 {
		_, again = r.sparse[key]
	}
	switch {
	case !again && len(r.memo)+len(r.sparse) >= r.limits.Memo:
		return fmt.Errorf("more than %d entries in the memo", r.limits.Memo)
	case int64(key) == int64(len(r.memo)):
		if r.memo, err = extend(r, r.memo, 1, valueSize); err == nil {
			r.memo = append(r.memo, v)
			delete(r.sparse, key)
		}
		return err
	case !again:
		if len(r.sparse) >= maxSparse {
			return fmt.Errorf("more than %d entries in the memo that do not count up", maxSparse)
		}
		if err := r.charge(192); err != nil { // of a map that doubles
			return err
		}
	}
	r.sparse[key] = v
	return nil
}

func get(size int) func(*Reader) error {
	return func(r *Reader) error {
		n, err := r.number(size)
		if err != nil {
			return err
		}
		if n < uint64(len(r.memo)) {
			return r.push(r.memo[n])
		}
		v, ok := r.sparse[uint32(n)]
		if !ok {
			return fmt.Errorf("the memo has no entry %d", n)
		}
		return r.push(v)
	}
}

// line reads a text that ends with a line feed.
func (r *Reader) line() (string, error) {
	n := bytes.IndexByte(r.data[r.at:min(len(r.data), r.at+4096)], '\n')
	if n < 0 {
		return "", errors.New("a name has no end")
	}
	b, err := r.take(n + 1)
	if err != nil {
		return "", err
	}
	return string(b[:n]), nil
}
