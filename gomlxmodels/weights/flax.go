package weights

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// flaxDTypes are the dtypes of arrays as numpy names them.
var flaxDTypes = map[string]string{"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
	"int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16",
	"uint8": "U8", "bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}

// extension reads an extension of n bytes: an array or a scalar is a list of shape, name of the dtype, and bytes.
func (m *msgpackFile) extension(name string, n int64) (info Info, found bool, err error) {
	kind, err := m.number(1)
	if err != nil {
		return info, false, err
	}
	if kind != flaxArray && kind != flaxScalar {
		return info, false, m.skip(n)
	}
	end := m.at + n
	if end > m.size {
		return info, false, errMsgpack
	}
	if err := m.want(listKind, 3); err != nil {
		return info, false, err
	}
	shape, err := m.shape()
	if err != nil {
		return info, false, fmt.Errorf("array %.100q: %w", name, err)
	}
	length, k, err := m.head()
	if err != nil || k != textKind {
		return info, false, errMsgpack
	}
	dtype, err := m.take(length)
	if err != nil {
		return info, false, err
	}
	info = Info{Name: name, File: m.path, Shape: shape, DType: flaxDTypes[string(dtype)]}
	if info.DType == "" {
		info.unreadable = fmt.Sprintf("its dtype is %.40s", dtype)
	}
	length, k, err = m.head()
	if err != nil || k != bytesKind || length != end-m.at {
		return info, false, errMsgpack
	}
	info.data = section{offset: m.at, length: length}
	if info.bytes, err = bytesOf(shape, max(1, sizes[info.DType])); err != nil {
		return info, false, fmt.Errorf("array %.100q: %w", name, err)
	}
	if info.unreadable == "" && info.bytes != length {
		return info, false, fmt.Errorf("array %.100q: %d bytes do not fit %s%v. Fix: download the file again", name,
			length, info.DType, shape)
	}
	return info, true, m.skip(length)
}

// want reads the head of a value and wants it to be of a kind, and of n elements or bytes.
func (m *msgpackFile) want(k kind, n int64) error {
	if has, is, err := m.head(); err != nil || is != k || has != n {
		return errMsgpack
	}
	return nil
}

// shape reads a list of dimensions.
func (m *msgpackFile) shape() ([]int, error) {
	n, k, err := m.head()
	if err != nil || k != listKind || n > 8 {
		return nil, errors.New("impossible shape")
	}
	shape := make([]int, n)
	for i := range shape {
		d, k, err := m.head()
		if err != nil || k != intKind || d < 0 || d > math.MaxInt {
			return nil, errors.New("impossible shape")
		}
		shape[i] = int(d)
	}
	return shape, nil
}

// bytesOf is the size of an array of elements of item bytes.
func bytesOf(shape []int, item int64) (int64, error) {
	if slices.Contains(shape, 0) {
		return 0, nil
	}
	for _, d := range shape {
		if item > math.MaxInt64/int64(d) {
			return 0, fmt.Errorf("impossible shape %v", shape)
		}
		item *= int64(d)
	}
	return item, nil
}

// chunked reads an array of more than 2³⁰ bytes, whose first key of n was read: the mark, the shape, and flat arrays,
// both as maps from "0" on.
func (m *msgpackFile) chunked(name string, n int64) error {
	if _, k, err := m.head(); err != nil || k != otherKind || n != 3 {
		return errMsgpack
	}
	whole := Info{Name: name, File: m.path}
	for _, part := range []string{"shape", "chunks"} {
		key, err := m.key()
		if err != nil || key != part {
			return errMsgpack
		}
		entries, k, err := m.head()
		if err != nil || k != mapKind || part == "shape" && entries > 8 {
			return errMsgpack
		}
		for i := range entries {
			if key, err := m.key(); err != nil || key != strconv.FormatInt(i, 10) {
				return errMsgpack
			}
			if part == "chunks" {
				err = m.chunk(&whole)
			} else {
				err = m.dim(&whole)
			}
			if err != nil {
				return fmt.Errorf("array %.100q: %w", name, err)
			}
		}
	}
	bytes, err := bytesOf(whole.Shape, max(1, sizes[whole.DType]))
	if err != nil || bytes != whole.bytes || len(whole.chunks) == 0 {
		return fmt.Errorf("array %.100q: %d bytes do not fit %s%v. Fix: download the file again", name, whole.bytes,
			whole.DType, whole.Shape)
	}
	whole.data = whole.chunks[0]
	return m.add(whole)
}

// dim reads a dimension of a chunked array.
func (m *msgpackFile) dim(whole *Info) error {
	d, k, err := m.head()
	if err != nil || k != intKind || d < 0 || d > math.MaxInt {
		return errMsgpack
	}
	whole.Shape = append(whole.Shape, int(d))
	return nil
}

// chunk reads a part of a chunked array.
func (m *msgpackFile) chunk(whole *Info) error {
	n, k, err := m.head()
	if err != nil || k != extKind {
		return errMsgpack
	}
	part, found, err := m.extension("", n)
	if err != nil {
		return err
	}
	if !found || part.unreadable != "" || whole.DType != "" && part.DType != whole.DType {
		return errMsgpack
	}
	whole.DType, whole.bytes = part.DType, whole.bytes+part.bytes
	whole.chunks = append(whole.chunks, part.data)
	return nil
}

// joined is sections of a file, one after the other.
type joined struct {
	file io.ReaderAt
	list []section
}

func (j joined) ReadAt(b []byte, at int64) (n int, err error) {
	for _, s := range j.list {
		if at >= s.length {
			at -= s.length
			continue
		}
		part := min(int64(len(b)-n), s.length-at)
		if part == 0 {
			break
		}
		if _, err := j.file.ReadAt(b[n:n+int(part)], s.offset+at); err != nil {
			return n, err
		}
		n, at = n+int(part), 0
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
