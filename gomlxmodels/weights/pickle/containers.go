package pickle

import (
	"errors"
	"fmt"
)

// Bytes of memory of a value in a list, of an entry of a dictionary, and of the list or dictionary itself.
const (
	valueSize = 16
	itemSize  = 2 * valueSize
	headSize  = 48
)

// tuple makes a tuple of the values above the mark.
func tuple(r *Reader) error {
	height, err := r.unmark()
	if err != nil {
		return err
	}
	return r.tuple(height)
}

func tupleOf(n int) func(*Reader) error {
	return func(r *Reader) error {
		if r.stack.n-n < r.bottom() {
			return errEmpty
		}
		return r.tuple(r.stack.n - n)
	}
}

func (r *Reader) tuple(height int) error {
	n := r.stack.n - height
	if err := r.admit(headSize + n*valueSize); err != nil {
		return err
	}
	t := Tuple(r.stack.from(height, make([]Value, 0, n)))
	r.stack.cut(height)
	return r.push(t)
}

func emptyList(r *Reader) error { return r.add(&List{}, headSize) }

func emptyDict(r *Reader) error { return r.add(&Dict{}, headSize) }

func appendOne(r *Reader) error { return r.items(r.stack.n-1, appendTo) }

func appendAll(r *Reader) error { return r.marked(appendTo) }

func setOne(r *Reader) error { return r.items(r.stack.n-2, setIn) }

func setAll(r *Reader) error { return r.marked(setIn) }

func addItems(r *Reader) error { return r.marked(addTo) }

// marked gives the values above the mark to the value below it.
func (r *Reader) marked(do func(*Reader, Value, int) error) error {
	height, err := r.unmark()
	if err != nil {
		return err
	}
	return r.items(height, do)
}

// items gives the values from a height on to the value below them, and drops them.
func (r *Reader) items(height int, do func(r *Reader, to Value, height int) error) error {
	if height-1 < r.bottom() {
		return errEmpty
	}
	if err := do(r, r.stack.at(height-1), height); err != nil {
		return err
	}
	r.stack.cut(height)
	return nil
}

func appendTo(r *Reader, to Value, height int) (err error) {
	switch to := to.(type) {
	case *Opaque:
		return nil
	case *List:
		if to.Items, err = extend(r, to.Items, r.stack.n-height, valueSize); err != nil {
			return err
		}
		for i := height; i < r.stack.n; i++ {
			to.Items = append(to.Items, r.stack.at(i))
		}
		return nil
	}
	return fmt.Errorf("appends to %s", kind(to))
}

func addTo(_ *Reader, to Value, _ int) error {
	if _, ok := to.(*Opaque); ok {
		return nil
	}
	return fmt.Errorf("adds to %s", kind(to))
}

func setIn(r *Reader, to Value, height int) (err error) {
	if (r.stack.n-height)%2 != 0 {
		return errors.New("a key has no value")
	}
	switch to := to.(type) {
	case *Opaque:
		return nil
	case *Dict:
		if to.Items, err = extend(r, to.Items, (r.stack.n-height)/2, itemSize); err != nil {
			return err
		}
		for i := height; i+1 < r.stack.n; i += 2 {
			if err := to.set(r.stack.at(i), r.stack.at(i+1)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("sets items of %s", kind(to))
}

// set adds an entry; there must be room for it.
func (d *Dict) set(key, value Value) error {
	switch key.(type) {
	case *List, *Dict:
		return fmt.Errorf("%s is a key", kind(key))
	case *Opaque, *Tensor, *Storage:
		return nil
	}
	d.Items = append(d.Items, Item{key, value})
	return nil
}

// Sets have no Value of their own: no state dict is one.
func emptySet(r *Reader) error { return r.add(&Opaque{Global: "builtins.set"}, headSize) }

func frozenSet(r *Reader) error {
	if err := dropMark(r); err != nil {
		return err
	}
	return r.add(&Opaque{Global: "builtins.frozenset"}, headSize)
}

// dict is what a call of a dictionary's class returns: an empty one, or that of a list of pairs. Otherwise nil.
func (r *Reader) dict(args Tuple) (Value, error) {
	if err := r.admit(headSize); err != nil {
		return nil, err
	}
	d := &Dict{}
	if len(args) == 0 {
		return d, nil
	}
	list, ok := args[0].(*List)
	if !ok || len(args) > 1 {
		return nil, nil
	}
	var err error
	if d.Items, err = extend(r, d.Items, len(list.Items), itemSize); err != nil {
		return nil, err
	}
	for _, v := range list.Items {
		var pair []Value
		switch v := v.(type) {
		case Tuple:
			pair = v
		case *List:
			pair = v.Items
		}
		if len(pair) != 2 {
			return nil, fmt.Errorf("a dictionary of %s, not of pairs", kind(v))
		}
		if err := d.set(pair[0], pair[1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// kind describes a value for an error.
func kind(v Value) string {
	switch v := v.(type) {
	case None:
		return "None"
	case Bool:
		return "a bool"
	case Int:
		return "an int"
	case Float:
		return "a float"
	case String:
		return "a string"
	case Bytes:
		return "bytes"
	case Tuple:
		return "a tuple"
	case *List:
		return "a list"
	case *Dict:
		return "a dict"
	case *Storage:
		return "a storage"
	case *Tensor:
		return "a tensor"
	case *Opaque:
		return fmt.Sprintf("%.100q", v.Global)
	}
	return "nothing"
}
