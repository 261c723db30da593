package weights

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
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
	entries, err := headerEntries(header)
	if err != nil {
		return nil, fmt.Errorf("%s: the safetensors header %w", path, err)
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
	return list, checkCover(path, list, start, size)
}

// headerEntries returns the entries of a header by name; a name that occurs twice is an error.
func headerEntries(header []byte) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(header, &all); err != nil {
		return nil, fmt.Errorf("is not JSON: %v", err)
	}
	d := json.NewDecoder(bytes.NewReader(header))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if text := fmt.Sprint(name); seen[text] {
			return nil, fmt.Errorf("names the tensor %q twice; save the checkpoint again", text)
		}
		seen[fmt.Sprint(name)] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// checkCover refuses tensors that overlap, and bytes of the data that belong to none.
func checkCover(path string, list []Info, start, size int64) error {
	slices.SortFunc(list, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.data.offset, b.data.offset), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.Name,
			b.Name))
	})
	at, before := start, ""
	for _, t := range list {
		switch {
		case t.data.offset < at:
			return fmt.Errorf("%s: the tensors %q and %q overlap; the file is damaged, or not what it seems", path,
				before,
				t.Name)
		case t.data.offset > at:
			return fmt.Errorf("%s: %d bytes before the tensor %q belong to no tensor; the file is damaged", path,
				t.data.offset-at, t.Name)
		}
		at, before = t.data.offset+t.bytes, t.Name
	}
	if at < size {
		return fmt.Errorf("%s: %d bytes after the last tensor belong to none; the file is damaged", path, size-at)
	}
	return nil
}
