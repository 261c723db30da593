package weights

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// maxHeader bounds the JSON header of a safetensors file, as the format's own library does.
const maxHeader = 100 << 20

// sizes is the number of bytes of one element by dtype.
var sizes = map[string]int64{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8,
	"U32": 4, "U16": 2, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1}

// readHeader lists the tensors of a safetensors file of size bytes.
func readHeader(path string, f io.ReaderAt, size int64) ([]Info, error) {
	if size < 8 {
		return nil, fmt.Errorf("%s: not a safetensors file: %d bytes, too short for a header", path, size)
	}
	length, err := littleEndian(f, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	if length > maxHeader || int64(length) > size-8 {
		return nil, fmt.Errorf("%s: not a safetensors file, or cut short: the header would take %d bytes of %d", path,
			length, size-8)
	}
	header := make([]byte, length)
	if _, err := f.ReadAt(header, 8); err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("%s: the safetensors header is not JSON: %v", path, err)
	}
	delete(entries, "__metadata__")
	start := 8 + int64(length)
	list := make([]Info, 0, len(entries))
	for name, entry := range entries {
		var t struct {
			DType   string   `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(entry, &t); err != nil {
			return nil, fmt.Errorf("%s: tensor %q: bad header entry: %v", path, name, err)
		}
		element, known := sizes[t.DType]
		if !known {
			return nil, fmt.Errorf("%s: tensor %q: dtype %q is not known", path, name, t.DType)
		}
		want := element
		for _, d := range t.Shape {
			if d < 0 || (d > 0 && want > math.MaxInt64/int64(d)) {
				return nil, fmt.Errorf("%s: tensor %q: impossible shape %v", path, name, t.Shape)
			}
			want *= int64(d)
		}
		if t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || t.Offsets[1]-t.Offsets[0] != want {
			return nil, fmt.Errorf("%s: tensor %q: data offsets %v do not fit %s%v (%d bytes)", path, name, t.Offsets,
				t.DType, t.Shape, want)
		}
		if t.Offsets[1] > size-start {
			return nil, fmt.Errorf("%s: tensor %q ends at byte %d, the file at %d: the file is cut short", path, name,
				start+t.Offsets[1], size)
		}
		list = append(list, Info{Name: name, DType: t.DType, Shape: t.Shape, File: path, bytes: want,
			data: section{offset: start + t.Offsets[0], length: want}})
	}
	return list, nil
}
