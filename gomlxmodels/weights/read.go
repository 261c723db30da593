package weights

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
)

// Info describes one tensor of a file.
type Info struct {
	Name  string
	DType string // as the file says it: F64, F32, F16, BF16, …
	Shape []int
	File  string // path of the file that holds it

	data    section   // holds its storage
	chunks  []section // where there are several, which follow one another
	offset  int64     // bytes from the start of data to the first element
	bytes   int64     // bytes of its elements
	strides []int     // in elements; nil = data is its elements in order
	swapped bool      // numbers are big-endian

	unreadable string // why it cannot be read, for example that it is sparse
}

// Set is the tensors of a model folder. It keeps no file open.
type Set struct {
	dir     string
	files   []string
	tensors map[string]*Info
	step    int64

	inflated inflated
}

// Dir is the folder of the files.
func (s *Set) Dir() string { return s.dir }

// GlobalStep is the step of training at which a file of pytorch-lightning was saved; 0 where it says none.
func (s *Set) GlobalStep() int64 { return s.step }

// Files lists the paths read: the index, where there is one, and the files with the tensors.
func (s *Set) Files() []string { return slices.Clone(s.files) }

// Names lists the tensors, sorted.
func (s *Set) Names() []string {
	return slices.Sorted(maps.Keys(s.tensors))
}

// Info describes a tensor; false where the set lacks it.
func (s *Set) Info(name string) (Info, bool) {
	t, ok := s.tensors[name]
	if !ok {
		return Info{}, false
	}
	return *t, true
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
	return s.float32s(t)
}

// float32s reads a tensor, or a part of one.
func (s *Set) float32s(t *Info) ([]float32, error) {
	name := t.Name
	if t.unreadable != "" {
		return nil, fmt.Errorf("%s: tensor %q cannot be read: %s", t.File, name, t.unreadable)
	}
	switch t.DType {
	case "F32", "F16", "BF16", "F64":
	default:
		return nil, fmt.Errorf("%s: tensor %q: dtype %s, not a floating-point one (F32, F16, BF16, F64)", t.File, name,
			t.DType)
	}
	out := make([]float32, 0, t.bytes/sizes[t.DType])
	if err := s.read(t, func(raw []byte) { out = appendFloats(out, t.DType, raw) }); err != nil {
		return nil, err
	}
	for i, v := range out {
		if v-v != 0 {
			return nil, fmt.Errorf("%s: tensor %q: value %d is %v", t.File, name, i, v)
		}
	}
	return out, nil
}

// appendFloats converts elements of a floating-point dtype.
func appendFloats(out []float32, dtype string, raw []byte) []float32 {
	for item := int(sizes[dtype]); len(raw) > 0; raw = raw[item:] {
		var v float32
		switch dtype {
		case "F32":
			v = math.Float32frombits(binary.LittleEndian.Uint32(raw))
		case "F16":
			v = float16.FromBits(binary.LittleEndian.Uint16(raw)).Float32()
		case "BF16":
			v = bfloat16.FromBits(binary.LittleEndian.Uint16(raw)).Float32()
		case "F64":
			v = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		out = append(out, v)
	}
	return out
}
