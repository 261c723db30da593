package pickle

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// dtypes are torch's dtypes; a name that safetensors lacks is torch's own, and no tensor of it is readable.
var dtypes = map[string]struct {
	name string
	item int64
}{
	"float64": {"F64", 8}, "float32": {"F32", 4}, "float16": {"F16", 2}, "bfloat16": {"BF16", 2},
	"int64": {"I64", 8}, "int32": {"I32", 4}, "int16": {"I16", 2}, "int8": {"I8", 1},
	"uint64": {"U64", 8}, "uint32": {"U32", 4}, "uint16": {"U16", 2}, "uint8": {"U8", 1}, "bool": {"BOOL", 1},
	"float8_e4m3fn": {"F8_E4M3", 1}, "float8_e5m2": {"F8_E5M2", 1},
	"complex64": {"complex64", 8}, "complex128": {"complex128", 16},
	"qint8": {"qint8", 1}, "quint8": {"quint8", 1}, "qint32": {"qint32", 4}, "quint4x2": {"quint4x2", 1},
	"quint2x4": {"quint2x4", 1},
}

// storages are the dtypes of torch's classes of storages.
var storages = map[string]string{"DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16",
	"BFloat16Storage": "bfloat16", "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16",
	"CharStorage": "int8", "ByteStorage": "uint8", "BoolStorage": "bool", "UntypedStorage": "uint8",
	"ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128", "QInt8Storage": "qint8",
	"QUInt8Storage": "quint8", "QInt32Storage": "qint32", "QUInt4x2Storage": "quint4x2",
	"QUInt2x4Storage": "quint2x4"}

// storageType is the dtype of a class of storages.
func storageType(class string) (string, bool) {
	for _, module := range []string{"torch.cuda.", "torch.storage.", "torch."} {
		if name, ok := strings.CutPrefix(class, module); ok {
			dtype, ok := storages[name]
			return dtype, ok
		}
	}
	return "", false
}

// persistent reads what a pickle leaves to its file: ("storage", class, key, location, numel), in old files with a
// sixth element, None or (key, offset, numel) of a view. Every other is opaque.
func persistent(r *Reader) error {
	v, err := r.top()
	if err != nil {
		return err
	}
	id, ok := v.(Tuple)
	if !ok || len(id) == 0 {
		return fmt.Errorf("%s is not the name of a storage", kind(v))
	}
	if id[0] == String("module") && len(id) > 1 { // ("module", class, source file, source)
		if class, ok := id[1].(*Opaque); ok {
			return r.replace(class)
		}
	}
	if id[0] != String("storage") {
		if err := r.admit(headSize); err != nil {
			return err
		}
		return r.replace(&Opaque{Global: "a persistent object"})
	}
	s, err := newStorage(id)
	if err != nil {
		return err
	}
	if r.storages, err = extend(r, r.storages, 1, 8); err != nil {
		return err
	}
	if err := r.admit(2 * headSize); err != nil {
		return err
	}
	r.storages = append(r.storages, s)
	return r.replace(s)
}

func newStorage(id Tuple) (*Storage, error) {
	if len(id) != 5 && len(id) != 6 {
		return nil, fmt.Errorf("the name of a storage has %d parts", len(id))
	}
	class, ok1 := id[1].(*Opaque)
	key, ok2 := id[2].(String)
	numel, ok3 := id[4].(Int)
	if !ok1 || !ok2 || !ok3 {
		return nil, fmt.Errorf("a storage of %s, %s and %s", kind(id[1]), kind(id[2]), kind(id[4]))
	}
	name, ok := storageType(class.Global)
	if !ok || !class.callable {
		return nil, fmt.Errorf("%s is not a class of storages", kind(class))
	}
	dtype := dtypes[name]
	if numel < 0 || int64(numel) > math.MaxInt64/dtype.item {
		return nil, fmt.Errorf("storage %.40q has %d elements", string(key), numel)
	}
	s := &Storage{Key: string(key), DType: dtype.name, Item: dtype.item, Numel: int64(numel), Length: int64(numel)}
	if len(id) == 5 || id[5] == Value(None{}) {
		return s, nil
	}
	view, ok := id[5].(Tuple)
	if !ok || len(view) != 3 {
		return nil, fmt.Errorf("the view of storage %.40q is %s", s.Key, kind(id[5]))
	}
	from, ok1 := view[1].(Int)
	length, ok2 := view[2].(Int)
	if !ok1 || !ok2 || from < 0 || length < 0 || from > numel || length > numel-from {
		return nil, fmt.Errorf("a view of storage %.40q is not within its %d elements", s.Key, numel)
	}
	s.Offset, s.Length = int64(from), int64(length)
	return s, nil
}

// unreadable is a tensor without data.
func (r *Reader) unreadable(why string) (Value, error) {
	if err := r.countTensor(); err != nil {
		return nil, err
	}
	return &Tensor{Unreadable: why}, nil
}

func (r *Reader) countTensor() error {
	if r.tensors++; r.tensors > r.limits.Tensors {
		return fmt.Errorf("more than %d tensors", r.limits.Tensors)
	}
	return r.admit(192)
}

// tensor is (storage, offset, shape, stride, …), and with third, the dtype as the seventh.
func (r *Reader) tensor(args Tuple, third bool) (Value, error) {
	if len(args) < 4 || third && len(args) < 7 {
		return nil, fmt.Errorf("%d arguments", len(args))
	}
	s, ok := args[0].(*Storage)
	if !ok {
		return nil, fmt.Errorf("the storage is %s", kind(args[0]))
	}
	offset, ok := args[1].(Int)
	if !ok {
		return nil, fmt.Errorf("the offset is %s", kind(args[1]))
	}
	t := &Tensor{Storage: s, DType: s.DType, Item: s.Item, Offset: int64(offset)}
	if third {
		class, ok := args[6].(*Opaque)
		if !ok {
			return nil, fmt.Errorf("the dtype is %s", kind(args[6]))
		}
		name, _ := strings.CutPrefix(class.Global, "torch.")
		dtype, known := dtypes[name]
		if !known {
			return r.unreadable(fmt.Sprintf("its dtype is %.60s", class.Global))
		}
		t.DType, t.Item = dtype.name, dtype.item
	}
	if _, named := dtypes[t.DType]; named {
		return r.unreadable("its dtype is " + t.DType)
	}
	if err := r.countTensor(); err != nil {
		return nil, err
	}
	var err error
	if t.Shape, err = dims(args[2]); err != nil {
		return nil, fmt.Errorf("the shape: %w", err)
	}
	if t.Stride, err = dims(args[3]); err != nil {
		return nil, fmt.Errorf("the strides: %w", err)
	}
	return t, t.place()
}

// dims reads a shape or strides.
func dims(v Value) ([]int, error) {
	list, ok := v.(Tuple)
	if !ok {
		return nil, errors.New("it is " + kind(v))
	}
	if len(list) > 8 {
		return nil, fmt.Errorf("rank %d, more than 8", len(list))
	}
	out := make([]int, len(list))
	for i, v := range list {
		n, ok := v.(Int)
		switch {
		case !ok:
			return nil, fmt.Errorf("axis %d is %s", i, kind(v))
		case n < 0 || int64(n) > math.MaxInt:
			return nil, fmt.Errorf("axis %d is %d", i, n)
		}
		out[i] = int(n)
	}
	return out, nil
}

// place checks that the tensor is within its storage, and makes its offset one from the start of the section.
func (t *Tensor) place() error {
	if len(t.Shape) != len(t.Stride) {
		return fmt.Errorf("shape %v and strides %v", t.Shape, t.Stride)
	}
	s := t.Storage
	for _, d := range t.Shape {
		if d == 0 {
			t.Offset = 0
			return nil
		}
	}
	start, length := s.Offset*s.Item, s.Length*s.Item // bytes
	if start%t.Item != 0 {
		return fmt.Errorf("a view that starts at byte %d, of elements of %d bytes", start, t.Item)
	}
	length /= t.Item
	if t.Offset < 0 || t.Offset >= length {
		return fmt.Errorf("offset %d is not within the storage of %d elements", t.Offset, length)
	}
	last := t.Offset
	for i, d := range t.Shape {
		steps, stride := int64(d-1), int64(t.Stride[i])
		if stride > 0 && steps > (length-1-last)/stride {
			return fmt.Errorf("shape %v with strides %v from %d is not within the storage of %d elements", t.Shape,
				t.Stride, t.Offset, length)
		}
		last += steps * stride
	}
	t.Offset += start / t.Item
	return nil
}
