package weights

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// pieceSize is the bytes of a tensor that are read at once where its elements follow one another.
const pieceSize = 4 << 20

// read calls do with the elements of a tensor in order, little-endian, part by part.
func (s *Set) read(t *Info, do func(raw []byte)) error {
	if t.unreadable != "" {
		return fmt.Errorf("%s: tensor %q cannot be read: %s", t.File, t.Name, t.unreadable)
	}
	f, err := os.Open(t.File)
	if err != nil {
		return err
	}
	defer f.Close()
	step := t.bytes
	if t.inOrder() && !t.data.deflated {
		step = pieceSize
	}
	for done := int64(0); done < t.bytes; done += step {
		part := *t
		if part.bytes = min(step, t.bytes-done); part.bytes < t.bytes {
			part.offset, part.strides = t.offset+done, nil
		}
		raw, err := s.readFrom(f, &part)
		if err == io.EOF {
			err = errors.New("the file is cut short")
		}
		if err != nil {
			return fmt.Errorf("%s: tensor %q: %w", t.File, t.Name, err)
		}
		do(raw)
	}
	return nil
}

// readFrom returns the elements of a tensor of an open file.
func (s *Set) readFrom(f io.ReaderAt, t *Info) (out []byte, err error) {
	out = make([]byte, t.bytes)
	if t.bytes == 0 {
		return out, nil
	}
	var from io.ReaderAt = io.NewSectionReader(f, t.data.offset, t.data.length)
	if t.chunks != nil {
		from = joined{f, t.chunks}
	}
	if t.data.deflated {
		from = &inflater{&s.inflated, f, t}
	}
	item := sizes[t.DType]
	if t.inOrder() {
		_, err = from.ReadAt(out, t.offset)
	} else {
		err = gather(out, from, item, t.Shape, t.strides, t.offset)
	}
	if err != nil {
		return nil, err
	}
	if t.swapped {
		for i := int64(0); i < t.bytes; i += item {
			slices.Reverse(out[i : i+item])
		}
	}
	return out, nil
}

// inOrder says whether the elements follow one another in the storage.
func (t *Info) inOrder() bool {
	step := 1
	for i := len(t.strides) - 1; i >= 0; i-- {
		if t.Shape[i] != 1 && t.strides[i] != step {
			return false
		}
		step *= t.Shape[i]
	}
	return true
}

// gather reads the elements of a view, of item bytes each, in order. The first is at a byte offset, strides are in
// elements. It reads the range that they cover at once where that is not much larger, else part by part of the first
// axis: memory is bounded by the shape, not by strides.
func gather(out []byte, from io.ReaderAt, item int64, shape, strides []int, offset int64) error {
	cover := item
	for i, d := range shape {
		cover += int64(d-1) * int64(strides[i]) * item
	}
	if cover <= 4*int64(len(out))+64<<10 {
		b := make([]byte, cover)
		if _, err := from.ReadAt(b, offset); err != nil {
			return err
		}
		pick(out, b, item, shape, strides)
		return nil
	}
	part := len(out) / shape[0]
	for i := range shape[0] {
		at := offset + int64(i)*int64(strides[0])*item
		if err := gather(out[i*part:(i+1)*part], from, item, shape[1:], strides[1:], at); err != nil {
			return err
		}
	}
	return nil
}

// pick copies the elements of a view in order.
func pick(out, from []byte, item int64, shape, strides []int) {
	switch len(shape) {
	case 0:
		copy(out, from[:item])
		return
	case 1:
		pickMatrix(out, from, int(item), 1, shape[0], 0, strides[0])
		return
	case 2:
		pickMatrix(out, from, int(item), shape[0], shape[1], strides[0], strides[1])
		return
	}
	part := len(out) / shape[0]
	for i := range shape[0] {
		pick(out[i*part:(i+1)*part], from[int64(i)*int64(strides[0])*item:], item, shape[1:], strides[1:])
	}
}

// pickMatrix is pick of two axes, in tiles, so that a column's elements come from a cache line that is still there.
func pickMatrix(out, from []byte, item, rows, columns, down, right int) {
	const tile = 32
	for top := 0; top < rows; top += tile {
		for left := 0; left < columns; left += tile {
			for r := top; r < min(top+tile, rows); r++ {
				for c := left; c < min(left+tile, columns); c++ {
					to, at := (r*columns+c)*item, (r*down+c*right)*item
					if item == 4 {
						binary.LittleEndian.PutUint32(out[to:], binary.LittleEndian.Uint32(from[at:]))
					} else {
						copy(out[to:to+item], from[at:at+item])
					}
				}
			}
		}
	}
}

// inflated is the last storage that was inflated. Tensors that share one follow one another.
type inflated struct {
	sync.Mutex
	file string
	at   section
	data []byte
}

// maxInflated is the size of the largest storage that is inflated as a whole.
const maxInflated = 64 << 20

// inflater reads the deflated storage of a tensor.
type inflater struct {
	last   *inflated
	file   io.ReaderAt
	tensor *Info
}

func (i *inflater) ReadAt(b []byte, at int64) (int, error) {
	i.last.Lock()
	defer i.last.Unlock()
	t := i.tensor
	if t.data.length > maxInflated {
		if int64(len(b)) != t.bytes {
			return 0, fmt.Errorf("a view of a compressed storage of more than %d bytes. Fix: save the file with "+
				"torch.save", maxInflated)
		}
		data, err := t.data.read(i.file, at, int64(len(b)))
		return copy(b, data), err
	}
	if i.last.file != t.File || i.last.at != t.data {
		data, err := t.data.read(i.file, 0, t.data.length)
		if err != nil {
			return 0, err
		}
		i.last.file, i.last.at, i.last.data = t.File, t.data, data
	}
	return copy(b, i.last.data[at:]), nil
}
