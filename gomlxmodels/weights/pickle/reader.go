package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Parse reads one pickle, which must take all of data. Errors are one line and name the opcode and its position.
func Parse(data []byte, limits Limits) (Value, error) {
	r := NewReader(data, limits)
	v, err := r.Next()
	if err == nil && r.Offset() < len(data) {
		return nil, fmt.Errorf("pickle: %d bytes follow its end", len(data)-r.Offset())
	}
	return v, err
}

// Reader reads pickles that follow one another. The limits hold for all of them together.
type Reader struct {
	data     []byte
	at       int
	limits   Limits
	nodes    int
	tensors  int
	memory   int64
	storages []*Storage

	stack stack
	marks []int // heights of the stack
	// The memo: entries 0, 1, 2, …, and the others.
	memo   []Value
	sparse map[uint32]Value
}

// NewReader reads from data, with limits.
func NewReader(data []byte, limits Limits) *Reader {
	return &Reader{data: data, limits: limits.filled(len(data))}
}

// Offset is the number of bytes read.
func (r *Reader) Offset() int { return r.at }

// Storages lists the storages that the pickles named, one for each time.
func (r *Reader) Storages() []*Storage { return r.storages }

// errStop ends a pickle.
var errStop = errors.New("stop")

// Next reads a pickle.
func (r *Reader) Next() (Value, error) {
	if len(r.data) > r.limits.Data {
		return nil, fmt.Errorf("pickle: %d bytes, more than %d", len(r.data), r.limits.Data)
	}
	r.stack, r.marks, r.memo, r.sparse = stack{}, nil, nil, map[uint32]Value{}
	for {
		at := r.at
		b, err := r.take(1)
		if err != nil {
			return nil, fmt.Errorf("pickle: byte %d: %w", at, err)
		}
		op := &opcodes[b[0]]
		switch {
		case op.name == "":
			return nil, fmt.Errorf("pickle: opcode %#02x at byte %d is not one", b[0], at)
		case op.do == nil:
			return nil, fmt.Errorf("pickle: opcode %#02x (%s) at byte %d is not read", b[0], op.name, at)
		}
		var v Value
		if err = op.do(r); err == errStop {
			if v, err = r.pop(); err == nil {
				return v, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("pickle: opcode %#02x (%s) at byte %d: %w", b[0], op.name, at, err)
		}
	}
}

var (
	errEnd   = errors.New("the pickle is cut short")
	errEmpty = errors.New("the stack has too few values")
	errMark  = errors.New("no mark is on the stack")
)

func (r *Reader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.data)-r.at {
		return nil, errEnd
	}
	b := r.data[r.at : r.at+n]
	r.at += n
	return b, nil
}

// number reads a little-endian number of n bytes, n at most 8.
func (r *Reader) number(n int) (uint64, error) {
	b, err := r.take(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:]), nil
}

// sized reads a length of n bytes, and as many bytes as it says.
func (r *Reader) sized(n int) ([]byte, error) {
	length, err := r.number(n)
	switch {
	case err != nil:
		return nil, err
	case length > uint64(len(r.data)-r.at):
		return nil, fmt.Errorf("%d bytes, of which %d remain", length, len(r.data)-r.at)
	case length > uint64(r.limits.Text):
		return nil, fmt.Errorf("%d bytes, more than %d", length, r.limits.Text)
	}
	return r.take(int(length))
}

// charge counts memory before it is allocated.
func (r *Reader) charge(bytes int) error {
	if r.memory += int64(bytes); r.memory > r.limits.Memory {
		return fmt.Errorf("values take more than %d bytes of memory", r.limits.Memory)
	}
	return nil
}

// admit counts a value of that many bytes, before it is allocated.
func (r *Reader) admit(bytes int) error {
	if r.nodes++; r.nodes > r.limits.Nodes {
		return fmt.Errorf("more than %d values", r.limits.Nodes)
	}
	return r.charge(bytes)
}

// extend makes room for n more elements of so many bytes, counted.
func extend[T any](r *Reader, list []T, n, bytes int) ([]T, error) {
	if len(list)+n <= cap(list) {
		return list, nil
	}
	room := max(2*cap(list), len(list)+n)
	if err := r.charge(room * bytes); err != nil {
		return nil, err
	}
	return append(make([]T, 0, room), list...), nil
}

// push puts a value on the stack.
func (r *Reader) push(v Value) error {
	if r.stack.n >= r.limits.Stack {
		return fmt.Errorf("more than %d values on the stack", r.limits.Stack)
	}
	if r.stack.full() {
		if err := r.charge(block * valueSize); err != nil {
			return err
		}
	}
	r.stack.push(v)
	return nil
}

// bottom is the height below which values belong to a mark.
func (r *Reader) bottom() int {
	if len(r.marks) == 0 {
		return 0
	}
	return r.marks[len(r.marks)-1]
}

// pop removes the top value.
func (r *Reader) pop() (Value, error) {
	if r.stack.n <= r.bottom() {
		return nil, errEmpty
	}
	return r.stack.pop(), nil
}

// top returns the top value, which remains.
func (r *Reader) top() (Value, error) {
	if r.stack.n <= r.bottom() {
		return nil, errEmpty
	}
	return r.stack.at(r.stack.n - 1), nil
}

// replace pushes v in place of the top value.
func (r *Reader) replace(v Value) error {
	if _, err := r.pop(); err != nil {
		return err
	}
	return r.push(v)
}

// unmark removes the last mark and returns its height: the values above it are the caller's to drop.
func (r *Reader) unmark() (int, error) {
	if len(r.marks) == 0 {
		return 0, errMark
	}
	height := r.bottom()
	r.marks = r.marks[:len(r.marks)-1]
	return height, nil
}

// stack is the values of the machine, in blocks, so that it never grows by copying.
type stack struct {
	blocks [][]Value
	n      int
}

const block = 1024

func (s *stack) full() bool { return s.n == len(s.blocks)*block }

func (s *stack) push(v Value) {
	if s.full() {
		s.blocks = append(s.blocks, make([]Value, block))
	}
	s.blocks[s.n/block][s.n%block] = v
	s.n++
}

func (s *stack) at(i int) Value { return s.blocks[i/block][i%block] }

func (s *stack) pop() Value {
	s.n--
	v := s.at(s.n)
	s.blocks[s.n/block][s.n%block] = nil
	return v
}

// cut drops all values from a height on.
func (s *stack) cut(height int) {
	for s.n > height {
		s.pop()
	}
}

// from appends all values from a height on to a list.
func (s *stack) from(height int, list []Value) []Value {
	for i := height; i < s.n; i++ {
		list = append(list, s.at(i))
	}
	return slices.Clip(list)
}
