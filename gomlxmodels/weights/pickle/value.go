package pickle

// Value is one of None, Bool, Int, Float, String, Bytes, Tuple, *List, *Dict, *Storage, *Tensor and *Opaque. Lists and
// dictionaries may contain themselves.
type Value interface{ value() }

type (
	// None is Python's None.
	None struct{}
	// Bool is a truth value.
	Bool bool
	// Int is an integer of at most 64 bits; a longer one is an Opaque.
	Int int64
	// Float is a floating-point number.
	Float float64
	// String is a text, as its bytes are in the pickle.
	String string
	// Bytes is a bytes or bytearray object.
	Bytes []byte
	// Tuple is a tuple. Its elements are shared with other tuples.
	Tuple []Value
	// List is a list.
	List struct{ Items []Value }
	// Dict is a dictionary. Entries keep their order; a key may occur twice, and entries whose key is an Opaque, a
	// Tensor or a Storage are dropped.
	Dict struct{ Items []Item }
	// Item is an entry of a Dict.
	Item struct{ Key, Value Value }
)

// Storage is a section of the file that holds elements of one dtype.
type Storage struct {
	Key    string // its name in the file; of a view: the name of the storage that it is a view of
	DType  string // as safetensors names it (F32, BF16, …), or torch's name where it has none
	Item   int64  // bytes of an element
	Numel  int64  // elements in the section
	Offset int64  // the first element of a view, else 0
	Length int64  // elements of a view, else Numel
}

// Tensor is a tensor. Element i of shape and strides is at Offset + Σ i·Stride, in elements from the start of the
// section; all are in the storage, even within its view.
type Tensor struct {
	Storage *Storage
	DType   string // F32, BF16, …
	Item    int64  // bytes of an element
	Shape   []int
	Stride  []int
	Offset  int64
	// Unreadable says why the tensor has none of the above: it is sparse, quantized, complex or without data.
	Unreadable string
}

// Opaque is a value that is known by its class or function only: what is called, and what the call would return.
type Opaque struct {
	Global   string // module and name, such as argparse.Namespace
	callable bool   // it is the class or function itself
}

func (None) value()     {}
func (Bool) value()     {}
func (Int) value()      {}
func (Float) value()    {}
func (String) value()   {}
func (Bytes) value()    {}
func (Tuple) value()    {}
func (*List) value()    {}
func (*Dict) value()    {}
func (*Storage) value() {}
func (*Tensor) value()  {}
func (*Opaque) value()  {}

// Limits bounds what a pickle may use. A field that is 0 has its default.
type Limits struct {
	Data    int   // bytes of the pickle; 64 MiB
	Text    int   // bytes of one string or bytes object; 1 MiB
	Memo    int   // entries of the memo; 1,000,000
	Stack   int   // values on the stack; 1,000,000
	Marks   int   // marks on the stack; 10,000
	Tensors int   // tensors; 200,000
	Nodes   int   // values in total; 4,000,000
	Memory  int64 // bytes of all values and the memo together; 48 MiB and the bytes of the pickle
}

func (l Limits) filled(data int) Limits {
	for _, f := range []struct {
		at    *int
		value int
	}{{&l.Data, 64 << 20}, {&l.Text, 1 << 20}, {&l.Memo, 1_000_000}, {&l.Stack, 1_000_000}, {&l.Marks, 10_000},
		{&l.Tensors, 200_000}, {&l.Nodes, 4_000_000}} {
		if *f.at == 0 {
			*f.at = f.value
		}
	}
	if l.Memory == 0 {
		l.Memory = 48<<20 + int64(data)
	}
	return l
}
