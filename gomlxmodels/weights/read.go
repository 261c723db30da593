package weights

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
)

// File names of a model folder.
const (
	SingleFile = "model.safetensors"
	IndexFile  = "model.safetensors.index.json"
)

// maxHeader bounds the JSON header of a safetensors file, as the format's own library does.
const maxHeader = 100 << 20

// Info describes one tensor of a file.
type Info struct {
	Name  string
	DType string // as the file says it: F64, F32, F16, BF16, …
	Shape []int
	File  string // path of the file that holds it

	offset, bytes int64 // position and size of its data in the file
}

// Set is the tensors of a model folder. It keeps no file open.
type Set struct {
	dir     string
	files   []string
	tensors map[string]Info
}

// sizes is the number of bytes of one element by dtype.
var sizes = map[string]int64{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8,
	"U32": 4, "U16": 2, "U8": 1, "BOOL": 1}

// Open reads the headers of a model folder's weights: model.safetensors, or the shards that
// model.safetensors.index.json lists. Every error is one line and names the file.
func Open(dir string) (*Set, error) {
	single := filepath.Join(dir, SingleFile)
	if _, err := os.Stat(single); err == nil {
		return OpenFiles(single)
	}
	index := filepath.Join(dir, IndexFile)
	if _, err := os.Stat(index); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: holds neither %s nor %s", dir, SingleFile, IndexFile)
	}
	return OpenIndex(index)
}

// OpenIndex reads the headers of the shards that an index lists, as transformers and diffusers write it: weight_map,
// file by tensor. [Set.Files] has the index first.
func OpenIndex(index string) (*Set, error) {
	dir := filepath.Dir(index)
	raw, err := os.ReadFile(index)
	if err != nil {
		return nil, err
	}
	var list struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s: not readable as JSON: %v", index, err)
	}
	var paths []string
	for name, file := range list.WeightMap {
		if !filepath.IsLocal(file) || strings.ContainsAny(file, `/\`) {
			return nil, fmt.Errorf("%s: tensor %q is in %q, which is not a file of the folder", index, name, file)
		}
		if p := filepath.Join(dir, file); !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: weight_map lists no tensor", index)
	}
	sort.Strings(paths)
	s, err := OpenFiles(paths...)
	if err != nil {
		return nil, err
	}
	s.files = append([]string{index}, s.files...)
	for name, file := range list.WeightMap {
		if t, ok := s.tensors[name]; !ok || filepath.Base(t.File) != file {
			return nil, fmt.Errorf("%s: tensor %q is not in %s, as %s says", filepath.Join(dir, file), name, file,
				filepath.Base(index))
		}
	}
	return s, nil
}

// OpenFiles reads the headers of the given safetensors files as one set. A tensor that is in two of them is an error.
func OpenFiles(paths ...string) (*Set, error) {
	s := &Set{files: paths, tensors: map[string]Info{}}
	for _, p := range paths {
		s.dir = filepath.Dir(p)
		list, err := readHeader(p)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if other, twice := s.tensors[t.Name]; twice {
				return nil, fmt.Errorf("%s: tensor %q is also in %s", p, t.Name, filepath.Base(other.File))
			}
			s.tensors[t.Name] = t
		}
	}
	return s, nil
}

func readHeader(path string) ([]Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := stat.Size()
	if !stat.Mode().IsRegular() || size < 8 {
		return nil, fmt.Errorf("%s: not a safetensors file: %d bytes, too short for a header", path, size)
	}
	var length uint64
	if err := binary.Read(f, binary.LittleEndian, &length); err != nil {
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
		list = append(list, Info{Name: name, DType: t.DType, Shape: t.Shape, File: path, offset: start + t.Offsets[0],
			bytes: want})
	}
	return list, nil
}

// Dir is the folder of the files.
func (s *Set) Dir() string { return s.dir }

// Files lists the paths read: the index, where there is one, and the safetensors files.
func (s *Set) Files() []string { return slices.Clone(s.files) }

// Names lists the tensors, sorted.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.tensors))
	for n := range s.tensors {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Info describes a tensor; false where the set lacks it.
func (s *Set) Info(name string) (Info, bool) {
	t, ok := s.tensors[name]
	return t, ok
}

// Has says whether the set holds a tensor of that name.
func (s *Set) Has(name string) bool {
	_, ok := s.tensors[name]
	return ok
}

// Float32 reads a tensor of dtype F32, F16, BF16 or F64 as float32. NaN or infinite values are an error: no trained
// network holds one, and one would spread over every result.
func (s *Set) Float32(name string) ([]float32, error) {
	t, ok := s.tensors[name]
	if !ok {
		return nil, fmt.Errorf("%s: tensor %q is missing", s.dir, name)
	}
	switch t.DType {
	case "F32", "F16", "BF16", "F64":
	default:
		return nil, fmt.Errorf("%s: tensor %q: dtype %s, not a floating-point one (F32, F16, BF16, F64)", t.File, name,
			t.DType)
	}
	f, err := os.Open(t.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw := make([]byte, t.bytes)
	if len(raw) > 0 {
		if _, err := f.ReadAt(raw, t.offset); err != nil {
			return nil, fmt.Errorf("%s: tensor %q: %v", t.File, name, err)
		}
	}
	out := make([]float32, t.bytes/sizes[t.DType])
	for i := range out {
		switch t.DType {
		case "F32":
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		case "F16":
			out[i] = float16.FromBits(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
		case "BF16":
			out[i] = bfloat16.FromBits(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
		case "F64":
			out[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
		if v := out[i]; v-v != 0 {
			return nil, fmt.Errorf("%s: tensor %q: value %d is %v", t.File, name, i, v)
		}
	}
	return out, nil
}
