package weights

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Bounds of a msgpack file: maps within maps, values in total, arrays, bytes of a key, and of all names.
const (
	maxDepth  = 64
	maxValues = 1_000_000
	maxArrays = 20_000
	maxKey    = 1 << 10
	maxNames  = 16 << 20
)

// Types of extensions that Flax defines.
const (
	flaxArray  = 1
	flaxScalar = 3
)

var errMsgpack = errors.New("the msgpack is damaged or cut short. Fix: download the file again")

// msgpackFile is a file of Flax that is being scanned: one map of maps, with arrays as the leaves.
type msgpackFile struct {
	path     string
	file     io.ReaderAt
	at, size int64
	window   []byte // of the file, from start on
	start    int64
	values   int
	names    int
	list     []Info
}

// readMsgpack lists the arrays of a file by the keys on the way to them, joined by slashes.
func readMsgpack(path string, f io.ReaderAt, size int64) ([]Info, error) {
	m := &msgpackFile{path: path, file: f, size: size}
	n, kind, err := m.head()
	if err != nil {
		return nil, err
	}
	if kind != mapKind {
		return nil, errors.New("not a map of parameters, as Flax writes it. Fix: save the parameters with " +
			"flax.serialization.to_bytes")
	}
	if err := m.tree("", n, 1); err != nil {
		return nil, err
	}
	if m.at != size {
		return nil, errMsgpack
	}
	slices.SortFunc(m.list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(m.list); i++ {
		if m.list[i].Name == m.list[i-1].Name {
			return nil, fmt.Errorf("array %.100q occurs twice", m.list[i].Name)
		}
	}
	return m.list, nil
}

// take returns the next n bytes, n at most maxKey.
func (m *msgpackFile) take(n int64) ([]byte, error) {
	if n < 0 || n > maxKey || n > m.size-m.at {
		return nil, errMsgpack
	}
	if m.at < m.start || m.at+n > m.start+int64(len(m.window)) {
		if m.window == nil {
			m.window = make([]byte, 64<<10)
		}
		m.window, m.start = m.window[:min(int64(cap(m.window)), m.size-m.at)], m.at
		if _, err := m.file.ReadAt(m.window, m.at); err != nil {
			return nil, errMsgpack
		}
	}
	b := m.window[m.at-m.start:][:n]
	m.at += n
	return b, nil
}

// skip passes over n bytes.
func (m *msgpackFile) skip(n int64) error {
	if n > m.size-m.at {
		return errMsgpack
	}
	m.at += n
	return nil
}

// number reads a big-endian number of n bytes.
func (m *msgpackFile) number(n int64) (uint64, error) {
	b, err := m.take(n)
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v, err
}

// kind is what a value is; its head says how many bytes or elements follow.
type kind int

const (
	otherKind kind = iota // followed by n bytes that no parameter needs: nil, a bool or a float
	intKind               // n is its value
	textKind              // n bytes
	bytesKind             // n bytes
	listKind              // n values
	mapKind               // n keys and values
	extKind               // n bytes after the type
)

// head reads the first bytes of a value.
func (m *msgpackFile) head() (n int64, k kind, err error) {
	if m.values++; m.values > maxValues {
		return 0, 0, fmt.Errorf("more than %d values", maxValues)
	}
	first, err := m.number(1)
	if err != nil {
		return 0, 0, err
	}
	c := int64(first)
	switch {
	case c < 0x80:
		return c, intKind, nil
	case c < 0x90:
		return c & 0x0f, mapKind, nil
	case c < 0xa0:
		return c & 0x0f, listKind, nil
	case c < 0xc0:
		return c & 0x1f, textKind, nil
	case c >= 0xe0:
		return c - 256, intKind, nil
	case c >= 0xd4 && c <= 0xd8:
		return 1 << (c - 0xd4), extKind, nil
	}
	long, ok := longHeads[c]
	if !ok {
		return 0, 0, errMsgpack
	}
	if long.kind == otherKind {
		return long.size, otherKind, nil
	}
	v, err := m.number(long.size)
	if err == nil && v > math.MaxInt64 {
		err = errMsgpack
	}
	if shift := 64 - 8*long.size; c >= 0xd0 && c <= 0xd3 { // signed
		v = uint64(int64(v<<shift) >> shift)
	}
	return int64(v), long.kind, err
}

// longHeads are the heads whose number is in bytes of its own.
var longHeads = map[int64]struct {
	kind kind
	size int64
}{
	0xc0: {otherKind, 0}, 0xc2: {otherKind, 0}, 0xc3: {otherKind, 0}, 0xca: {otherKind, 4}, 0xcb: {otherKind, 8},
	0xc4: {bytesKind, 1}, 0xc5: {bytesKind, 2}, 0xc6: {bytesKind, 4},
	0xc7: {extKind, 1}, 0xc8: {extKind, 2}, 0xc9: {extKind, 4},
	0xcc: {intKind, 1}, 0xcd: {intKind, 2}, 0xce: {intKind, 4}, 0xcf: {intKind, 8},
	0xd0: {intKind, 1}, 0xd1: {intKind, 2}, 0xd2: {intKind, 4}, 0xd3: {intKind, 8},
	0xd9: {textKind, 1}, 0xda: {textKind, 2}, 0xdb: {textKind, 4},
	0xdc: {listKind, 2}, 0xdd: {listKind, 4}, 0xde: {mapKind, 2}, 0xdf: {mapKind, 4},
}

// key reads a key of a map.
func (m *msgpackFile) key() (string, error) {
	n, k, err := m.head()
	if err != nil {
		return "", err
	}
	if k == bytesKind {
		return "", errors.New("keys are bytes, not text: arrays of another package, which may contain pickles. Fix: " +
			"save the parameters with flax.serialization.to_bytes")
	}
	if k != textKind || n > maxKey {
		return "", errors.New("a key is not a text, or too long")
	}
	b, err := m.take(n)
	return string(b), err
}

// tree reads the n entries of a map; prefix is the names on the way to it.
func (m *msgpackFile) tree(prefix string, n int64, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("maps are nested more than %d deep", maxDepth)
	}
	foreign := 0
	for range n {
		key, err := m.key()
		if err != nil {
			return err
		}
		if key == "__msgpack_chunked_array__" {
			return m.chunked(strings.TrimSuffix(prefix, "/"), n)
		}
		if key == "nd" || key == "kind" {
			foreign++
		}
		if foreign == 2 {
			return errors.New("arrays of another package, which may contain pickles. Fix: save the parameters with " +
				"flax.serialization.to_bytes")
		}
		if m.names += len(prefix) + len(key); m.names > maxNames {
			return fmt.Errorf("names of more than %d bytes", maxNames)
		}
		if err := m.value(prefix+key, depth); err != nil {
			return err
		}
	}
	return nil
}

// value reads the value of a name: an array, a map, or what is left alone.
func (m *msgpackFile) value(name string, depth int) error {
	n, k, err := m.head()
	if err != nil {
		return err
	}
	switch k {
	case mapKind:
		return m.tree(name+"/", n, depth+1)
	case listKind:
		return fmt.Errorf("%.100q is a list, which Flax writes as a map", name)
	case intKind:
		return nil
	case extKind:
		info, found, err := m.extension(name, n)
		if err == nil && found {
			err = m.add(info)
		}
		return err
	}
	return m.skip(n)
}

func (m *msgpackFile) add(info Info) error {
	if len(m.list) >= maxArrays {
		return fmt.Errorf("more than %d arrays", maxArrays)
	}
	m.list = append(m.list, info)
	return nil
}
